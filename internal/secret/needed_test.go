package secret

import (
	"math/rand"
	"os"
	"path/filepath"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/secret/secrettest"

	"github.com/google/go-cmp/cmp"
)

// TestNeededIsInEveryMatch: no rule needs what one of its matches does not have.
func TestNeededIsInEveryMatch(t *testing.T) {
	set := rules(t)
	rnd := rand.New(rand.NewSource(1))
	checked := 0
	for i := range set.rules {
		r := &set.rules[i]
		if r.pattern == nil {
			continue
		}
		p := r.pattern()
		if p.needs.isNothing() {
			continue
		}
		for range 40 {
			s := sample(rnd, p.String())
			text := "x " + s + "\ny"
			if !p.MatchString(text) {
				continue
			}
			checked++
			if !p.needs.in(text, lowered(text)) {
				t.Fatalf("%s matches %q, which does not have what it needs", r.id, text)
			}
		}
	}
	if checked < 1_000 {
		t.Errorf("only %d matches were checked", checked)
	}
}

func TestNeeded(t *testing.T) {
	for pattern, texts := range map[string]struct{ yes, no string }{
		`(?i)kind:.*data:`:                       {"x KIND: DATA:", "kind: date"},
		`ey[a-z0-9]{17,}\.ey[a-z]{17}`:           {"ey0123456789abcdefg.eyabcdefghijklmnopqr", "eyabcdefghijklmnopqrstuvw"},
		`(?:ab[a-f]{9}|xyz)`:                     {"xyz", "ab abcdef"},
		`(?:abc)?[a-f]{8}`:                       {"00abcdefab", "abcabc-abc"},
		`\b(?:hvs\.[\w-]{90}|s\.[a-z0-9]{24})\b`: {"s.abcdefghijklmnopqrstuvwx", "is. abcdefghijklmnopqrstuvw"},
	} {
		re := needs.Value(syntax.Parse(pattern, syntax.Perl))(t)
		n := neededBy(re)
		if !n.in(texts.yes, lowered(texts.yes)) || n.in(texts.no, lowered(texts.no)) {
			t.Errorf("%s: %+v", pattern, n)
		}
	}
	if !foldsToASCII("\u212ay") || foldsToASCII("ké") {
		t.Error("folding")
	}
}

// TestSameWithoutShortcuts: what a scan leaves out because it cannot match changes no result, in texts with
// credentials of every form, the same without their line feeds, mutated ones, and the files of this package.
func TestSameWithoutShortcuts(t *testing.T) {
	rnd := rand.New(rand.NewSource(2))
	var texts []string
	for _, l := range secrettest.Table(corpusForms) {
		text, _ := secrettest.Plant(rnd, l[1])
		texts = append(texts, text, strings.ReplaceAll(text, "\n", " "), strings.ToUpper(text))
		b := []byte(text)
		for range 1 + len(b)/10 {
			b[rnd.Intn(len(b))] = "=: \"'\nxK0-."[rnd.Intn(11)]
		}
		texts = append(texts, string(b))
	}
	files := needs.Value(filepath.Glob("*.go"))(t)
	for _, f := range files {
		data := needs.Value(os.ReadFile(f))(t)
		texts = append(texts, string(data))
	}
	found, checked := 0, 0
	for i, text := range texts {
		if i%needs.Rounds(1, 3) != 0 {
			continue
		}
		checked++
		lines := strings.Split(text, "\n")
		var quick Scanner
		thorough := Scanner{thorough: true}
		got, err := quick.Outgoing("", lines)
		want, err2 := thorough.Outgoing("", lines)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		found += len(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text[:min(len(text), 200)], diff)
		}
		both, leaving, err := new(Scanner).Both("a.yaml", lines)
		scanned, err2 := new(Scanner).Scan("a.yaml", lines)
		outgoing, err3 := new(Scanner).Outgoing("a.yaml", lines)
		if err != nil || err2 != nil || err3 != nil || !slices.Equal(both, scanned) || !slices.Equal(leaving, outgoing) {
			t.Errorf("both at once, %q: %v, %v, %v\n%s%s", text[:min(len(text), 200)], err, err2, err3, cmp.Diff(scanned, both), cmp.Diff(outgoing, leaving))
		}
		got, err = quick.Scan("a.yaml", lines)
		want, err2 = thorough.Scan("a.yaml", lines)
		if err != nil || err2 != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text[:min(len(text), 200)], got, want)
		}
	}
	if found < checked/4 {
		t.Errorf("only %d credentials were found in %d texts", found, checked)
	}
}
