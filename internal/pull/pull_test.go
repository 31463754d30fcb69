package pull

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/pulltest"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// stage is a pull request on a scripted GitHub.
type stage struct {
	*pulltest.Stage
	env        *workspace.Env
	connection workspace.Connection
}

// newStage opens pull request 7 of acme/shop.
func newStage(t *testing.T) *stage {
	t.Helper()
	s := pulltest.NewStage(t)
	key := needs.Value(comment.NewKey(pulltest.MarkerKey))(t)
	return &stage{Stage: s, env: pulltest.NewEnv(s.Home, s.Clock), connection: workspace.Connection{
		Forge: s.Client, Known: true, Key: key, Secrets: []string{forgetest.Secret},
		Folder: filepath.Join(s.Home, "work", ".git"),
		Token:  func(context.Context, precedent.Repo) (string, error) { return "", nil },
	}}
}

// review reviews the pull request as a job of a server would, and posts the review.
// It returns the exit status, and whether a review stood there already.
func (s *stage) review(e engine.Engine) (status int, stood bool, err error) {
	return s.reviewPull(7, newJob(e))
}

func (s *stage) reviewPull(number int, job run.Job) (status int, stood bool, err error) {
	err = s.read(number, func(pull *Pull) error {
		publisher, err := pull.Publisher(s.T.Context())
		if err != nil {
			return err
		}
		did, err := publisher.Review(s.T.Context(), job, Hooks{
			Existing: func(run.Result) error { stood = true; return nil },
		})
		status = did.Status
		return err
	})
	return status, stood, err
}

// repo is the repository on the forge.
func (s *stage) repo() precedent.Repo {
	return precedent.Repo{Host: s.connection.Host(), Owner: "acme", Name: "shop"}
}

// read reads a pull request, as each command does, for a use of it.
func (s *stage) read(number int, use func(*Pull) error) error {
	ctx := s.T.Context()
	repo, err := OpenRepository(ctx, s.env, workspace.Location{Dir: s.Home}, s.repo())
	if err != nil {
		return err
	}
	defer repo.Close()
	pull, err := Read(ctx, s.env, s.connection, repo, number)
	if err != nil {
		return err
	}
	defer pull.Close()
	return use(pull)
}

// comments counts what stands on the pull request, and lists the places of the remarks.
func (s *stage) comments() (summaries, reviews int, remarks []string) {
	for _, c := range s.World.By(s.Pull, forgetest.Bot) {
		switch c.Kind {
		case forge.OnThread:
			summaries++
		case forge.OnReview:
			reviews++
		case forge.OnLine:
			remarks = append(remarks, c.Span.String())
		}
	}
	slices.Sort(remarks)
	return summaries, reviews, remarks
}

// TestPullRequestsAtOnce: two pull requests are reviewed in one process at the same time. On each stand one
// review, one summary, and one comment a finding, also after a second run.
func TestPullRequestsAtOnce(t *testing.T) {
	stages := []*stage{newStage(t), newStage(t)}
	meet := pulltest.Meeting(len(stages))
	var running sync.WaitGroup
	for _, s := range stages {
		running.Go(func() {
			if status, stood, err := s.review(&pulltest.Engine{Arrive: meet}); status != precedent.ExitFindings || stood ||
				err != nil {
				t.Errorf("status %d, stood %t, %v", status, stood, err)
			}
		})
	}
	running.Wait()
	for _, s := range stages {
		for range 2 {
			summaries, reviews, remarks := s.comments()
			if got := strings.Join(remarks, " "); summaries != 1 || reviews != 1 || got != "till.js:2 till.js:9" {
				t.Errorf("%d summaries, %d reviews, remarks on %s", summaries, reviews, got)
			}
			again := &pulltest.Engine{Arrive: pulltest.Meeting(1)}
			if status, stood, err := s.review(again); status != precedent.ExitFindings || !stood || err != nil ||
				again.Asked != 0 {
				t.Errorf("again: status %d, stood %t, the engine was asked %d times, %v", status, stood, again.Asked, err)
			}
		}
	}
}

// newJob is a job of the engine.
func newJob(e engine.Engine) run.Job {
	return run.Job{
		Settings: &settings.Settings{FailOn: settings.Value[precedent.Severity]{Value: precedent.High}},
		Engine: workspace.EngineSetup{New: func(o workspace.EngineOptions) (engine.Engine, func() error) {
			return o.Budget.Within(e), func() error { return nil }
		}},
	}
}
