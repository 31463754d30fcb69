package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/golden"
	"github.com/precedent-dev/precedent/internal/markdown/markdowntest"
	"github.com/precedent-dev/precedent/internal/report"
)

const thread = "0192d3a0-0000-7000-8000-00000000000a"

// later is a review of a later push: a finding that stands in a thread, a new one,
// one that the forge refuses, one on a whole file, and the states of threads.
func later() *precedent.Review {
	r := partial()
	r.Verdict, r.Finders[0].Status, r.Finders[0].Error, r.Coverage.Truncated = precedent.Findings, precedent.StatusOK, "",
		nil
	r.Coverage.HunksRead, r.Coverage.Hunks, r.Coverage.HunksBefore = 3, 14, 11
	r.Findings[0].Thread = thread
	r.Findings[1].Origin = precedent.CausedByFix
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.ID == "1eft000001" {
			f.Origin = precedent.MissedBefore
		}
		if f.Dropped == precedent.Dismissed {
			f.Placement = precedent.Collapsed
			f.Body = "It may return early."
		}
	}
	r.Threads = []precedent.ThreadAnswer{
		{
			Thread: thread, Finding: "k7m2q0v5xa", Title: "Token is compared with ==", Severity: precedent.High,
			State: precedent.StillThere, Span: at(42, 42), Why: "the line is as it was", By: "place",
		},
		{
			Thread: "t2", Finding: "aaaa000001", Title: "Error is lost", State: precedent.Addressed, Span: at(50, 51),
			Why: "it is returned now", By: "engine",
		},
		{Thread: "t3", Finding: "aaaa000002", Title: "Unused", State: precedent.NoLonger, Span: at(60, 60), By: "place"},
		{
			Thread: "t4", Finding: "aaaa000003", Title: "Too long", State: precedent.DeclinedHere, Span: at(70, 70),
			Why: "dana: “it is fine as it is”", By: "person",
		},
		{
			Thread: "t5", Finding: "aaaa000004", Title: "Racy", Severity: precedent.Critical, State: precedent.Unanswered,
			Span: at(80, 80), Why: "no answer within 30s", By: "engine",
		},
		{
			Thread: "t6", Finding: "aaaa000005", Title: "Slow", Severity: precedent.Low, State: precedent.StillThere,
			Span: at(90, 90), By: "finder",
		},
	}
	return r
}

func posted() report.Style {
	return report.Style{
		Change: login(), Version: "v1.2.3", Links: []string{"forge.example"},
		Posted: map[string]report.Posting{
			"k7m2q0v5xa": {State: report.PostedBefore, URL: "https://forge.example/team/app/pull/7#discussion_r1"},
			"ab3d0e5f7g": {State: report.PostedNow, URL: "https://forge.example/team/app/pull/7#discussion_r2"},
			"1eft000001": {State: report.Refused, Why: "line must be part of the diff, @dana"},
			"aaaa000001": {State: report.PostedBefore, URL: "https://forge.example/team/app/pull/7#discussion_r3"},
		},
		LineURL: func(s precedent.Span) string {
			return fmt.Sprintf("https://forge.example/team/app/blob/b/%s#L%d", s.Path, s.Start)
		},
		Closed: []report.Closed{
			{
				Thread: "t2", Span: at(48, 49),
				Severity: precedent.High, Title: "Error is lost", How: "fixed", Commit: "bbbbbbbbbb", Why: "it is returned now",
				URL: "https://forge.example/team/app/pull/7#discussion_r3",
			},
			{
				Thread: "t0", Span: precedent.Span{Path: "auth/old.go", Side: precedent.Right, Start: 3, End: 3},
				Severity: precedent.Low, Title: "A name says nothing", How: "fixed", Commit: "aaaaaaaaaa",
			},
			{
				Thread: "t4", Span: at(70, 70),
				Severity: precedent.Medium, Title: "Too long", How: "dismissed", Who: "dana", Why: "“it is fine as it is”",
			},
		},
	}
}

func TestPostedSummary(t *testing.T) {
	golden.Compare(t, "testdata/posted.md", markdown(t, later(), posted()))
	golden.Compare(t, "testdata/later.txt", string(printed(t, "text", later(), report.Style{Change: login()})))
	golden.Compare(t, "testdata/later.sarif", string(printed(t, "sarif", later(), report.Style{Version: "v1.2.3"})))
	golden.Compare(t, "testdata/later.json", string(printed(t, "json", later(), report.Style{})))
}

