package secret

import (
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/secret/secrettest"

	"github.com/google/go-cmp/cmp"
)

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
