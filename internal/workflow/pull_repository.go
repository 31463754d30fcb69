package workflow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
)

// PullRepository is a repository whose pull requests are reviewed.
type PullRepository struct {
	*Repository
	Repo    precedent.Repo // as the forge knows it
	commits commits
}

// commits are where the commits of pull requests are fetched to.
type commits struct {
	repo    *git.Repo
	mirror  bool
	pull    func(ctx context.Context, p git.Pull) (git.Range, error)
	earlier func(ctx context.Context, p git.Pull, ids []string) []string
	close   func() error
}

// Close closes everything that was opened for it.
func (p *PullRepository) Close() {
	if p.commits.repo != p.Git {
		p.Repository.Close()
	}
	_ = p.commits.close() // what stays behind is in the cache, or in a temporary folder
}

// OpenPullRepository opens the clone around the folder of the location if it is
// one of the named repository, and a mirror of it elsewhere. The zero Repo stands
// for that of the clone. The location's Repo, if there is one, must be the same.
func (r *Reviewer) OpenPullRepository(ctx context.Context, at Location, named precedent.Repo) (*PullRepository, error) {
	if asked := at.Repo; !asked.IsZero() {
		if !named.IsZero() && !sameRepo(asked, named) {
			return nil, Hinted(fmt.Errorf("the URL is of %s, but --repo is %s", named, asked), "remove one of them")
		}
		named = asked
	}
	p, err := r.openClone(ctx, at, named)
	if errors.Is(err, errNoClone) {
		p = &PullRepository{Repository: &Repository{IDs: []precedent.Repo{named}}, Repo: named}
	} else if err != nil {
		return nil, err
	}
	if p.Git != nil && p.Git.Whole() { // a fetch can rest on it
		p.commits = commits{p.Git, false, p.Git.FetchPull, p.Git.FetchEarlier, p.Git.Close}
	} else if p.commits, err = r.mirror(ctx, p.Repo); err != nil {
		if p.Git != nil {
			p.Git.Close()
		}
		return nil, err
	}
	if p.Git == nil {
		p.Git = p.commits.repo
	}
	if err = p.findMemory(ctx, r, at.Memory); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// errNoClone says that the folder is in no clone of the repository.
var errNoClone = errors.New("no clone of the repository")

// openClone is the clone around the folder. Its memory is then the review's.
func (r *Reviewer) openClone(ctx context.Context, at Location, named precedent.Repo) (*PullRepository, error) {
	clone, err := r.openGit(ctx, at, false)
	if err != nil {
		if named.IsZero() || ctx.Err() != nil {
			return nil, Hinted(err, "give the URL of the pull request, or set --repo host/owner/name")
		}
		return nil, errNoClone
	}
	ids, err := Identities(ctx, clone, Location{Forge: at.Forge})
	switch {
	case err == nil && named.IsZero() && ids[0].IsLocal():
		err = Hinted(errors.New("the repository has no remote on a forge"), "give the URL of the pull request")
	case err == nil && (named.IsZero() || sameRepo(ids[0], named)):
		return &PullRepository{Repository: &Repository{Git: clone, IDs: ids}, Repo: ids[0]}, nil
	case err == nil && isRemote(clone, at.Forge, named):
		ids[0] = named
		return &PullRepository{Repository: &Repository{Git: clone, IDs: ids}, Repo: named}, nil
	case !named.IsZero():
		err = errNoClone
	}
	clone.Close()
	return nil, err
}

// isRemote tells whether a remote of the clone is the repository.
func isRemote(clone *git.Repo, at forge.Address, named precedent.Repo) bool {
	for _, remote := range clone.Remotes() {
		if id, err := at.Remote(remote.URL); err == nil && sameRepo(id, named) {
			return true
		}
	}
	return false
}

// sameRepo compares the way GitHub does, for which case does not matter.
func sameRepo(a, b precedent.Repo) bool { return strings.EqualFold(a.String(), b.String()) }

// mirror opens the mirror of the repository in the cache folder. Without such a
// folder, the mirror is temporary and removed when it is closed.
func (r *Reviewer) mirror(ctx context.Context, named precedent.Repo) (commits, error) {
	folder, remove := r.CacheDir, func() error { return nil }
	if folder == "" {
		var err error
		if folder, err = os.MkdirTemp(r.Git.TempDir, "precedent-mirror-"); err != nil {
			return commits{}, fmt.Errorf("make temporary folder: %w", err)
		}
		temporary := folder
		remove = func() error { return os.RemoveAll(temporary) }
	}
	m, err := git.OpenMirror(ctx, folder, fileName(named), r.Git)
	if err != nil {
		return commits{}, errors.Join(err, remove())
	}
	return commits{m.Repo, true, m.FetchPull, m.FetchEarlier, func() error { return errors.Join(m.Close(), remove()) }}, nil
}
