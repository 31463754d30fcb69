package lint

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

// TestMain lets the test binary be the process that the Go analyzers run in.
func TestMain(m *testing.M) {
	sandbox.Main()
	if os.Getenv(VetEnv) == "1" {
		VetMain()
	}
	os.Exit(m.Run())
}

// change makes a change of hunks, each in the form of a unified diff's body: lines with their sign. A line that begins
// with @@ opens a hunk at the number behind it.
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
		if in.Secrets == nil {
			in.Secrets = func() *Secrets { return ScanSecrets(in.Change) }
		}
		if in.Read == nil {
			in.Read = func(string) ([]byte, error) { return nil, fs.ErrNotExist }
		}
		r := a.Run(context.Background(), in)
		for _, f := range r.Findings {
			checkFinding(t, name, in.Change, f)
			if !slices.ContainsFunc(confidencesOf(name), func(s sure) bool { return s.confidence == f.Confidence }) {
				t.Errorf("%s has the confidence %d, which docs/analyzers.md does not list", f.Rule, f.Confidence)
			}
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
	case !f.Analyzer, f.Finder != name, f.Rule == "", f.Votes != 1, f.Verifier != precedent.Unchecked, f.Confidence <= 0:
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
	t.Errorf("%s is not a line of the change", f.Span)
}

// brief is a finding as "path:line rule severity".
func brief(r Result) []string {
	all := needs.Each(r.Findings,
		func(f precedent.Finding) string { return fmt.Sprintf("%s %s %s", f.Span, f.Rule, f.Severity) })
	return all
}

func same(t *testing.T, got Result, want ...string) {
	t.Helper()
	needs.Equal(t, want, brief(got))
}

// found is same for a table: the findings are joined by commas.
func found(t *testing.T, r Result, want string) {
	t.Helper()
	needs.Equal(t, want, strings.Join(brief(r), ", "))
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, a := range All()[:3] {
		in := &Input{Change: added("a.txt", "<<<<<<< HEAD\n"), Secrets: func() *Secrets { return &Secrets{} }}
		if r := a.Run(ctx, in); r.Status != precedent.StatusTimeout {
			t.Errorf("%s: %s", a.Name, r.Status)
		}
	}
}

// TestSayWhatModelsSay: a model that sees the same defect on the same line is
// recognised as saying the same. It is, from a similarity of 0.25 on.
func TestSayWhatModelsSay(t *testing.T) {
	for said, c := range map[string]*diff.Change{
		"Hardcoded AWS access key. An AWS access key ID is committed in plain text. Anyone with access to the repository can use " +
			"it; rotate the key and load it from the environment.": change("a.go", "+k := \""+awsKey(1)+"\""),
		"Hidden bidirectional Unicode control character. The line contains a right-to-left override (U+202E) which makes the code " +
			"appear different from what is executed (Trojan Source). Remove the character.": change("a.go", "+// \u202e"),
		"Merge conflict marker left in the file. The line <<<<<<< HEAD is an unresolved merge conflict and the code will not " +
			"compile. Resolve the conflict and remove the markers.": change("a.go", "+<<<<<<< HEAD", "+=======", "+>>>>>>> x"),
	} {
		for _, name := range []string{"secrets", "unicode", "conflict-markers"} {
			for _, f := range run(t, name, &Input{Change: c}).Findings {
				if got := match.Similarity(&f, &precedent.Finding{Body: said}); got < match.SamePlace {
					t.Errorf("similarity %.2f of\n%s\n%s\nand\n%s", got, f.Title, f.Body, said)
				}
			}
		}
	}
}
