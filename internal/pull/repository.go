package pull

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// Repository is a repository whose pull requests are reviewed.
type Repository struct {
	*workspace.Repository
	Repo    precedent.Repo // as the forge knows it
	commits workspace.Commits
}

// Close closes everything that was opened for it.
func (p *Repository) Close() {
	if p.commits.Repo != p.Git {
		p.Repository.Close()
	}
	_ = p.commits.Close() // what stays behind is in the cache, or in a temporary folder
}

// OpenRepository opens the clone around the folder of the location if it is
// one of the named repository, and a mirror of it elsewhere. The zero Repo stands
// for that of the clone. The location's Repo, if there is one, must be the same.
func OpenRepository(ctx context.Context, r *workspace.Env, at workspace.Location, named precedent.Repo) (*Repository,
	error,
) {
	if asked := at.Repo; !asked.IsZero() {
		if !named.IsZero() && !workspace.SameRepo(asked, named) {
			return nil, workspace.Hinted(fmt.Errorf("the URL is of %s, but --repo is %s", named, asked), "remove one of them")
		}
		named = asked
	}
	p, err := openClone(ctx, r, at, named)
	if errors.Is(err, errNoClone) {
		p = &Repository{Repository: &workspace.Repository{IDs: []precedent.Repo{named}}, Repo: named}
	} else if err != nil {
		return nil, err
	}
	if p.Git != nil && p.Git.Whole() { // a fetch can rest on it
		p.commits = workspace.Commits{Repo: p.Git, Pull: p.Git.FetchPull, Earlier: p.Git.FetchEarlier, Close: p.Git.Close}
	} else if p.commits, err = r.Mirror(ctx, p.Repo); err != nil {
		if p.Git != nil {
			p.Git.Close()
		}
		return nil, err
	}
	if p.Git == nil {
		p.Git = p.commits.Repo
	}
	if err = p.FindMemory(ctx, r, at.Memory); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// errNoClone says that the folder is in no clone of the repository.
var errNoClone = errors.New("no clone of the repository")

// openClone is the clone around the folder. Its memory is then the review's.
func openClone(ctx context.Context, r *workspace.Env, at workspace.Location, named precedent.Repo) (*Repository,
	error,
) {
	clone, err := r.OpenGit(ctx, at, false)
	if err != nil {
		if named.IsZero() || ctx.Err() != nil {
			return nil, workspace.Hinted(err, "give the URL of the pull request, or set --repo host/owner/name")
		}
		return nil, errNoClone
	}
	ids, err := workspace.Identities(ctx, clone, workspace.Location{Forge: at.Forge})
	switch {
	case err == nil && named.IsZero() && ids[0].IsLocal():
		err = workspace.Hinted(errors.New("the repository has no remote on a forge"), "give the URL of the pull request")
	case err == nil && (named.IsZero() || workspace.SameRepo(ids[0], named)):
		return &Repository{Repository: &workspace.Repository{Git: clone, IDs: ids, Own: true}, Repo: ids[0]}, nil
	case err == nil && isRemote(clone, at.Forge, named):
		ids[0] = named
		return &Repository{Repository: &workspace.Repository{Git: clone, IDs: ids}, Repo: named}, nil
	case !named.IsZero():
		err = errNoClone
	}
	clone.Close()
	return nil, err
}

func isRemote(clone *git.Repo, at forge.Address, named precedent.Repo) bool {
	return slices.ContainsFunc(clone.Remotes(), func(remote git.Remote) bool {
		id, err := at.Remote(remote.URL)
		return err == nil && workspace.SameRepo(id, named)
	})
}
