package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/git"
)

// Commits are where the commits of pull requests are fetched to.
type Commits struct {
	Repo    *git.Repo
	Mirror  bool
	Pull    func(ctx context.Context, p git.Pull) (git.Range, error)
	Earlier func(ctx context.Context, p git.Pull, ids []string) []string
	Close   func() error
}

// SameRepo compares the way GitHub does, for which case does not matter.
func SameRepo(a, b precedent.Repo) bool { return strings.EqualFold(a.String(), b.String()) }

// Mirror opens the mirror of the repository in the cache folder. Without such a
// folder, the mirror is temporary and removed when it is closed.
func (r *Env) Mirror(ctx context.Context, named precedent.Repo) (Commits, error) {
	folder, remove := r.CacheDir, func() error { return nil }
	if folder == "" {
		var err error
		if folder, err = os.MkdirTemp(r.Git.TempDir, "precedent-mirror-"); err != nil {
			return Commits{}, fmt.Errorf("make temporary folder: %w", err)
		}
		temporary := folder
		remove = func() error { return os.RemoveAll(temporary) }
	}
	m, err := git.OpenMirror(ctx, folder, fileName(named), r.Git)
	if err != nil {
		return Commits{}, errors.Join(err, remove())
	}
	end := func() error { return errors.Join(m.Close(), remove()) }
	return Commits{m.Repo, true, m.FetchPull, m.FetchEarlier, end}, nil
}
