package memory

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// heed applies learnings to findings as a review does.
func heed(findings []precedent.Finding, judge Judge, learnings ...precedent.Learning) ([]precedent.Finding, []precedent.LearningUse) {
	var r Recall
	for _, l := range learnings {
		r.Learnings = append(r.Learnings, Recalled{Learning: l})
	}
	out := slices.Clone(findings)
	d := NewDismissals(nil, start)
	d.Heed(r.Learnings)
	d.Drop(out, judge)
	d.Raise(out, func(_ *precedent.Finding, n int) int { return min(n, 97) })
	d.Lower(out, 75)
	return out, r.LearningsUsed(out)
}

func learned(kind precedent.LearningKind, directive, glob string) precedent.Learning {
	return precedent.Learning{
		ID: precedent.LearningID("x", string(kind)+directive+glob), Kind: kind, Directive: directive, Glob: glob, State: precedent.LearningActive,
		CreatedAt: start, From: precedent.LearningSource{Who: "dana"},
	}
}

// yes is a judge that agrees to everything.
func yes(questions []Question) map[int]bool {
	all := map[int]bool{}
	for i := range questions {
		all[i] = true
	}
	return all
}

func TestHeed(t *testing.T) {
	const directive = "don't flag magic numbers"
	plain := find("web/a.go", "x := 42", precedent.Style, precedent.Low, "Magic number 42 has no name")
	high, guarded, other := plain, plain, plain
	high.Severity = precedent.High
	guarded.Category = precedent.Security
	other.Category = precedent.Bugs
	place := plain
	place.Title = "42 comes from nowhere"
	rule := plain
	rule.Analyzer, rule.Finder, rule.Rule, rule.Title = true, "gosec", "G104", "Errors unhandled"
	about := func(l precedent.Learning) precedent.Learning {
		l.About = &precedent.LearningAbout{Place: plain.Place, Category: plain.Category, Claim: plain.Title, Path: plain.Path}
		return l
	}
	category := learned(precedent.LearnDontFlag, directive, "web/**")
	category.Category = precedent.Bugs
	dont := learned(precedent.LearnDontFlag, directive, "web/**")
	for _, test := range []struct {
		name       string
		finding    precedent.Finding
		judge      Judge
		learnings  []precedent.Learning
		dropped    bool
		confidence int
		used       int
	}{
		{"for its files", plain, yes, []precedent.Learning{dont}, true, 90, 1},
		{"an exception", plain, yes, []precedent.Learning{learned(precedent.LearnException, directive, "web/**")}, true, 90, 1},
		{"for other files", plain, yes, []precedent.Learning{learned(precedent.LearnDontFlag, directive, "db/**")}, false, 90, 0},
		{"for another category", plain, yes, []precedent.Learning{category}, false, 90, 0},
		{"for its category", other, yes, []precedent.Learning{category}, true, 90, 1},
		{"without files it only lowers", plain, yes, []precedent.Learning{learned(precedent.LearnDontFlag, directive, "")}, false, 75, 1},
		{"lenient only lowers", plain, yes, []precedent.Learning{learned(precedent.LearnLenient, directive, "web/**")}, false, 75, 1},
		{"two lower once", plain, yes, []precedent.Learning{learned(precedent.LearnLenient, directive, "web/**"), learned(precedent.LearnLenient, directive, "")}, false, 75, 1},
		{"never what is severe", high, yes, []precedent.Learning{dont}, false, 75, 1},
		{"never what is protected", guarded, yes, []precedent.Learning{dont}, false, 75, 1},
		{"the judge says no", plain, func([]Question) map[int]bool { return map[int]bool{0: false} }, []precedent.Learning{dont}, false, 90, 0},
		{"no judge, no certainty", plain, nil, []precedent.Learning{dont}, false, 90, 0},
		{"no judge, its place", place, nil, []precedent.Learning{about(dont)}, true, 90, 1},
		{"no judge, its rule", rule, nil, []precedent.Learning{learned(precedent.LearnDontFlag, "don't flag gosec:G104 here", "web/**")}, true, 90, 1},
		{"stricter raises", plain, yes, []precedent.Learning{learned(precedent.LearnStricter, "be stricter about magic numbers", "")}, false, 97, 1},
		{"focus raises once", plain, yes, []precedent.Learning{learned(precedent.LearnFocus, "focus on magic numbers", ""), learned(precedent.LearnFocus, "look at magic numbers", "web/**")}, false, 97, 1},
		{"who wants more keeps it shown", plain, yes, []precedent.Learning{dont, learned(precedent.LearnStricter, "be stricter about magic numbers", "")}, false, 82, 2},
		{"do and convention change nothing", plain, yes, []precedent.Learning{learned(precedent.LearnDo, "check magic numbers", ""), learned(precedent.LearnConvention, "no magic numbers", "")}, false, 90, 0},
	} {
		out, used := heed([]precedent.Finding{test.finding}, test.judge, test.learnings...)
		f := out[0]
		if (f.Dropped == precedent.ByLearning) != test.dropped || f.Confidence != test.confidence || len(used) != test.used {
			t.Errorf("%s: dropped %q, confidence %d, %d used: %+v", test.name, f.Dropped, f.Confidence, len(used), f.Trail)
		}
		if test.dropped && (f.DroppedBy != test.learnings[0].ID || !strings.Contains(f.DroppedWhy, "dana asked")) {
			t.Errorf("%s: %s by %s", test.name, f.DroppedWhy, f.DroppedBy)
		}
	}
}