// TestAFindingIsInTheSummaryOrInAComment: whatever is posted, nothing is lost, and nothing is said twice in full.
func TestAFindingIsInTheSummaryOrInAComment(t *testing.T) {
	r := later()
	for _, state := range []report.PostingState{report.PostedNow, report.PostedBefore, report.Refused, ""} {
		for i := range r.Findings {
			f := r.Findings[i]
			s := report.Style{Posted: map[string]report.Posting{}}
			if state != "" {
				s.Posted[f.ID] = report.Posting{State: state}
			}
			out := markdown(t, r, s)
			want := 1
			if state == report.PostedNow || state == report.PostedBefore || f.Dropped == precedent.Minor ||
				!f.Live() && f.Placement != precedent.Collapsed {
				want = 0
			}
			if got := strings.Count(out, "\nFinding `"+f.ID); got != want {
				t.Errorf("%s as %q is in full %d times, want %d", f.ID, state, got, want)
			}
			if f.Live() && strings.Count(out, "| `"+f.String()+"`") != 1 {
				t.Errorf("%s as %q is not in the table:\n%s", f.ID, state, out)
			}
		}
	}
}

func TestPostedSummaryIsInert(t *testing.T) {
	plain := markdowntest.Render(t, markdown(t, everywhere("x"), posted()))
	for _, s := range markdowntest.Infamous(t) {
		r := everywhere(s)
		for i := range r.Findings {
			r.Findings[i].Origin, r.Findings[i].Thread = precedent.Origin(s), s
		}
		r.Threads = []precedent.ThreadAnswer{{
			Thread: s, Finding: s, Title: s, State: precedent.AnswerState(s),
			Span: precedent.Span{Path: s, Start: 3, End: 3}, Reply: s, Why: s, By: s,
		}}
		style := posted()
		style.Links = []string{"good.example"}
		style.Posted = map[string]report.Posting{s: {State: report.Refused, URL: "https://good.example/" + s, Why: s}}
		style.Closed = []report.Closed{{
			Thread: "another", Span: precedent.Span{Path: s, Start: 3, End: 3},
			Severity: precedent.Severity(s), Title: s, How: s, Commit: s, Who: s, Why: s, URL: "https://good.example/" + s,
		}}
		style.LineURL = func(span precedent.Span) string { return "https://good.example/" + span.Path }
		for state, folded := range map[report.PostingState]int{report.Refused: 3, report.PostedNow: 0} {
			style.Posted[s] = report.Posting{State: state, URL: "https://good.example/" + s, Why: s}
			p := markdowntest.Inert(t, markdown(t, r, style))
			if p.Count["table"] != plain.Count["table"] || p.Count["tr"] != plain.Count["tr"] ||
				p.Count["td"] != plain.Count["td"] {
				t.Errorf("%q changes the table", s)
			}
			if p.Count["h2"] != 1 || p.Count["details"] != 3+folded {
				t.Errorf("%q changes the page: %v", s, p.Count)
			}
		}
	}
}

// TestNotChecked: no form calls a review clean of which packages were not checked, and each
// says how many, and why.
func TestNotChecked(t *testing.T) {
	r := analyzersOnly()
	r.Verdict = precedent.NoFindings
	r.Coverage.NotChecked = []precedent.NotChecked{
		{Kind: precedent.PackageKind, Path: "a", Reason: "compile error"},
		{Kind: precedent.PackageKind, Path: "b", Reason: "a needed module is not downloaded"},
		{Kind: precedent.FileKind, Path: "c/d_test.go", Reason: "a needed module is not downloaded"},
	}
	const left = "2 packages and 1 file not checked: compile error; a needed module is not downloaded"
	for format, want := range map[string]string{
		"text": "no findings  " + left, "markdown": "## Precedent: no findings; " + left, "json": `"verdict": "no-findings"`,
		"agent": "no findings, 3 not checked",
	} {
		got := string(printed(t, format, r, report.Style{Width: 200}))
		if !strings.Contains(got, want) || strings.Contains(got, "clean") {
			t.Errorf("%s: no %q, or clean, in\n%s", format, want, got)
		}
	}
	if result, title := report.Check(r, precedent.High, true); result != "success" ||
		!strings.HasSuffix(title, "; no findings; "+left) {
		t.Errorf("the check is %s: %s", result, title)
	}
	r.Verdict, r.Findings = precedent.Findings, []precedent.Finding{{
		ID: "k7m2q0v5xa", Severity: precedent.Low,
		Placement: precedent.Inline,
	}}
	for format, want := range map[string]string{
		"text":     "findings  1 finding · " + left,
		"markdown": "## Precedent: 1 finding; " + left,
	} {
		if got := string(printed(t, format, r, report.Style{Width: 200})); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", format, want, got)
		}
	}
}

