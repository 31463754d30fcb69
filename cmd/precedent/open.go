package main

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
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/store"
)

// openRepo opens the repository around the working folder.
func (a *app) openRepo(ctx context.Context) (*git.Repo, error) {
	dir, err := a.workingDir()
	if err != nil {
		return nil, err
	}
	o := a.gitOptions()
	o.Index = a.env["GIT_INDEX_FILE"]
	return git.Open(ctx, dir, o)
}

func (a *app) workingDir() (string, error) {
	if a.dir != "" {
		return a.dir, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find working folder: %w", err)
	}
	return dir, nil
}

func (a *app) gitOptions() git.Options {
	return git.Options{TempDir: a.env["TMPDIR"], Home: a.env["HOME"], ConfigHome: a.env["XDG_CONFIG_HOME"]}
}

// identities says whose memory it is: the one that the operator named if there is
// one, else the remote, and beside it the first commit, so that what was learned
// before there was a remote is not lost.
func identities(ctx context.Context, repo *git.Repo, named precedent.Repo) ([]precedent.Repo, error) {
	if !named.IsZero() {
		return []precedent.Repo{named}, nil
	}
	id, err := repo.Identity(ctx)
	if err != nil || id.IsLocal() {
		return []precedent.Repo{id}, err
	}
	ids := []precedent.Repo{id}
	if root, err := repo.RootCommit(ctx); err == nil {
		ids = append(ids, precedent.LocalRepo(root))
	}
	return ids, nil
}

const (
	memoryDir  = ".precedent"
	memoryName = "memory.db"
)

// memoryFile says where the memory of the repository is, and on whose word.
func (a *app) memoryFile(o *settings.Settings, repo *git.Repo, id precedent.Repo) (settings.Value[string], error) {
	if o.MemoryDB.Value != "" {
		return o.MemoryDB, nil
	}
	if top := repo.MainTop(); top != "" {
		return usualFile(filepath.Join(top, memoryDir, memoryName), "default: beside the repository"), nil
	}
	path := a.xdg("XDG_DATA_HOME", filepath.Join(".local", "share"), fileName(id)+".db")
	if path == "" {
		return settings.Value[string]{}, hinted(errors.New("find memory: there is neither a work tree nor a home folder to keep it in"), "name a file with --memory-db")
	}
	return usualFile(path, "default: no work tree"), nil
}

func usualFile(path, why string) settings.Value[string] {
	return settings.Value[string]{Value: path, Text: path, Source: settings.Source{Words: why}}
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

// workspace is what most commands work on: the repository, the operator's
// settings, and the memory.
type workspace struct {
	op       *settings.Settings
	repo     *git.Repo
	ids      []precedent.Repo       // the one that ids of findings are made from first
	file     settings.Value[string] // of the memory
	memory   *memory.Memory
	failures []precedent.Failure // what went wrong, and was gone on without
}

func (w *workspace) close() {
	if w.memory != nil {
		w.memory.DB.Close()
	}
	if w.repo != nil {
		w.repo.Close()
	}
}

// enter opens everything but the memory.
func (a *app) enter(ctx context.Context, flags map[string]string) (*workspace, error) {
	op, err := a.settings(flags)
	if err != nil {
		return nil, err
	}
	w := &workspace{op: op}
	if w.repo, err = a.openRepo(ctx); err != nil {
		return nil, err
	}
	if w.ids, err = identities(ctx, w.repo, op.Repo.Value); err != nil {
		w.close()
		return nil, err
	}
	if w.file, err = a.memoryFile(op, w.repo, w.ids[0]); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// remember enters and opens the memory. Where there is none yet, an empty one
// answers, and nothing is made on the disk.
func (a *app) remember(ctx context.Context, flags map[string]string) (*workspace, error) {
	w, err := a.enter(ctx, flags)
	if err != nil {
		return nil, err
	}
	var db *store.DB
	if _, err := os.Lstat(w.file.Value); errors.Is(err, fs.ErrNotExist) {
		db, err = store.OpenMemory(ctx, store.Options{Now: a.now})
		if err != nil {
			w.close()
			return nil, err
		}
	} else if db, err = w.open(ctx, a); err != nil {
		w.close()
		return nil, err
	}
	w.use(db, a)
	return w, nil
}

// rememberIfPossible opens the memory for a review, which goes on without it:
// then what it learns lasts until it ends, and it says so.
func (w *workspace) rememberIfPossible(ctx context.Context, a *app) error {
	db, err := w.open(ctx, a)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		w.failures = append(w.failures, precedent.Failure{Step: "memory", Error: err.Error() + "; nothing is remembered of this review"})
		a.notice("%v; the review goes on, and nothing is remembered of it", err)
		if hint := hintOf(err); hint != "" && !a.quiet {
			a.hint(hint)
		}
		if db, err = store.OpenMemory(ctx, store.Options{Now: a.now}); err != nil {
			return err
		}
	}
	w.use(db, a)
	return nil
}

func (w *workspace) use(db *store.DB, a *app) {
	w.memory = &memory.Memory{DB: db, Repo: w.ids[0], Also: w.ids[1:], Now: a.now}
}

// open opens the database in the file.
func (w *workspace) open(ctx context.Context, a *app) (*store.DB, error) {
	if top := w.repo.MainTop(); top != "" && w.file.Value == filepath.Join(top, memoryDir, memoryName) {
		if err := w.beside(ctx, a); err != nil {
			return nil, err
		}
	}
	return store.Open(ctx, w.file.Value, store.Options{Now: a.now})
}

// beside makes the memory's folder in the main work tree, with a .gitignore
// that keeps git from seeing it. Nothing of the kind may come from the
// repository: a memory that somebody committed would speak with the team's
// voice, and a link would lead our writes elsewhere.
func (w *workspace) beside(ctx context.Context, a *app) error {
	main := w.repo
	if w.repo.Top() != w.repo.MainTop() {
		var err error
		if main, err = git.Open(ctx, w.repo.MainTop(), a.gitOptions()); err != nil {
			return err
		}
		defer main.Close()
	}
	if committed, err := committedMemory(ctx, main); err != nil || committed != "" {
		return errors.Join(err, hinted(
			fmt.Errorf("open memory: %s is committed in the repository, and whoever wrote it would decide what is hidden", committed),
			"git rm --cached %s, or name another file with --memory-db", committed))
	}
	dir := filepath.Join(main.Top(), memoryDir)
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return unwritable(dir, errors.New("it is no folder"))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return unwritable(dir, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		_, err = f.WriteString("*\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return unwritable(dir, err)
	}
	return nil
}

func unwritable(dir string, err error) error {
	return hinted(fmt.Errorf("open memory in %s: %w", dir, err), "make the folder writable, or name another file with --memory-db")
}

// committedMemory names a file of the memory that the checked-out commit holds.
func committedMemory(ctx context.Context, repo *git.Repo) (string, error) {
	head, err := repo.Resolve(ctx, git.Spec{Range: "HEAD"})
	if err != nil {
		return "", nil //nolint:nilerr // no commit yet, so none that holds it
	}
	entries, err := repo.Tree(ctx, head.Head, memoryDir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Path, memoryDir+"/"+memoryName) {
			return e.Path, nil
		}
	}
	return "", nil
}
