package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/store"
)

// Workspace is a repository with its memory open.
type Workspace struct {
	*Repository
	Memory   *memory.Memory
	Failures []precedent.Failure // what went wrong, and was gone on without
}

// Close closes the memory and the repository.
func (w *Workspace) Close() {
	w.Memory.DB.Close()
	w.Repository.Close()
}

// OpenWorkspace opens a repository and its memory. Where there is none yet, an
// empty one answers, and nothing is made on the disk.
func (r *Env) OpenWorkspace(ctx context.Context, at Location) (*Workspace, error) {
	p, err := r.OpenRepository(ctx, at)
	if err != nil && !at.Repo.IsZero() && ctx.Err() == nil { // its memory is in the data folder
		p = &Repository{IDs: []precedent.Repo{at.Repo}, noLearnings: at.NoLearnings}
		err = p.FindMemory(ctx, r, at.Memory)
	}
	if err == nil && !at.Repo.IsZero() {
		err = r.preferOutside(ctx, p, at)
	}
	if err != nil {
		return nil, err
	}
	if p.Foreign != nil {
		r.NoticeError(ctx, p.Foreign, "")
	}
	var db *store.DB
	if p.unborn {
		db, err = store.OpenMemory(ctx, store.Options{Now: r.Now})
	} else if r.Shared != nil {
		db = r.Shared.Borrow()
	} else if _, err = os.Lstat(p.File.Value); errors.Is(err, fs.ErrNotExist) {
		db, err = store.OpenMemory(ctx, store.Options{Now: r.Now})
	} else {
		db, err = r.OpenMemory(ctx, p)
	}
	if err != nil && at.Reads {
		if copied := r.readMemory(ctx, p, err); copied != nil {
			db, err = copied, nil
		}
	}
	var w *Workspace
	if err == nil {
		w, err = r.workspace(ctx, p, db)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return w, nil
}

// preferOutside uses the memory in the data folder for a repository that was named, where the review of its pull
// request stored it because the folder has a clone of another one; unless the memory beside that has it.
func (r *Env) preferOutside(ctx context.Context, p *Repository, at Location) error {
	top := mainTop(p.Git)
	if top == "" || p.File.Value != memoryPath(top) || r.DataDir == "" {
		return nil
	}
	outside := filepath.Join(r.DataDir, fileName(at.Repo)+".db")
	if _, err := os.Lstat(outside); err != nil {
		return nil
	}
	if _, err := os.Lstat(p.File.Value); err == nil {
		db, err := store.Open(ctx, p.File.Value, store.Options{Now: r.Now})
		if err != nil {
			return err
		}
		defer db.Close()
		if has, err := db.Has(ctx, at.Repo); has || err != nil {
			return err
		}
	}
	p.File.Value, p.File.Text = outside, outside
	p.File.Source.Words = "default: not a clone of " + at.Repo.String()
	return nil
}

// OpenForReview opens the memory for a review, which goes on without it unless that is shared: then what it
// learns lasts until it ends, and it says so.
func (r *Env) OpenForReview(ctx context.Context, p *Repository) (*Workspace, error) {
	if p.unborn {
		r.Notice(ctx, "the repository has no commit and no remote yet, so this review is not stored")
		db, err := store.OpenMemory(ctx, store.Options{Now: r.Now})
		if err != nil {
			return nil, err
		}
		return r.workspace(ctx, p, db)
	}
	var failures []precedent.Failure
	if p.Foreign != nil {
		r.NoticeError(ctx, p.Foreign, "")
		failures = append(failures, precedent.Failure{Step: "memory", Error: p.Foreign.Error()})
	}
	db, err := r.OpenMemory(ctx, p)
	if err == nil {
		var w *Workspace
		if w, err = r.workspace(ctx, p, db); err == nil {
			w.Failures = failures
			return w, nil
		}
	}
	if ctx.Err() != nil || r.Shared != nil { // a server tries again: it would post what people dismissed
		return nil, err
	}
	failure := precedent.Failure{Step: "memory", Error: err.Error() + "; this review is not stored"}
	r.NoticeError(ctx, err, "; the review continues, but is not stored")
	if db = r.readMemory(ctx, p, err); db != nil {
		failure.Error += "; earlier reviews and dismissals are used"
	} else if db, err = store.OpenMemory(ctx, store.Options{Now: r.Now}); err != nil {
		return nil, err
	}
	w, err := r.workspace(ctx, p, db)
	if err != nil {
		return nil, err
	}
	w.Failures = append(failures, failure)
	return w, nil
}

// readMemory opens a copy of a memory that cannot be written, for this process only: in a
// review, what people dismissed stays hidden. It returns nil if it cannot be read, either.
func (r *Env) readMemory(ctx context.Context, p *Repository, cause error) *store.DB {
	if !errors.Is(cause, store.ErrUnwritable) {
		return nil
	}
	db, err := store.OpenCopy(ctx, p.File.Value, r.Git.TempDir, store.Options{Now: r.Now})
	if err != nil {
		return nil
	}
	return db
}

// workspace finds the rows of a repository in a database, which it closes if that fails.
func (r *Env) workspace(ctx context.Context, p *Repository, db *store.DB) (*Workspace, error) {
	w := &Workspace{Repository: p, Memory: &memory.Memory{
		DB: db, Repo: p.IDs[0], Aliases: p.IDs[1:], Now: r.Now, LearningsOff: p.noLearnings, Log: r.Log,
	}}
	if err := w.Memory.Open(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return w, nil
}

// OpenMemory opens the database that all repositories share, else the one in the repository's
// file, and makes it if there is none. If the memory is off, it opens an empty one that is gone when it is closed.
func (r *Env) OpenMemory(ctx context.Context, p *Repository) (*store.DB, error) {
	if r.Shared != nil {
		return r.Shared.Borrow(), nil
	}
	if p.File.Value == "" {
		return store.OpenMemory(ctx, store.Options{Now: r.Now})
	}
	top := mainTop(p.Git)
	beside := top != "" && p.File.Value == memoryPath(top)
	if beside {
		if err := makeMemoryFolder(filepath.Dir(p.File.Value)); err != nil {
			return nil, err
		}
	}
	db, err := store.Open(ctx, p.File.Value, store.Options{Now: r.Now})
	if err == nil && beside && p.Own {
		if err = r.keepIdentity(ctx, p, db); err != nil {
			db.Close()
		}
	}
	return db, err
}

// keepIdentity lets the memory beside a clone stay that of the clone, whatever its remotes are called.
func (r *Env) keepIdentity(ctx context.Context, p *Repository, db *store.DB) error {
	current, root := p.IDs[0], precedent.Repo{}
	if last := p.IDs[len(p.IDs)-1]; last.IsLocal() {
		root = last
	}
	kept, err := db.KeepIdentity(ctx, current, root)
	switch {
	case err != nil:
		return err
	case kept.Joined:
		r.Notice(ctx, "the memory of this clone is now also that of %s", current)
	case len(kept.Other) > 0:
		what, err := countOf(ctx, db, kept.Other[0])
		if err != nil {
			return err
		}
		r.NoticeError(ctx, Hinted(fmt.Errorf("the memory of this folder has %s under the name of %s", what, kept.Other[0]),
			"if that is this repository, run precedent memory adopt %s", kept.Other[0]), "")
	}
	return nil
}

// makeMemoryFolder creates a memory's folder, with a .gitignore that hides it from git.
func makeMemoryFolder(dir string) error {
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
	return Hinted(fmt.Errorf("open memory in %s: %w", dir, err),
		"make the folder writable, or set another file with --memory-db")
}

// fixesDir holds, beside the memory, the patches that take fixes back.
const fixesDir = "fixes"

// KeepPatch stores the patch of a review's fixes next to the memory, so that they can
// be undone, and returns its path.
func (p *Repository) KeepPatch(review string, patch []byte) (string, error) {
	if p.File.Value == "" {
		return "", Hinted(errors.New("there is no memory to keep the patch beside"), "set a file with --memory-db")
	}
	dir := filepath.Join(filepath.Dir(p.File.Value), fixesDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", unwritable(dir, err)
	}
	path := filepath.Join(dir, review+".patch")
	if err := os.WriteFile(path, patch, 0o600); err != nil {
		return "", unwritable(dir, err)
	}
	return path, nil
}
