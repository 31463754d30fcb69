package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/git"
)

// desk is the workspace for a pull request.
type desk struct {
	*workspace
	named  precedent.Repo // whose pull request it is
	clone  *git.Repo      // nil outside of a clone that a fetch can rest on
	mirror *git.Mirror    // nil until it is needed
	folder string         // of the mirror, if it goes with it; else empty
}

func (d *desk) close() {
	if d.workspace != nil {
		d.workspace.close()
	}
	if d.mirror != nil {
		d.mirror.Close()
	}
	if d.folder != "" {
		os.RemoveAll(d.folder)
	}
}

// desk opens the clone around the working folder if it is one of the named
// repository, and its mirror in the cache elsewhere.
func (a *app) desk(ctx context.Context, flags map[string]string, named precedent.Repo) (*desk, error) {
	op, err := a.settings(flags)
	if err != nil {
		return nil, err
	}
	if repo := op.Repo.Value; !repo.IsZero() {
		if !named.IsZero() && !sameRepo(repo, named) {
			return nil, hinted(fmt.Errorf("the URL is of %s, and --repo says %s", named, repo), "leave one of them out")
		}
		named = repo
	}
	d := &desk{workspace: &workspace{op: op}, named: named}
	clone, err := a.openRepo(ctx)
	if err != nil && (named.IsZero() || ctx.Err() != nil) {
		return nil, hinted(err, "name the pull request by its URL, or the repository by --repo host/owner/name")
	}
	if err == nil {
		ids, err := identities(ctx, clone, precedent.Repo{})
		if err == nil && named.IsZero() {
			if d.named = ids[0]; d.named.IsLocal() {
				err = hinted(errors.New("the repository has no remote that names a forge"), "name the pull request by its URL")
			}
		}
		if err != nil && named.IsZero() {
			clone.Close()
			return nil, err
		}
		if err == nil && d.isClone(clone, ids) {
			d.repo = clone
			if clone.Whole() {
				d.clone = clone
			}
		} else {
			clone.Close()
		}
	}
	if d.repo == nil {
		if err := d.openMirror(ctx, a); err != nil {
			d.close()
			return nil, err
		}
		d.repo, d.ids = d.mirror.Repo, []precedent.Repo{d.named}
	}
	if d.file, err = a.memoryFile(op, d.repo, d.ids[0]); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// isClone tells whether a remote of the clone is the named repository. The
// clone's memory is then this review's.
func (d *desk) isClone(clone *git.Repo, ids []precedent.Repo) bool {
	if sameRepo(ids[0], d.named) {
		d.named, d.ids = ids[0], ids
		return true
	}
	for _, remote := range clone.Remotes() {
		if id, err := precedent.ParseRepo(remote.URL); err == nil && sameRepo(id, d.named) {
			d.ids = append([]precedent.Repo{d.named}, ids[1:]...)
			return true
		}
	}
	return false
}

// sameRepo compares the way GitHub does, for which case does not matter.
func sameRepo(a, b precedent.Repo) bool { return strings.EqualFold(a.String(), b.String()) }

// openMirror opens the mirror of the named repository in the cache folder, or
// one that goes with the process where there is no such folder.
func (d *desk) openMirror(ctx context.Context, a *app) error {
	folder := filepath.Dir(a.xdg("XDG_CACHE_HOME", ".cache", "x"))
	if folder == "." {
		var err error
		if d.folder, err = os.MkdirTemp(a.env["TMPDIR"], "precedent-mirror-"); err != nil {
			return fmt.Errorf("make temporary folder: %w", err)
		}
		folder = d.folder
	}
	var err error
	d.mirror, err = git.OpenMirror(ctx, folder, fileName(d.named), a.gitOptions())
	return err
}
