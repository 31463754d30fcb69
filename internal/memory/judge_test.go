package memory

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
)

// TestSuppressJudged: the judge decides about claims that are alike and about the
// same place; where it is silent, only what is surely the same counts.
func TestSuppressJudged(t *testing.T) {
	now := start.AddDate(0, 0, 30)
	at := func(path, line, title string) precedent.Finding {
		return in(find(path, line, precedent.Bugs, precedent.Medium, title), "Load")
	}
	declined := at("io/a.go", "defer g.Close()", "Error of the deferred Close call is ignored")
	everywhere := dismiss(declined, "j1", "never flag this in this repository", 1)
	alike := at("net/b.go", "defer c.Close()", "The deferred Close call may fail and its error is lost")
	alike.Symbol = "Dial"
	same := at("io/a.go", "defer h.Close()", declined.Title)
	other := at("net/b.go", "x := y / z", "Division by zero for an empty list")
	protected := alike
	protected.Category = precedent.DataLoss
	for _, test := range []struct {
		name    string
		finding precedent.Finding
		answer  map[int]bool
		asked   int
		dropped precedent.Dropped
	}{
		{"covered", alike, map[int]bool{0: true}, 1, precedent.Rejected},
		{"not covered", alike, map[int]bool{0: false}, 1, ""},
		{"silent about what is alike", alike, nil, 1, ""},
		{"silent about what is surely the same", same, nil, 1, precedent.Rejected},
		{"surely the same, but the judge says no", same, map[int]bool{0: false}, 1, ""},
		{"nothing alike", other, map[int]bool{0: true}, 0, ""},
		{"covered, but protected", protected, map[int]bool{0: true}, 1, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			asked := 0
			got := Suppress([]precedent.Finding{test.finding}, []precedent.Dismissal{everywhere}, now, 75, func(q []Question) map[int]bool {
				asked = len(q)
				return test.answer
			})[0]
			if got.Dropped != test.dropped || asked != test.asked {
				t.Errorf("dropped %q after %d questions, trail %v", got.Dropped, asked, got.Trail)
			}
		})
	}
}

// TestSuppressAsksTheLikeliest: of many candidates the most similar ones are asked
// about, and never about what was dropped or dismissed by name.
func TestSuppressAsksTheLikeliest(t *testing.T) {
	now := start.Add(time.Hour)
	var findings []precedent.Finding
	for i := range 60 {
		title := "Error of the deferred Close call is ignored"
		if i < 30 {
			title = fmt.Sprintf("The deferred Close call may fail in case %d and its error is lost", i)
		}
		findings = append(findings, find(fmt.Sprintf("p%d.go", i), "defer f.Close()", precedent.Bugs, precedent.Low, title))
	}
	findings[59].Drop("verify", precedent.Refuted, "", "no")
	all := dismiss(find("z.go", "defer z.Close()", precedent.Bugs, precedent.Low, "Error of the deferred Close call is ignored"), "j1", "never flag this in this repo", 0)
	byName := dismiss(findings[58], "j2", "no", 0)
	exact := 0
	Suppress(findings, []precedent.Dismissal{all, byName}, now, 75, func(q []Question) map[int]bool {
		for _, one := range q {
			if one.Finding.Title == all.Claim {
				exact++
			}
			if one.Finding.Path == "p58.go" || one.Finding.Path == "p59.go" {
				t.Errorf("asked about %s", one.Finding.Path)
			}
		}
		if d := cmp.Diff(maxQuestions, len(q)); d != "" {
			t.Errorf("questions (-want +got):\n%s", d)
		}
		return nil
	})
	if exact != 28 {
		t.Errorf("asked about %d of the 28 that are most similar", exact)
	}
}
