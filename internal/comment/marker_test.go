package comment_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/markdown/markdowntest"
)

// marks draws marks that a marker can say.
func marks() *rapid.Generator[comment.Marker] {
	return rapid.Custom(func(t *rapid.T) comment.Marker {
		start := rapid.IntRange(0, 1<<20).Draw(t, "start")
		id := rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}`)
		return comment.Marker{
			Kind: comment.Finding, Thread: id.Draw(t, "thread"), Review: id.Draw(t, "review"),
			Head:        rapid.StringMatching(`(?:[0-9a-f]{40})?`).Draw(t, "head"),
			Fingerprint: rapid.StringMatching(`[0-9a-f]{32}`).Draw(t, "fingerprint"),
			Finding:     rapid.StringMatching(`[0-9a-hjkmnp-tv-z]{10}`).Draw(t, "finding"),
			Category:    rapid.SampledFrom(precedent.Categories).Draw(t, "category"),
			Severity:    rapid.SampledFrom(precedent.Severities).Draw(t, "severity"),
			Confidence:  rapid.IntRange(0, 100).Draw(t, "confidence"), Title: rapid.StringN(-1, 90, 360).Draw(t, "title"),
			Start: start, End: start + min(start, rapid.IntRange(0, 1<<10).Draw(t, "more")),
		}
	})
}

func findingOf(m comment.Marker, words string) precedent.Finding {
	return precedent.Finding{
		ID: m.Finding, Fingerprint: m.Fingerprint, Category: m.Category, Severity: m.Severity, Confidence: m.Confidence,
		Title: m.Title, Body: words, Suggestion: words, Finder: words,
		Span: precedent.Span{Path: words, Side: precedent.Right, Start: m.Start, End: m.End},
	}
}

// writers are one with a key and the same without.
func writers(t testing.TB) []comment.Writer {
	signed, open := writer(t), writer(t)
	open.Key = comment.Key{}
	return []comment.Writer{signed, open}
}

func TestReadIsTheInverseOfWriting(t *testing.T) {
	all := writers(t)
	rapid.Check(t, func(t *rapid.T) {
		m := marks().Draw(t, "mark")
		words := markdowntest.Wild().Draw(t, "words")
		for _, w := range all {
			body := w.Finding(findingOf(m, words), m, rapid.Bool().Draw(t, "committable"))
			got, ok := w.Read(body)
			if d := cmp.Diff(m, got); d != "" || !ok {
				t.Fatalf("read back, %v (-want +got):\n%s\nof\n%s", ok, d, body)
			}
			// Forges change line ends and what is at the end.
			if again, ok := w.Read(strings.ReplaceAll(body, "\n", "\r\n") + " \r\n\t\n"); !ok || again != got {
				t.Fatalf("with other line ends it is read as %+v, %v", again, ok)
			}
			if again, ok := w.Read("What is said before does not matter.\n\n" + body); !ok || again != got {
				t.Fatalf("behind other text it is read as %+v, %v", again, ok)
			}
			markdowntest.Inert(t, unmarked(t, body))
		}
	})
}

func TestASignatureHoldsForOnePlaceAndAllOfTheMark(t *testing.T) {
	w := writer(t)
	body := w.Finding(finding(), mark(), true)
	elsewhere := []comment.Writer{w, w, w, w}
	elsewhere[0].PullRequest.Number = 8
	elsewhere[1].PullRequest.Repo.Name = "other"
	elsewhere[2].PullRequest.Repo = precedent.Repo{Host: "forge.example", Owner: "TeamApp"}
	var err error
	if elsewhere[3].Key, err = comment.NewKey(strings.Repeat("another key", 3)); err != nil {
		t.Fatal(err)
	}
	for i, other := range elsewhere {
		if m, ok := other.Read(body); ok {
			t.Errorf("writer %d takes it for its own: %+v", i, m)
		}
	}
	w.PullRequest.Repo.Owner = "team" // the same to every forge
	if _, ok := w.Read(body); !ok {
		t.Error("the case of the owner matters")
	}
	at := strings.LastIndex(body, "<!--")
	for i := at; i < len(strings.TrimSpace(body)); i++ {
		for _, c := range []byte{'0', 'f', 'Z', ' ', '='} {
			if body[i] == c {
				continue
			}
			changed := body[:i] + string(c) + body[i+1:]
			if m, ok := w.Read(changed); ok {
				t.Fatalf("with %q for %q in %q it is read as %+v", c, body[i], body[at:], m)
			}
		}
	}
	unsigned := w
	unsigned.Key = comment.Key{}
	if _, ok := w.Read(unsigned.Finding(finding(), mark(), true)); ok {
		t.Error("a marker without a signature passes for a signed one")
	}
	if m, ok := unsigned.Read(body); !ok || m.Finding != finding().ID {
		t.Error("without a key, a signed marker is not read")
	}
}

// TestASignatureFollowsTheNumber: it holds under another name of the repository, not for
// another repository of the same name.
func TestASignatureFollowsTheNumber(t *testing.T) {
	w := writer(t)
	byName := w.Finding(finding(), mark(), true)
	w.PullRequest.RepoID = "7"
	byNumber := w.Finding(finding(), mark(), true)
	renamed, other := w, w
	renamed.PullRequest.Repo.Name = "Store"
	other.PullRequest.RepoID = "8"
	for _, test := range []struct {
		what string
		by   comment.Writer
		body string
		want bool
	}{
		{"its own", w, byNumber, true},
		{"from before the number was signed", w, byName, true},
		{"of the former name", renamed, byNumber, true},
		{"of another number", other, byNumber, false},
		{"of another name, by name", renamed, byName, false},
	} {
		if _, ok := test.by.Read(test.body); ok != test.want {
			t.Errorf("%s: %v, want %v", test.what, ok, test.want)
		}
	}
}

// TestAMarkerCountsAtTheEndAlone puts a marker of ours where others can put it.
func TestAMarkerCountsAtTheEndAlone(t *testing.T) {
	w := writer(t)
	body := w.Reply("words", mark())
	_, marker, _ := cutLast(strings.TrimSpace(body))
	fields := func(more string) string { return written(`{"kind":"reply","thread":"a"` + more + `}`) }
	if _, ok := (comment.Writer{}).Read(fields("")); !ok {
		t.Error("a marker without any of these is not read")
	}
	for name, s := range map[string]string{
		"none": "words", "empty": "", "followed": body + "more", "quoted": "> " + strings.ReplaceAll(strings.TrimSpace(body),
			"\n", "\n> "),
		"in a list": "- words\n\n  " + marker, "in a fence": "```\n" + marker + "\n```",
		"in an open fence": "~~~\n\n" + marker, "in a quoted fence": "> ```\n> " + marker,
		"as code": "words\n\n    " + marker, "as a span": "`" + marker + "`", "within a line": "words " + marker,
		"twice in a line": marker + " " + marker,
		"escaped":         `\` + marker, "in a comment": "<!--\n" + marker, "in details": "<details>\n" + marker,
		"in a script": "<script>\n" + marker, "in CDATA": "<![CDATA[\n" + marker,
		"another version":                    strings.Replace(marker, "precedent:1", "precedent:2", 1),
		"with a line end":                    strings.Replace(marker, "precedent:1 ", "precedent:1\n", 1),
		"an end of the comment":              strings.Replace(marker, " -->", " --> <b> <!-- -->", 1),
		"no JSON":                            written("kind=reply"),
		"fields in another order":            written(`{"thread":"a","kind":"reply"}`),
		"no kind":                            written(`{"thread":"a"}`),
		"no thread":                          written(`{"kind":"reply"}`),
		"an id of other signs":               fields(`,"review":"a-->"`),
		"unknown field":                      fields(`,"more":1`),
		"unknown category":                   fields(`,"category":"joke"`),
		"too sure":                           fields(`,"confidence":101`),
		"a title of other bytes":             fields(`,"title":"` + "\xff" + `"`),
		"a title of any length":              fields(`,"title":"` + strings.Repeat("a", 401) + `"`),
		"a range that ends before it begins": fields(`,"start":3,"end":2`),
		"a line of a huge file":              fields(`,"start":3,"end":9999999999`),
		"many tries":                         fields(`,"tries":100`),
		"spent on no day":                    fields(`,"spent":{"day":"today","microdollars":1}`),
		"twice":                              fields(`,"thread":"b"`),
	} {
		for _, w := range []comment.Writer{w, {PullRequest: w.PullRequest}} {
			if m, ok := w.Read(s); ok {
				t.Errorf("%s: %q is read as %+v", name, s, m)
			}
		}
	}
}

// written is the line of a marker with these fields.
func written(fields string) string {
	return "<!-- precedent:1 " + base64.RawStdEncoding.EncodeToString([]byte(fields)) + " -->"
}

// altered replaces words in the fields of a comment's marker, and leaves its signature as it is.
func altered(body, old, to string) string {
	words := strings.Split(body, " ")
	fields := &words[len(words)-3]
	data, _ := base64.RawStdEncoding.DecodeString(*fields)
	*fields = base64.RawStdEncoding.EncodeToString([]byte(strings.Replace(string(data), old, to, 1)))
	return strings.Join(words, " ")
}

// TestWhatAMarkerCannotSayIsLeftOut: nothing in a mark breaks out of its marker.
func TestWhatAMarkerCannotSayIsLeftOut(t *testing.T) {
	w := writer(t)
	f := finding()
	f.ID, f.Category, f.Severity, f.Confidence = "x --> <img src=y>", "joke", "dire", 400
	f.Title = strings.Repeat("é --> ", 200) + "\xff"
	m := mark()
	m.Review, m.Head = "a b", "@team"
	m.Start, m.End = 7, 9 // the finding's count
	body := w.Finding(f, m, false)
	got, ok := w.Read(body)
	want := comment.Marker{
		Kind: comment.Finding, Thread: thread, Fingerprint: f.Fingerprint, Confidence: 100,
		Title: strings.ToValidUTF8(f.Title[:400], ""), Start: 42, End: 42,
	}
	if d := cmp.Diff(want, got); d != "" || !ok {
		t.Errorf("%v (-want +got):\n%s", ok, d)
	}
	markdowntest.Inert(t, unmarked(t, body))
}

// TestQuotedCode: a comment quotes three lines, and no credential.
func TestQuotedCode(t *testing.T) {
	w, f, key := writer(t), finding(), "AKIA"+"QYLPMN5HFIQR7XYA"
	w.FixedLines = true
	f.Quote, f.End = "one\nkey = \""+key+"\"\nthree\nfour", f.Start+4
	if body := w.Finding(f, mark(), true); strings.Contains(body, key) || !strings.Contains(body, "│ three\n```") {
		t.Error(body)
	}
}

