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
