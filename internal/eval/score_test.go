package eval

import (
	"errors"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
)

// at is a candidate in a.py.
func at(from, to int, c precedent.Category, title string) Candidate {
	return Candidate{Finding: precedent.Finding{
		Fingerprint: title, Title: title, Category: c, Severity: precedent.Low,
		Confidence: 90, Span: precedent.Span{Path: "a.py", Side: precedent.Right, Start: from, End: to},
	}}
}

// TestOneToOne: of two candidates about one gold remark one is right, and the nearest take each other.
func TestOneToOne(t *testing.T) {
	c := &dataSet(t, `{"gold": [
		{"path": "a.py", "from_line": 2, "to_line": 2, "category": "Code Defect"},
		{"path": "a.py", "from_line": 4, "to_line": 4, "category": "Code Defect"},
		{"path": "a.py", "side": "left", "from_line": 1, "to_line": 1},
		{"path": "a.py", "from_line": 0, "to_line": 0}],
		"negative": [{"path": "a.py", "from_line": 2, "to_line": 2}]}`)[0]
	cs := &Candidates{Findings: []Candidate{
		at(1, 1, precedent.Bugs, "near"), at(2, 2, precedent.Bugs, "exact"),
		at(3, 3, precedent.Style, "between"), at(0, 0, precedent.Tests, "whole file"), at(9, 9, precedent.Bugs, "far"),
	}}
	s := &scored{Case: c, cs: cs, counts: []int{0, 1, 2, 3, 4}}
	got := s.byLocation(1)
	if diff := cmp.Diff([]int{-1, 0, 1, 3, -1}, got.gold); diff != "" {
		t.Errorf("gold (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, -1, -1, -1, -1}, got.negative); diff != "" {
		t.Errorf("negative (-want +got):\n%s", diff)
	}
	s.near = got
	r := score([]scored{*s}, func(s *scored) *matched { return &s.near }, 1)
	type counted struct{ Candidates, Hits, Gold, Found int }
	rows := map[string]counted{"all": {r.Total.Candidates, r.Total.Hits, r.Total.Gold, r.Total.Found}}
	for _, row := range r.Categories {
		rows[row.Category] = counted{row.Candidates, row.Hits, row.Gold, row.Found}
	}
	want := map[string]counted{"all": {5, 3, 4, 3}, "defects": {3, 1, 2, 2}, "maintainability": {2, 2, 0, 0}, "other": {0, 0, 2, 1}}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if r.Rejected != 1 {
		t.Errorf("%d candidates where a remark was rejected, want 1", r.Rejected)
	}
}

// TestUnfinishedReviewsMiss: they are named, with the reason, and their gold remarks count as missed.
func TestUnfinishedReviewsMiss(t *testing.T) {
	for _, test := range []struct {
		name   string
		line   Candidates
		scored int
		want   string // part of the reason
		poor   bool
	}{
		{"clean", Candidates{Verdict: precedent.Clean}, 1, "", false},
		{"skipped", Candidates{Verdict: precedent.Skipped}, 1, "", false},
		{"partial", Candidates{Verdict: precedent.Partial, Finders: []precedent.FinderRun{{Name: "bugs", Status: precedent.StatusRefused, Error: "no"}}}, 0, "bugs refused: no", false},
		{"cut", Candidates{Verdict: precedent.Partial, Coverage: precedent.Coverage{Truncated: []precedent.TruncatedHunk{{Reason: "too long"}}}}, 0, "too long", false},
		{"poor", Candidates{Verdict: precedent.Failed, Finders: []precedent.FinderRun{{Name: "bugs", Status: precedent.StatusOverBudget}}}, 0, "bugs over-budget", true},
		{"another failure that names the bound", Candidates{Verdict: precedent.Findings, Failures: []precedent.Failure{{Step: "verify", Error: "not over-budget"}}}, 1, "", false},
		{"poor verifier", Candidates{Verdict: precedent.Findings, Failures: []precedent.Failure{{Step: "verify", Error: "kept: spent", Status: precedent.StatusOverBudget}}}, 0, "verify: kept", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			cases := dataSet(t, `{"gold": [{"path": "a.py", "from_line": 2}]}`)
			test.line.Sum = cases[0].Sum
			r, err := Compute(t.Context(), cases, File{Lines: map[string]Candidates{"one": test.line}}, Options{})
			if err != nil || r.Scored != test.scored || len(r.Incomplete) != 1-test.scored || r.Location.Total.Gold != 1 || r.Location.Total.Found != 0 {
				t.Fatalf("%+v, %v", r, err)
			}
			if test.want != "" && !strings.Contains(r.Incomplete[0].Why, test.want) {
				t.Errorf("the reason is %q, want one with %q", r.Incomplete[0].Why, test.want)
			}
			if got := test.line.OverBudget(); got != test.poor {
				t.Errorf("over budget: %v", got)
			}
		})
	}
	line := Candidates{Verdict: precedent.Failed, Findings: []Candidate{at(2, 2, precedent.Bugs, "right")}}
	failed := dataSet(t, `{"gold": [{"path": "a.py", "from_line": 2}]}`)
	line.Sum = failed[0].Sum
	r, err := Compute(t.Context(), failed, File{Lines: map[string]Candidates{"one": line}}, Options{})
	if err != nil || r.Location.Total.Candidates != 0 || *r.Location.Total.Recall.Value != 0 {
		t.Errorf("a failed review that found something scores %+v, %v", r.Location.Total, err)
	}
}

