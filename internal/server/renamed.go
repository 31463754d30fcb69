package server

import (
	"context"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// movedError is the error of a job whose repository has another name now. The job has done nothing.
type movedError struct{ to forge.Branch }

func (m movedError) Error() string { return "the repository is called " + m.to.Repo.String() + " now" }

// isOther tells whether a repository has another name than the one that it was asked for by. The
// zero Repo is none.
func isOther(now, asked precedent.Repo) bool {
	return !now.IsZero() && !workspace.SameRepo(now, asked)
}

// presentName returns the base branch of the listed pull requests if their repository has another
// name than the one that they were listed by.
func presentName(asked precedent.Repo, open []forge.PullRequest) (forge.Branch, bool) {
	for i := range open {
		if base := open[i].Base; isOther(base.Repo, asked) {
			return base, true
		}
	}
	return forge.Branch{}, false
}

// rename makes everything go on under the present name of a repository: its memory, whose rows follow
// the number, and what is served. A job under the former name goes on when it runs.
func (s *Server) rename(ctx context.Context, from precedent.Repo, to forge.Branch) error {
	if to.RepoID != "" {
		numbered := precedent.NumberedRepo(to.Repo.Host, to.RepoID)
		if err := s.o.Reviewer.Shared.Follow(ctx, numbered, to.Repo, from); err != nil {
			return err
		}
	}
	s.served.Rename(from, to.Repo)
	s.o.Log.Info("a repository has another name", "repo", to.Repo.String(), "reason", "it was called "+from.String())
	return nil
}

// goOn has a job done under the present name of its repository. The head that was wanted may be
// older than the one that is wanted under that name, so it does not count.
func (s *Server) goOn(ctx context.Context, run *queue.Run, to forge.Branch) error {
	if err := s.rename(ctx, run.Repo, to); err != nil {
		return err
	}
	t := run.Task
	t.Repo, t.Head = to.Repo, ""
	return s.queue.Want(ctx, t)
}

// wants tells whether the operator still wants work on a repository, under any of its names: jobs may wait for one
// that was taken off the list.
func (s *Server) wants(ctx context.Context, repo precedent.Repo) (bool, error) {
	from := s.served.Sources()
	if repo.IsZero() || from.All ||
		slices.ContainsFunc(from.Owners, func(o string) bool { return strings.EqualFold(o, repo.Owner) }) ||
		slices.ContainsFunc(from.Listed, func(r precedent.Repo) bool { return workspace.SameRepo(r, repo) }) {
		return true, nil
	}
	now, err := s.o.Reviewer.Shared.PresentName(ctx, repo)
	for _, listed := range from.Listed {
		var is precedent.Repo
		if err == nil {
			is, err = s.o.Reviewer.Shared.PresentName(ctx, listed)
		}
		if err != nil || workspace.SameRepo(is, now) {
			return true, err
		}
	}
	return false, err
}
