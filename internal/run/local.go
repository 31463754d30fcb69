package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// PrepareLocal fetches everything that the review of a local change needs. The repository stays the caller's.
func PrepareLocal(ctx context.Context, r *workspace.Env, repo *workspace.Repository, spec git.Spec, job Job) (*Prepared,
	error,
) {
	rg, err := repo.Git.Resolve(ctx, spec)
	if err != nil {
		return nil, err
	}
	why := ""
	if rg.BaseCommit, err = repo.Git.TrustedBase(ctx, rg, job.Settings.TrustedBranch.Value); errors.Is(err,
		git.ErrNotTrusted) {
		r.NoticeError(ctx, err, untrusted)
		why, err = err.Error()+untrusted, nil
	}
	if err != nil {
		return nil, err
	}
	if rg.Paths, err = repo.FromTop(job.Paths); err != nil {
		return nil, err
	}
	change, err := ReadChange(ctx, repo.Git.Diff, rg)
	lacks := git.Lacks(err)
	if lacks {
		if rg, err = repo.Git.LeaveOutMissing(ctx, rg); err == nil {
			change, err = ReadChange(ctx, repo.Git.Diff, rg)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := checkPaths(ctx, repo.Git, rg, rg.Base, nameFiles+"; a range comes before --", rg.Paths); err != nil {
		return nil, err
	}
	blobs := repo.Git.Blobs(ctx)
	p := New(r, repo.IDs[0], Subject{repo.Git, rg, blobs}, change, job)
	if why != "" {
		p.fail(precedent.PolicyStep, why)
	}
	if p.Input.Incomplete = lacks; lacks {
		p.fail("read change", "this clone lacks contents of changed files, which are skipped: run git fsck")
	}
	if err := p.completeLocal(ctx, repo, job); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// untrusted is what follows if the trusted branch is not known.
const untrusted = "; the guide, the policy and the configuration of linters of the repository are not used"

func (p *Prepared) completeLocal(ctx context.Context, repo *workspace.Repository, job Job) error {
	if err := p.ReadBase(ctx, true); err != nil {
		return err
	}
	left, err := repo.Git.Uncommitted(ctx, p.subject.Range)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		p.fail("work tree", err.Error()+"; it is not known what is uncommitted")
	}
	p.Input.Target.Uncommitted, p.Input.Target.Paths = left, p.subject.Range.Paths
	w, err := p.reviewer.OpenForReview(ctx, repo)
	if err != nil {
		return err
	}
	p.onClose(w.Memory.DB.Close)
	if err := p.Complete(ctx, w, job); err != nil {
		return err
	}
	return p.followLast(ctx, job)
}

const nameFiles = "name files and folders of the repository"

// checkPaths returns an error for a path of a range at which there is nothing: neither before, nor after, nor among the
// files that could not be read.
func checkPaths(ctx context.Context, repo *git.Repo, rg git.Range, before, hint string, paths []string) error {
	was, err := repo.Lookup(ctx, before, paths...)
	if err != nil {
		return err
	}
	is, err := repo.Lookup(ctx, rg.Head, paths...)
	if err != nil {
		return err
	}
	for _, name := range paths {
		unread := func(f precedent.SkippedFile) bool { return guide.AtOrBelow(name, f.Path) }
		if name != "." && was[name].ID == "" && is[name].ID == "" && !slices.ContainsFunc(rg.Skipped, unread) {
			return workspace.Hinted(fmt.Errorf("no file is at %s, or git ignores it", name), "%s", hint)
		}
	}
	return nil
}