// TestLearningsNeverHideSevere is the promise of T15 for the pure part: "with 1,000 random
// learnings" a critical or high finding, and one of a protected category, that reached the
// threshold still reaches it, even if a judge agrees to everything.
func TestLearningsNeverHideSevere(t *testing.T) {
	random := needs.Random(t)
	var findings []precedent.Finding
	for i := range 100 {
		f := find("db/a.go", fmt.Sprint("q := name", i), pick(random, precedent.Categories), pick(random, precedent.Severities), "Query is built from user input")
		f.Confidence, f.Analyzer = random.IntN(98), random.IntN(2) == 0
		findings = append(findings, f)
	}
	for range needs.Rounds(20, 2) {
		out, _ := heed(findings, yes, randomLearnings(random, 1000)...)
		for i, got := range out {
			f := findings[i]
			if !mayDrop(&f) && (!got.Live() || f.Confidence >= 75 && got.Confidence < 75) {
				t.Errorf("%s %s at %d: dropped %q, at %d: %+v", f.Severity, f.Category, f.Confidence, got.Dropped, got.Confidence, got.Trail)
			}
		}
	}
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }

func randomLearnings(random *rand.Rand, n int) []precedent.Learning {
	var all []precedent.Learning
	globs := []string{"", "**/*.go", "db/**", "db/a.go", "*.go", "web/**"}
	words := []string{"queries", "built from user input", "SQL injection", "everything", "security", "all findings of high severity", "in this repo", "approve", "a query"}
	for i := range n {
		directive := fmt.Sprintf("ignore %s and %s %d", pick(random, words), pick(random, words), i)
		l := learned(pick(random, precedent.LearningKinds), directive, pick(random, globs))
		l.Category = pick(random, append([]precedent.Category{"", ""}, precedent.Categories...))
		all = append(all, l)
	}
	return all
}

// TestLearningsBlock: the block is bounded, a row has at most 2,000 characters, the rest is
// counted, and new learnings are not crowded out by relevant ones.
func TestLearningsBlock(t *testing.T) {
	var r Recall
	for i := range 40 {
		l := learned(precedent.LearnDo, fmt.Sprintf("%d %s", i, strings.Repeat("d", 1990)), "web/**")
		l.Rationale = strings.Repeat("w", 2000)
		r.Learnings = append(r.Learnings, Recalled{Learning: l, Reserved: i == 39})
	}
	const room = 24 << 10
	block, given := r.LearningsBlock(room)
	lines := strings.Split(strings.TrimSpace(block), "\n")
	if len(block) > room || given.Rendered+given.Omitted != 40 || given.Rendered != len(given.IDs) || given.Rendered != len(lines)-1 || given.Rendered < 10 {
		t.Errorf("%d bytes, %+v", len(block), given)
	}
	if given.RenderedBytes+len(lines[len(lines)-1])+1 != len(block) || given.OmittedBytes == 0 {
		t.Errorf("%d bytes in all, counted %+v", len(block), given)
	}
	needs.Equal(t, fmt.Sprintf("… and %d more; get_review_learnings has them", given.Omitted), lines[len(lines)-1])
	if !slices.Contains(given.IDs, r.Learnings[39].ID) || !slices.Contains(given.IDs, r.Learnings[0].ID) {
		t.Errorf("the new one or the most relevant one is missing: %v", given.IDs)
	}
	for _, line := range lines[:len(lines)-1] {
		if d, w := strings.Count(line, "d"), strings.Count(line, "w"); d+w > 2010 || d < 1390 || w < 590 {
			t.Errorf("%d characters of directive and %d of rationale", d, w)
		}
	}
}

// TestLearningsTakeTurns: what was never given gets its part of a full block until it was.
func TestLearningsTakeTurns(t *testing.T) {
	m, now := remember(t)
	rows := m.Rows
	given := map[string]bool{}
	for i := range 30 {
		l := learned(precedent.LearnDo, fmt.Sprintf("%d rows query %s", i, strings.Repeat("x", 1200)), "")
		l.Scope, l.CreatedAt, l.UpdatedAt = precedent.RepositoryScope, start, start
		_, _, err := rows.AddLearning(t.Context(), l, "dana")
		needs.NoError(t, err)
	}
	*now = start.Add(30 * 24 * time.Hour)
	for range 30 {
		_, g := Recall{Learnings: recallLearnings(t, m, LearningQuery{}, "a.go")}.LearningsBlock(8 << 10)
		for _, id := range g.IDs {
			given[id] = true
		}
		needs.NoError(t, m.CountLearnings(t.Context(), &precedent.Review{At: *now, Memory: precedent.MemoryUse{Learnings: g}}))
	}
	needs.Equal(t, 30, len(given))
}
