package run

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/thread"
)

// errNoCommit means that a commit could not be fetched.
var errNoCommit = errors.New("the commit is missing")

// TreesAt returns the files that threads are relocated through, up to a head. Only
// the commits in there can be read.
func TreesAt(ctx context.Context, s Subject, there []string, head, base string) thread.Trees {
	return thread.Trees{
		Head: head, Base: base,
		Read: func(commit, path string) ([]byte, error) {
			if !slices.Contains(there, commit) {
				return nil, errNoCommit
			}
			return FilesAt(s.Blobs, commit)(path)
		},
		Renamed: func(from string) map[string]string { return renamed(ctx, s.Repo, from, head) },
	}
}

// LastRead returns the first complete one of reviews, which come newest first, with an
// engine if engine is set, and the finders that have read the code up to it; nil for none.
func LastRead(reviews iter.Seq2[*precedent.Review, error], engine bool) (*precedent.Review, []string, error) {
	var last *precedent.Review
	readers := []string{}
	for r, err := range reviews {
		if errors.Is(err, store.ErrNoReview) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if !slices.Contains([]precedent.Verdict{precedent.Clean, precedent.NoFindings, precedent.Findings}, r.Verdict) ||
			r.Scope != precedent.FullScope && engine {
			continue
		}
		asked := false
		for _, f := range r.Finders {
			analyzer := f.Engine == precedent.AnalyzerEngine
			asked = asked || f.Status.Good() && !analyzer
			if f.Status.Good() && (last == nil || !analyzer) {
				readers = append(readers, f.Name)
			}
		}
		if last == nil {
			last = r
		}
		if asked || !engine {
			break
		}
	}
	return last, readers, nil
}

// RecheckRules has the finder of the team's rules read everything again if the guide
// got rules that the last review did not check.
func RecheckRules(since *review.Since, before, guide []precedent.Rule) {
	if since == nil {
		return
	}
	for _, r := range guide {
		if !slices.ContainsFunc(before, func(old precedent.Rule) bool { return old.ID == r.ID }) {
			since.Finders = slices.DeleteFunc(since.Finders,
				func(name string) bool { return name == string(precedent.Guidelines) })
			return
		}
	}
}

// renamed maps the paths of files to those that they have at the head. Without
// an answer a file is taken to have kept its path.
func renamed(ctx context.Context, repo *git.Repo, from, head string) map[string]string {
	change, err := ReadChange(ctx, repo.Diff, git.Range{Kind: git.PullRequest, Base: from, Head: head})
	if err != nil {
		return nil
	}
	moved := map[string]string{}
	for i := range change.Files {
		if f := &change.Files[i]; f.Status == diff.Renamed {
			moved[f.OldPath] = f.Path
		}
	}
	return moved
}
