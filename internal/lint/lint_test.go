package lint

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
)

// TestMain lets the test binary be the process that govet starts.
func TestMain(m *testing.M) {
	if os.Getenv(VetEnv) == "1" {
		VetMain()
	}
	os.Exit(m.Run())
}

// change makes a change of hunks, each in the form of a unified diff's body:
// lines with their sign. A line that begins with @@ opens a hunk at the number
// behind it.
func change(path string, lines ...string) *diff.Change {
	f := diff.File{Path: path, OldPath: path, Status: diff.Modified}
	var h *diff.Hunk
	before, after := 1, 1
	for _, s := range lines {
		if rest, ok := strings.CutPrefix(s, "@@"); ok {
			_, _ = fmt.Sscan(rest, &after)
			before, h = after, nil
			continue
		}
		if h == nil {
			f.Hunks = append(f.Hunks, diff.Hunk{OldStart: before, NewStart: after})
			h = &f.Hunks[len(f.Hunks)-1]
		}
		l := diff.Line{Op: diff.Op(s[0]), Text: s[1:]}
		if l.Op != diff.Add {
			l.Old, before, h.OldLines = before, before+1, h.OldLines+1
		}
		if l.Op != diff.Delete {
			l.New, after, h.NewLines = after, after+1, h.NewLines+1
		}
		h.Lines = append(h.Lines, l)
	}
	return &diff.Change{Files: []diff.File{f}}
}

// added makes a change that adds a file.
func added(path, content string) *diff.Change {
	var lines []string
	for s := range strings.SplitSeq(strings.TrimSuffix(content, "\n"), "\n") {
		lines = append(lines, "+"+s)
	}
	c := change(path, lines...)
	c.Files[0].Status = diff.Added
	return c
}

// run runs the analyzer of a name and checks what holds for all findings.
func run(t *testing.T, name string, in *Input) Result {
	t.Helper()
	for _, a := range All() {
		if a.Name != name {
			continue
		}
		r := a.Run(context.Background(), in)
		for _, f := range r.Findings {
			checkFinding(t, name, in.Change, f)
		}
		if n := len(r.Findings); n == 0 && r.Status == precedent.StatusOK || n > 0 && r.Status == precedent.StatusEmpty {
			t.Errorf("%d findings with the status %s", len(r.Findings), r.Status)
		}
		return r
	}
	t.Fatalf("no analyzer %q", name)
	return Result{}
}

func checkFinding(t *testing.T, name string, c *diff.Change, f precedent.Finding) {
	t.Helper()
	switch {
	case !f.Analyzer, f.Finder != name, f.Rule == "", f.Votes != 1, f.Verifier != precedent.Unchecked, f.Confidence < 90:
		t.Errorf("incomplete finding %+v", f)
	case f.Title == "", len([]rune(f.Title)) > 90, len(f.Body) < 80:
		t.Errorf("title of %d characters, body of %d: %q, %q", len([]rune(f.Title)), len(f.Body), f.Title, f.Body)
	case f.Severity.Rank() >= len(precedent.Severities), f.Category == "":
		t.Errorf("severity %q, category %q", f.Severity, f.Category)
	}
	if f.Start == 0 {
		return
	}
	for _, l := range c.File(f.Path).Commentable(f.Side) {
		if f.Side == precedent.Right && l.New == f.Start || f.Side == precedent.Left && l.Old == f.Start {
			if l.Text != f.Quote || l.Op == diff.Context {
				t.Errorf("%s: quote %q of line %+v", f.Span, f.Quote, l)
			}
			return
		}
	}
	t.Errorf("%s is no line of the change", f.Span)
}

// brief is a finding as "path:line rule severity".
func brief(r Result) []string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, fmt.Sprintf("%s %s %s", f.Span, f.Rule, f.Severity))
	}
	return all
}

func same(t *testing.T, got Result, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, brief(got)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// TestBounded: a change made of findings is cut short, and says so.
func TestBounded(t *testing.T) {
	c := added("a.txt", strings.Repeat(">>>>>>> x\n\n", maxFindings+7))
	r := run(t, "conflict-markers", &Input{Change: c})
	if len(r.Findings) != maxFindings || r.Status != precedent.StatusTruncated || !strings.HasPrefix(r.Error, "7 more") {
		t.Errorf("%d findings, %s, %q", len(r.Findings), r.Status, r.Error)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, a := range All()[:3] {
		if r := a.Run(ctx, &Input{Change: added("a.txt", "<<<<<<< HEAD\n")}); r.Status != precedent.StatusTimeout {
			t.Errorf("%s: %s", a.Name, r.Status)
		}
	}
}
