package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/text"
)

// Location says where to find a repository and its memory.
type Location struct {
	Dir   string         // the working folder
	Index string         // git.Options.Index
	Repo  precedent.Repo // the identity that the operator set; the zero Repo for the one of the remote
	// Forge is the operator's. It says which remotes are on it.
	Forge  forge.Address
	Memory settings.Value[string] // the file that the operator named; the zero Value for none
	Reads  bool                   // a memory that cannot be written is read from a copy
	// Forget turns the memory off: reviews recall nothing and store nothing.
	Forget bool
	// NoLearnings turns learnings off: reviews use none, and none is saved.
	NoLearnings bool
}

// Repository is an open repository, and where its memory is kept.
type Repository struct {
	Git *git.Repo // nil for the memory of a repository without a clone
	// IDs are its identities. Ids of findings are made from the first.
	IDs  []precedent.Repo
	File settings.Value[string] // the memory's, and who named it; the zero Value if the memory is off
	// Foreign is why the memory is not beside the repository, although there is a work tree;
	// nil if it is, or if the operator named a file.
	Foreign error
	// Own tells that the first identity is what the clone is called now, not that of a pull request elsewhere.
	Own         bool
	noLearnings bool   // that of the location
	dir         string // the working folder, without links
	// unborn means that there is neither a remote nor a commit to name it by.
	unborn bool
}

// Options are those that a command needs to use the same memory in the same folder, each after a space; empty if it
// needs none.
func (p *Repository) Options() string {
	options := ""
	if !p.Own && !p.IDs[0].IsLocal() {
		options = " --repo " + p.IDs[0].String()
	}
	if p.File.Source.By == settings.Flag {
		options += " --memory-db " + text.ShellWord(p.File.Text)
	}
	return options
}

// Close closes it.
func (p *Repository) Close() {
	if p.Git != nil {
		p.Git.Close()
	}
}

// OpenRepository opens the repository around the folder of the location.
func (r *Env) OpenRepository(ctx context.Context, at Location) (*Repository, error) {
	repo, err := r.OpenGit(ctx, at, true)
	if err != nil {
		return nil, err
	}
	p := &Repository{Git: repo, dir: at.Dir, noLearnings: at.NoLearnings}
	if dir, err := filepath.EvalSymlinks(at.Dir); err == nil {
		p.dir = dir
	}
	if p.IDs, err = Identities(ctx, repo, at); errors.Is(err, git.ErrNoCommits) {
		p.IDs, p.unborn, err = []precedent.Repo{precedent.LocalRepo("unborn")}, true, nil
	}
	p.Own = at.Repo.IsZero()
	if err == nil && !at.Forget {
		err = p.FindMemory(ctx, r, at.Memory)
	}
	if err != nil {
		repo.Close()
		return nil, err
	}
	return p, nil
}

// OpenGit opens a clone. Lazy is for reviews of local changes: what a pull request needs
// is fetched into a mirror if the clone is partial.
func (r *Env) OpenGit(ctx context.Context, at Location, lazy bool) (*git.Repo, error) {
	o := r.Git
	o.Index, o.Lazy = at.Index, o.Lazy && lazy
	return git.Open(ctx, at.Dir, o)
}

// Identities returns the identities under which the memory stores a repository: only
// the location's Repo if set, else the remote and the first commit, so that what was
// learned before the remote was added is not lost.
func Identities(ctx context.Context, repo *git.Repo, at Location) ([]precedent.Repo, error) {
	if !at.Repo.IsZero() {
		return []precedent.Repo{at.Repo}, nil
	}
	id, err := repo.Identity(ctx, at.Forge.Remote)
	if err != nil || id.IsLocal() {
		return []precedent.Repo{id}, err
	}
	ids := []precedent.Repo{id}
	if root, err := repo.RootCommit(ctx); err == nil {
		ids = append(ids, precedent.LocalRepo(root))
	}
	return ids, nil
}

// fileName makes a file's name of an identity: readable, and unique by a hash.
func fileName(id precedent.Repo) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '-'
	}, id.String())
	sum := sha256.Sum256([]byte(id.String()))
	return strings.TrimLeft(clean[max(0, len(clean)-80):], ".") + "-" + hex.EncodeToString(sum[:4])
}

// FromTop returns paths that are relative to the working folder as git names them. An absolute path may lead to the
// work tree over links, as below a home folder that is one.
func (p *Repository) FromTop(paths []string) ([]string, error) {
	resolved := func(path string) string {
		if found, err := filepath.EvalSymlinks(path); err == nil {
			return found
		}
		return path
	}
	var named []string
	for _, one := range paths {
		full := one
		if !filepath.IsAbs(full) {
			full = filepath.Join(p.dir, one)
		}
		name, ok := "", false
		for _, at := range []string{full, filepath.Join(resolved(filepath.Dir(full)), filepath.Base(full)), resolved(full)} {
			rel, err := filepath.Rel(p.Git.Top(), at)
			if name = filepath.ToSlash(rel); err == nil && p.Git.Top() != "" && fs.ValidPath(name) {
				ok = true
				break
			}
		}
		if !ok {
			return nil, Hinted(fmt.Errorf("%s is not in the work tree", one), "give files and folders of the repository")
		}
		named = append(named, name)
	}
	return named, nil
}

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
