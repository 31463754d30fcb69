package review

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
)

// TestRedactFlood: of a finding about many lines, each line's secret is redacted in it
// and in what others say.
func TestRedactFlood(t *testing.T) {
	f := precedent.Finding{
		Analyzer: true, Finder: "secrets", Category: precedent.Secrets, Rule: "aws-access-token",
		Span: precedent.Span{Path: "a.go", Side: precedent.Right, Start: 1, End: 1},
	}
	var keys []string
	for _, letter := range "ABCDE" {
		key := "AKIA" + "Z7VRSQ5T" + string(letter) + "K2LMQF6"
		keys = append(keys, key)
		f.Evidence = append(f.Evidence, precedent.Evidence{Path: "a.go", Line: len(keys), Quote: `k := "` + key + `"`})
	}
	f.Evidence = append(f.Evidence, precedent.Evidence{Path: "a.go", Line: 9, Quote: "looks harmless"})
	f.Quote = f.Evidence[0].Quote
	said := precedent.Finding{Title: "x", Body: "See " + strings.Join(keys, " and ")}
	all := []precedent.Finding{f, said}
	src := newSources(&diff.Change{}, func(precedent.Side, string) ([]byte, error) { return nil, fs.ErrNotExist })
	newRedactor(all, src).redactFindings(all)
	for _, s := range []string{all[0].Quote, all[0].Evidence[0].Quote, all[0].Evidence[4].Quote, all[0].Evidence[5].Quote, all[1].Body} {
		if !strings.Contains(s, "[REDACTED") || strings.Contains(s, "AKIA") || strings.Contains(s, "harmless") {
			t.Errorf("not redacted: %q", s)
		}
	}
}

// TestRedactKnownSecrets: the values that an analyzer names are redacted wherever they
// occur, each line of a long one too, and are not kept.
func TestRedactKnownSecrets(t *testing.T) {
	block := "first-line-of-a-key\nsecond-line-of-a-key"
	all := []precedent.Finding{
		{Analyzer: true, Category: precedent.Secrets, Rule: "private-key", Secrets: []string{"plain-looking-value", block}},
		{Title: "x", Body: "plain-looking-value, second-line-of-a-key"},
	}
	src := newSources(&diff.Change{}, func(precedent.Side, string) ([]byte, error) { return nil, fs.ErrNotExist })
	newRedactor(all, src).redactFindings(all)
	if want := "[REDACTED:private-key], [REDACTED:private-key]"; all[1].Body != want || all[0].Secrets != nil {
		t.Errorf("got %q, want %q; secrets %q", all[1].Body, want, all[0].Secrets)
	}
}
