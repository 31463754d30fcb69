package workflow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/guide"
)

// PrepareLocal fetches everything that the review of a local change needs. The
// repository stays the caller's.
func (r *Reviewer) PrepareLocal(ctx context.Context, repo *Repository, spec git.Spec, job Job) (*Prepared, error) {
	rg, err := repo.Git.Resolve(ctx, spec)
	if err != nil {
		return nil, err
	}
	why := ""
	if rg.BaseCommit, err = repo.Git.TrustedBase(ctx, rg, job.Settings.TrustedBranch.Value); errors.Is(err, git.ErrNotTrusted) {
		r.noticeError(ctx, err, untrusted)
		why, err = err.Error()+untrusted, nil
	}
	if err != nil {
		return nil, err
	}
	if rg.Paths, err = repo.fromTop(job.Paths); err != nil {
		return nil, err
	}
	change, err := readChange(ctx, repo.Git.Diff, rg)
	if err != nil {
		return nil, err
	}
	if err := checkPaths(ctx, repo.Git, rg, change); err != nil {
		return nil, err
	}
	blobs, err := repo.Git.Blobs(ctx)
	if err != nil {
		return nil, err
	}
	p := r.newPrepared(repo.IDs[0], subject{repo.Git, rg, blobs}, change, job)
	if why != "" {
		p.fail(precedent.PolicyStep, why)
	}
	if err := p.completeLocal(ctx, repo, job); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// untrusted is what follows if the trusted branch is not known.
const untrusted = "; the guide, the policy and the configuration of linters of the repository are not used"

func (p *Prepared) completeLocal(ctx context.Context, repo *Repository, job Job) error {
	if err := p.readBase(ctx, true); err != nil {
		return err
	}
	left, err := repo.Git.Uncommitted(ctx, p.subject.rg)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		p.fail("work tree", err.Error()+"; it is not known what is uncommitted")
	}
	p.Input.Target.Uncommitted, p.Input.Target.Paths = left, p.subject.rg.Paths
	w, err := p.reviewer.openForReview(ctx, repo)
	if err != nil {
		return err
	}
	p.onClose(w.Memory.DB.Close)
	if err := p.complete(ctx, w, job); err != nil {
		return err
	}
	return p.followLast(ctx, job)
}

// fromTop returns paths that are relative to the working folder as git names them.
func (p *Repository) fromTop(paths []string) ([]string, error) {
	var named []string
	for _, one := range paths {
		full := one
		if !filepath.IsAbs(full) {
			full = filepath.Join(p.dir, one)
		}
		name, err := filepath.Rel(p.Git.Top(), full)
		if name = filepath.ToSlash(name); err != nil || p.Git.Top() == "" || !fs.ValidPath(name) {
			return nil, Hinted(fmt.Errorf("%s is not in the work tree", one), "give files and folders of the repository")
		}
		named = append(named, name)
	}
	return named, nil
}

// checkPaths returns an error for a path that no file of the change is at or below,
// and no other file.
func checkPaths(ctx context.Context, repo *git.Repo, rg git.Range, change *diff.Change) error {
	changed := pathsOf(change)
	for _, name := range rg.Paths {
		if name == "." || slices.ContainsFunc(changed, func(file string) bool { return guide.AtOrBelow(name, file) }) {
			continue
		}
		entries, err := repo.Tree(ctx, rg.Head, name)
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			return Hinted(fmt.Errorf("no file is at %s", name), "name files and folders after --, and a range before it")
		}
	}
	return nil
}