func FuzzRead(f *testing.F) {
	w := writer(f)
	f.Add(w.Finding(finding(), mark(), true))
	f.Add(w.Reply("words", mark()))
	f.Add(written(`{"kind":"reply","thread":"a"}`))
	f.Add(w.Note(comment.Note{Lead: "Words."}, checksMark()))
	f.Add(written(`{"kind":"giveup","thread":"a","answers":"giveup.b","tries":3}`))
	for i, s := range markdowntest.Naughty(f) {
		if i%8 == 0 {
			f.Add(s)
		}
	}
	open := w
	open.Key = comment.Key{}
	f.Fuzz(func(t *testing.T, s string) {
		if m, ok := open.Read(s); ok { // what is read could have been written
			same, _ := open.WithRun(s, m.Run)
			_, line, _ := cutLast("\n" + strings.TrimRight(s, " \t\r\n"))
			_, again, _ := cutLast("\n" + strings.TrimSpace(same))
			if !strings.HasPrefix(line, strings.TrimSuffix(again, "-->")) {
				t.Fatalf("%q is read as %+v", s, m)
			}
		}
		body := w.Reply(s, mark())
		if m, ok := w.Read(body); !ok || m.Kind != comment.Reply || m.Thread != thread || m.Review != review {
			t.Fatalf("read back as %+v, %v:\n%s", m, ok, body)
		}
		markdowntest.Inert(t, unmarked(t, body))
	})
}
