package run

import (
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/store"
)

// What the memory knows under the old path of a file stays as it knows it: its place has that path.
func TestFollowFiles(t *testing.T) {
	was := func(path, print string) precedent.Finding {
		return precedent.Finding{Span: precedent.Span{Path: path}, Fingerprint: print}
	}
	hunk := func(path, hash string) precedent.ReadHunk { return precedent.ReadHunk{Path: path, Hash: hash} }
	p := Prepared{subject: Subject{Repo: &git.Repo{}}, Input: review.Input{
		Change:  &diff.Change{Files: []diff.File{{Path: "b.go", OldPath: "a.go"}, {Path: "d.go"}}},
		Reading: &precedent.Reading{Hunks: []precedent.ReadHunk{hunk("b.go", "1"), hunk("d.go", "2")}},
		Recall:  memory.Recall{Known: map[string]store.Known{"x": {Finding: was("a.go", "x"), Seen: 3}}},
	}}
	last := &precedent.Review{
		Findings: []precedent.Finding{was("a.go", "x"), was("c.go", "y")},
		Reading:  &precedent.Reading{Hunks: []precedent.ReadHunk{hunk("a.go", "1"), hunk("c.go", "2")}},
	}
	p.followFiles(t.Context(), last)
	new(Prepared).followFiles(t.Context(), last) // as if the memory could not be read
	known := p.Input.Recall.Known
	needs.Equal(t, "a.go", known["x"].Path)
	needs.Equal(t, 3, known["x"].Seen)
	needs.Equal(t, "d.go", known["y"].Path)
}
