package review

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
)

// TestRedactFlood: of a finding about many lines, each line's secret is redacted in it and in what others say. So are
// the values that an analyzer names, each line of a long one too, which are not kept.
func TestRedactFlood(t *testing.T) {
	f := precedent.Finding{
		Analyzer: true, Finder: "secrets", Category: precedent.Secrets, Rule: "aws-access-token",
		Span:    precedent.Span{Path: "a.go", Side: precedent.Right, Start: 1, End: 1},
		Secrets: []string{"plain-looking-value", "first-line-of-a-key\nsecond-line-of-a-key"},
	}
	keys := []string{"plain-looking-value", "second-line-of-a-key"}
	for _, letter := range "ABCDE" {
		key := "AKIA" + "Z7VRSQ5T" + string(letter) + "K2LMQF6"
		keys = append(keys, key)
		f.Evidence = append(f.Evidence, precedent.Evidence{Path: "a.go", Line: len(keys), Quote: `k := "` + key + `"`})
	}
	f.Evidence = append(f.Evidence, precedent.Evidence{Path: "a.go", Line: 9, Quote: "looks harmless"})
	f.Quote = f.Evidence[0].Quote
	all := []precedent.Finding{f, {Title: "x", Body: "See " + strings.Join(keys, " and ")}}
	src := newSources(&diff.Change{}, func(precedent.Side, string) ([]byte, error) { return nil, fs.ErrNotExist })
	newRedactor(all, src).redactFindings(all)
	if all[0].Secrets != nil {
		t.Errorf("kept: %q", all[0].Secrets)
	}
	for _, s := range []string{
		all[0].Quote, all[0].Evidence[0].Quote, all[0].Evidence[4].Quote, all[0].Evidence[5].Quote,
		all[1].Body,
	} {
		if !strings.Contains(s, "[REDACTED") || strings.Contains(s, "harmless") ||
			slices.ContainsFunc(keys, func(key string) bool { return strings.Contains(s, key) }) {
			t.Errorf("not redacted: %q", s)
		}
	}
}

// TestRedactByPath keeps the promise of the threat model that secrets in a diff are redacted before they are sent or
// posted (T29), where only the file's name tells that they are some, and where a model repeats them in its own words.
func TestRedactByPath(t *testing.T) {
	password, data, setting := "kq7Zt2"+"-vRw9Lm4x", "cTdadDIt"+"dlJ3OUxtNHg=", "hunter"+"2hunter"
	former := "wX3tP8" + "-nBd5Kq2z" // in the base only, under the file's old name
	files := map[string]string{
		"ops/main.tf":     "resource \"a\" \"b\" {\n  administrator_login_password = \"" + password + "\"\n}\n",
		"ops/secret.yaml": "apiVersion: v1\nkind: Secret\ndata:\n  pg: " + data + "\n",
		"nuget.config": "<packageSourceCredentials><a><add key=\"ClearTextPassword\" value=\"" + password +
			"\" /></a></packageSourceCredentials>\n",
		".env": "GREETING=" + setting + "\n",
	}
	change := &diff.Change{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		change.Files = append(change.Files, added(name, strings.Split(strings.TrimSuffix(files[name], "\n"), "\n")...))
	}
	none := func(what, s string) {
		t.Helper()
		for _, value := range []string{password, data, setting, former} {
			if strings.Contains(s, value) {
				t.Errorf("%s has %s: %s", what, value, s)
			}
		}
	}
	for i := range change.Files {
		f := &change.Files[i]
		for _, l := range redactedHunk(f.Path, &f.Hunks[0]).Lines {
			none("the hunk of "+f.Path, l.Text)
		}
	}
	read := func(_ precedent.Side, name string) ([]byte, error) {
		if s, ok := files[name]; ok {
			return []byte(s), nil
		}
		return nil, fs.ErrNotExist
	}
	all := []precedent.Finding{{
		Span: precedent.Span{Path: "app/main.go", Side: precedent.Right, Start: 1, End: 1}, Category: precedent.Security,
		Title: "The password " + password + " is committed", Body: "Everybody can read " + password + " and " + data +
			" and " + setting + ".",
		Suggestion: "use(" + password + ")", Breaks: precedent.Evidence{
			Path: "nuget.config", Line: 1,
			Quote: files["nuget.config"],
		},
	}}
	for name, text := range files {
		for i, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			all[0].Evidence = append(all[0].Evidence, precedent.Evidence{Path: name, Line: i + 1, Quote: l})
		}
	}
	change.Files = append(change.Files, diff.File{Path: "new.tf", OldPath: "old.tf", Status: diff.Renamed})
	files["old.tf"] = strings.Replace(files["ops/main.tf"], password, former, 1)
	all[0].Evidence = append(all[0].Evidence, precedent.Evidence{Path: "new.tf", Side: precedent.Left, Line: 1})
	all[0].Body += " It was " + former + "."
	b := newRedactor(all, newSources(change, read))
	b.redactFindings(all)
	f := all[0]
	for what, s := range map[string]string{
		"the title": f.Title, "the body": f.Body, "the suggestion": f.Suggestion,
		"the broken place": f.Breaks.Quote,
	} {
		none(what, s)
	}
	for _, e := range f.Evidence {
		none("the evidence in "+e.Path, e.Quote)
	}
	r := &precedent.Review{
		Positive: "It rotates " + password + ".",
		Failures: []precedent.Failure{{Error: "no such user: " + password}},
	}
	b.redactReview(r)
	none("the review", r.Positive+r.Failures[0].Error)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		in := &Input{Change: change, Read: read, Threads: []precedent.Thread{{Span: precedent.Span{
			Path: name, Start: 1,
			End: 9,
		}, Quote: files[name]}}}
		none("a thread in "+name, in.openThreads(newSources(change, read))[0].remark.Quote)
	}
}
