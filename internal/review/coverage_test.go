package review

import (
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestFailedAnalyzers: an analyzer that fails spoils the hunks of the files that it had
// to read, unless a model or another analyzer has read them.
func TestFailedAnalyzers(t *testing.T) {
	c := &diff.Change{Files: []diff.File{
		added("a/a.go", "package a"), added("b/b.go", "package b"),
		added("c.txt", "text"),
	}}
	model := newPlan(c, nil)
	model.pack(c, shardTokens)
	analyzer := func(status precedent.Status, files map[string]bool) Report {
		return Report{Analyzer: true, Files: files, Run: precedent.FinderRun{Name: string(status), Status: status}}
	}
	prompted := func(status precedent.Status, answered bool) Report {
		return Report{Answered: []bool{answered}, Run: precedent.FinderRun{Name: "bugs", Status: status}}
	}
	const empty, failed = precedent.StatusEmpty, precedent.StatusError
	all, some := []string{"a/a.go", "b/b.go", "c.txt"}, map[string]bool{"a/a.go": false, "b/b.go": true}
	list := func(reports ...Report) []Report { return reports }
	for _, test := range []struct {
		name    string
		reports []Report
		unread  []string
		want    precedent.Verdict
	}{
		{"all failed", list(analyzer(failed, nil)), all, precedent.Partial},
		{
			"one package", list(analyzer(failed, some), analyzer(empty, map[string]bool{})),
			[]string{"a/a.go"},
			precedent.Partial,
		},
		{"another read it", list(analyzer(failed, some), analyzer(empty, nil)), nil, precedent.Clean},
		{"not loaded", list(analyzer(empty, some), analyzer(empty, nil)), nil, precedent.Clean},
		{"a model read it", list(analyzer(precedent.StatusTimeout, nil), prompted(empty, true)), nil, precedent.Clean},
		{
			"a model failed", list(analyzer(empty, nil), prompted(empty, true), prompted(failed, false)),
			all, precedent.Partial,
		},
		{"no answer", list(analyzer(empty, nil), prompted(failed, false)), all, precedent.Failed},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &precedent.Review{Coverage: coverage(&Input{Change: c}, model, test.reports)}
			unread := needs.Each(r.Coverage.Truncated, func(h precedent.TruncatedHunk) string { return h.Path })
			needs.Equal(t, test.unread, unread)
			needs.Equal(t, test.want, verdict(r, test.reports, &Input{}))
		})
	}
}

// TestUnderstoodByAnalyzers: without a model a change is clean only if analyzers read each of its files that is not
// skipped; a file that two of them read counts once.
func TestUnderstoodByAnalyzers(t *testing.T) {
	report := func(files ...string) Report {
		r := Report{Analyzer: true, Files: map[string]bool{}, Run: precedent.FinderRun{Status: precedent.StatusEmpty}}
		for _, f := range files {
			r.Files[f] = true
		}
		return r
	}
	for _, test := range []struct {
		reports []Report
		want    precedent.Verdict
	}{
		{[]Report{report("a.go"), report("b.py")}, precedent.Clean},
		{[]Report{report("a.go"), report("a.go")}, precedent.NoFindings},
		{[]Report{report("a.go", "made.go")}, precedent.NoFindings},
	} {
		r := &precedent.Review{Scope: precedent.AnalyzersScope, Coverage: precedent.Coverage{
			Files: 3, Skipped: []precedent.SkippedFile{{Path: "made.go", Reason: "generated"}},
		}}
		needs.Equal(t, test.want, verdict(r, test.reports, &Input{}))
	}
}

// TestLeftOutOfTheSnapshot: a file that could not be read from the work tree is not checked, so the review is not clean.
func TestLeftOutOfTheSnapshot(t *testing.T) {
	in := &Input{Change: &diff.Change{}, Skipped: []precedent.SkippedFile{{Path: "big.sql", Reason: "larger than 8 MiB"}}}
	r := &precedent.Review{Scope: precedent.FullScope, Coverage: coverage(in, &plan{}, nil)}
	want := []precedent.NotChecked{{Kind: precedent.FileKind, Path: "big.sql", Reason: "larger than 8 MiB"}}
	needs.Equal(t, want, r.Coverage.NotChecked)
	reports := []Report{{Run: precedent.FinderRun{Status: precedent.StatusEmpty}}}
	needs.Equal(t, precedent.Skipped, verdict(r, reports, in))
	r.Coverage.Files++
	needs.Equal(t, precedent.NoFindings, verdict(r, reports, in))

	in.Skipped = []precedent.SkippedFile{{Path: "nested/", Reason: "another repository inside this one"}}
	r.Coverage = coverage(in, &plan{}, nil)
	needs.Equal(t, in.Skipped, r.Coverage.Skipped)
	needs.Equal(t, precedent.Skipped, verdict(r, reports, in))
	r.Coverage.Files++
	needs.Equal(t, precedent.Clean, verdict(r, reports, in))
}

// TestSkippedBeyondALimit: a skipped file of which a line was cut makes the review partial,
// because nobody looked for credentials in the rest of the line.
func TestSkippedBeyondALimit(t *testing.T) {
	for why, want := range map[string]int{"": 0, "line longer than 1 MiB": 1} {
		f := diff.File{Path: "dist/app.min.js", Skip: diff.Minified, Hunks: []diff.Hunk{{Cut: why}}}
		c := coverage(&Input{Change: &diff.Change{Files: []diff.File{f}}}, &plan{ignored: map[int]bool{}}, nil)
		if len(c.Truncated) != want || len(c.Skipped) != 1 {
			t.Errorf("%q: %+v", why, c)
		}
	}
}

// TestUnscannedIsPartial: a hunk in which the search for credentials was stopped does not count as read, although a
// model answered about what it was shown.
func TestUnscannedIsPartial(t *testing.T) {
	line := diff.Line{Op: diff.Add, New: 1, Text: strings.Repeat("api-key:token=secret ", 25_000)}
	c := &diff.Change{Files: []diff.File{{Path: "a.txt", OldPath: "a.txt", Hunks: []diff.Hunk{{Lines: []diff.Line{line}}}}}}
	p := &plan{carriers: map[diff.HunkRef][]int{{}: {0}}, ignored: map[int]bool{}, before: map[diff.HunkRef]bool{}}
	scanned := lint.ScanSecrets(c)
	got := coverage(&Input{Change: c, secrets: func() *lint.Secrets { return scanned }}, p, []Report{{Answered: []bool{true}}})
	if got.HunksRead != 0 || len(got.Truncated) != 1 || !strings.Contains(got.Truncated[0].Reason, "withheld") {
		t.Errorf("%+v", got)
	}
}