func TestCheck(t *testing.T) {
	clean, analyzers, incomplete := full(), later(), partial()
	clean.Findings, clean.Verdict = nil, precedent.Clean
	analyzers.Scope = precedent.AnalyzersScope
	modelless, earlier := *clean, later()
	modelless.Scope, earlier.Findings = precedent.AnalyzersScope, nil
	nits := full()
	for i := range nits.Findings {
		nits.Findings[i].Severity = precedent.Nit
	}
	for _, test := range []struct {
		name   string
		r      *precedent.Review
		failOn precedent.Severity
		result string
		title  string
	}{
		{"clean", clean, precedent.High, "success", "clean, no findings"},
		{"findings", full(), precedent.High, "failure", "3 findings, 2 at or above high"},
		{"findings that are critical", full(), precedent.Critical, "failure", "3 findings, 1 at or above critical"},
		{"nits", nits, precedent.Nit, "success", "3 findings, none at or above nit"},
		{"incomplete", incomplete, precedent.Low, "incomplete", "incomplete: not everything was read; 5 findings"},
		{"failed", broken(), precedent.High, "incomplete", "incomplete: not everything was read; 0 findings"},
		{"no verdict", &precedent.Review{}, precedent.High, "incomplete", "incomplete: not everything was read; 0 findings"},
		{
			"no model, findings", analyzers, precedent.High, "failure",
			"analyzers only, no model read this change; 5 findings, and 2 earlier ones still open, 4 at or above high",
		},
		{
			"no model, mild findings", analyzers, precedent.FailNever, "neutral",
			"analyzers only, no model read this change; 5 findings, and 2 earlier ones still open, none at or above none",
		},
		{
			"no model, clean", &modelless, precedent.High, "neutral",
			"analyzers only, no model read this change; clean, no findings",
		},
		{"earlier findings alone", earlier, precedent.High, "failure", "3 earlier findings still open, 2 at or above high"},
		{"skipped", &precedent.Review{Verdict: precedent.Skipped}, precedent.High, "neutral", "nothing to review"},
	} {
		if result, title := report.Check(test.r, test.failOn, false); result != test.result || title != test.title {
			t.Errorf("%s: %s, %q; want %s, %q", test.name, result, title, test.result, test.title)
		}
	}
}

// TestPassWithoutModel: the policy decides about the check of a clean review that no model made,
// the summary says so, and it excuses no finding.
func TestPassWithoutModel(t *testing.T) {
	clean := full()
	clean.Findings, clean.Verdict, clean.Scope = nil, precedent.Clean, precedent.AnalyzersScope
	for pass, want := range map[bool]string{false: "neutral", true: "success"} {
		if result, title := report.Check(clean, precedent.High, pass); result != want ||
			!strings.Contains(title, "no model read this change") {
			t.Errorf("%v: %s, %q", pass, result, title)
		}
		page := markdown(t, clean, report.Style{Posted: map[string]report.Posting{}, PassWithoutModel: pass})
		if says := strings.Contains(page, "The policy lets the check succeed without a model."); says != pass ||
			!strings.Contains(page, "**No model read this change: only the analyzers did.** ") {
			t.Errorf("%v:\n%s", pass, page)
		}
		found := full()
		found.Scope = precedent.AnalyzersScope
		if result, _ := report.Check(found, precedent.High, pass); result != "failure" {
			t.Errorf("%v: the check of findings is %s", pass, result)
		}
	}
}
