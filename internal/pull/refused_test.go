package pull

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/pulltest"
	"github.com/precedent-dev/precedent/internal/run"
)

// TestPullThatGitRefuses: a line of 3,000 bytes in .gitattributes fails git's check of the
// head. The base is fetched alone, so that its guide and policy count; without the files of
// the head, the review is incomplete all the same.
func TestPullThatGitRefuses(t *testing.T) {
	s := newStage(t)
	work := filepath.Join(s.Home, "work")
	pulltest.Git(t, s.Home, work, "checkout", "-q", "main")
	pulltest.Commit(t, s.Home, work, "policy", map[string]string{
		".precedent.yaml": "threshold: 60\n", "CLAUDE.md": "- Never divide by zero.\n",
	})
	pulltest.Git(t, s.Home, work, "checkout", "-q", "feature")
	pulltest.Git(t, s.Home, work, "rebase", "-q", "main")
	pulltest.Commit(t, s.Home, work, "attributes", map[string]string{".gitattributes": strings.Repeat("a", 3000) + "\n"})
	pulltest.Git(t, s.Home, work, "update-ref", "refs/pull/7/head", "feature")
	s.World.Change(func() {
		s.Pull.Base.SHA, s.Pull.Head.SHA = pulltest.Git(t, s.Home, work, "rev-parse", "main"),
			pulltest.Git(t, s.Home, work, "rev-parse", "feature")
		s.Pull.Diff = pulltest.Git(t, s.Home, work, "diff", "main...feature") + "\n"
	})
	needs.NoError(t, s.read(7, func(pull *Pull) error {
		p, err := pull.Prepare(t.Context(), newJob(&pulltest.Engine{Arrive: pulltest.Meeting(1)}))
		if err != nil {
			return err
		}
		defer p.Close()
		if in := p.Input; in.Policy.Threshold == nil || *in.Policy.Threshold != 60 || len(in.Guide.Docs) != 1 {
			t.Errorf("policy %+v, guide %+v", in.Policy, in.Guide)
		}
		made, err := p.Run(t.Context(), run.Watch{})
		if err != nil {
			return err
		}
		refused := func(f precedent.Failure) bool {
			return f.Step == "fetch" && strings.Contains(f.Error, "gitattributes")
		}
		if made.Review.Verdict != precedent.Partial || made.Status != precedent.ExitIncomplete ||
			!slices.ContainsFunc(made.Review.Failures, refused) {
			t.Errorf("%s, status %d, %+v", made.Review.Verdict, made.Status, made.Review.Failures)
		}
		return nil
	}))
}