// TestJudgeDismissals: a judge is asked once what a dismissal covers, and believed if it quotes the person.
func TestJudgeDismissals(t *testing.T) {
	cases := dataSet(t, `{"negative": [
		{"path": "a.py", "from_line": 2, "to_line": 2, "category": "tests", "note": "Check that the list is empty.", "symbol": "first", "reason": "Never report this in this repository."}]}`)
	line := Candidates{Case: "one", Sum: cases[0].Sum, Verdict: precedent.Findings, Threshold: 75, Findings: []Candidate{
		at(4, 4, precedent.Style, "Check whether this list is empty"),
	}}
	for _, test := range []struct {
		name, answer string
		hidden       int
		answered     int
		trouble      bool
	}{
		{"covered", `[{"pair": "p1", "same": true, "quote": "report this in this repository"}]`, 1, 1, false},
		{"not covered", `[{"pair": "p1", "same": false}]`, 0, 1, false},
		{"no proof", `[{"pair": "p1", "same": true, "quote": "made up"}]`, 0, 1, false},
		{"no answer", `[]`, 0, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := File{Lines: map[string]Candidates{"one": line}}
			asked := 0
			v := Reviewer{Engine: answers(func(task engine.Task) any {
				asked++
				if task.Name != DismissedName || !strings.Contains(task.User(), "Check that the list is empty") {
					t.Errorf("asked as %s:\n%s", task.Name, task.User())
				}
				return map[string]any{"pairs": jsonOf(test.answer)}
			})}
			saved := 0
			judge := func() string {
				trouble, err := v.JudgeDismissals(t.Context(), cases, file, Options{}, func(c Candidates) error {
					saved++
					file.Lines[c.Case] = c
					return nil
				})
				needs.NoError(t, err)
				return trouble
			}
			if trouble := judge(); (trouble != "") != test.trouble || asked != 1 || saved != 1 {
				t.Errorf("trouble %q, asked %d times, saved %d", trouble, asked, saved)
			}
			r, err := Compute(t.Context(), cases, file, Options{})
			needs.NoError(t, err)
			if got := r.SameChange; got.Location.Hidden != test.hidden || got.Questions != 1 || got.Answered != test.answered || got.Dismissals != 1 {
				t.Errorf("replayed %+v", got)
			}
			if o := r.OtherChanges; o.Dismissals != 0 || o.Cases != 0 {
				t.Errorf("a change was hidden by its own dismissals: %+v", o)
			}
			if judge(); asked != 2-test.answered {
				t.Errorf("asked %d times in all", asked)
			}
		})
	}
	broken := errors.New("disk full")
	v := Reviewer{Engine: answers(func(engine.Task) any { return map[string]any{"pairs": []any{}} })}
	if _, err := v.JudgeDismissals(t.Context(), cases, File{Lines: map[string]Candidates{"one": line}}, Options{}, func(Candidates) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("an answer that cannot be saved: %v", err)
	}
}

// TestReplayKnowsWhatWasBefore: the dismissals of a pull request hide findings of later
// ones, never of earlier ones, and those of changes of unknown order hide nothing.
func TestReplayKnowsWhatWasBefore(t *testing.T) {
	const negative = `"negative": [{"path": "a.py", "from_line": 2, "to_line": 2, "category": "tests", "note": "Check the list.", "reason": "Never."}]`
	for _, test := range []struct {
		first, second string
		want          int // changes with dismissals
	}{
		{`"pr": "https://git.example.org/x/y/pull/7"`, `"pr": "https://git.example.org/x/y/pull/10"`, 1},
		{`"pr": "https://git.example.org/x/y/pull/7"`, `"pr": "https://git.example.org/x/z/pull/10"`, 0},
		{`"repo": "git.example.org/x/y"`, `"repo": "git.example.org/x/y"`, 0},
	} {
		a, b := dataSet(t, "{"+test.first+", "+negative+"}")[0], dataSet(t, "{"+test.second+", "+negative+"}")[0]
		b.Name = "two"
		lines := map[string]Candidates{}
		for _, c := range []Case{a, b} {
			lines[c.Name] = Candidates{Case: c.Name, Sum: c.Sum, Verdict: precedent.Findings, Findings: []Candidate{at(2, 2, precedent.Tests, "Check the list")}}
		}
		for _, cases := range [][]Case{{a, b}, {b, a}} {
			r, err := Compute(t.Context(), cases, File{Lines: lines}, Options{})
			if err != nil || r.OtherChanges.Cases != test.want || r.SameChange.Cases != 2 || !r.SameChange.InSample || r.OtherChanges.InSample {
				t.Errorf("%s and %s: %+v, %+v, %v", test.first, test.second, r.OtherChanges, r.SameChange, err)
			}
		}
	}
}
