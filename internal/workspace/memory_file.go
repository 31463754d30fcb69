package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/temp"
)

const (
	memoryDir = ".precedent"
	// MemoryName is the name of the file of a memory.
	MemoryName = "memory.db"
)

// memoryFiles are what a memory's folder may hold, besides git's own.
var memoryFiles = []string{
	MemoryName, MemoryName + "-wal", MemoryName + "-shm", MemoryName + "-journal", ".gitignore", fixesDir,
}

func memoryPath(top string) string { return filepath.Join(top, memoryDir, MemoryName) }

// FindMemory sets the file of the memory.
func (p *Repository) FindMemory(ctx context.Context, r *Env, named settings.Value[string]) (err error) {
	if r.Shared != nil {
		return nil
	}
	p.File, p.Foreign, err = r.MemoryFile(ctx, named, p.Git, p.IDs[0])
	return err
}

// MemoryFile returns the file of the memory: the named one, else the one in the main work tree, else one in
// the data folder. The work tree's is only used if nobody else can have made it; otherwise foreign says why
// not. Without a data folder the file is then the zero Value, for no memory. The repository may be nil.
func (r *Env) MemoryFile(ctx context.Context, named settings.Value[string], repo *git.Repo,
	id precedent.Repo,
) (file settings.Value[string], foreign, err error) {
	if named.Value != "" {
		return named, nil, nil
	}
	at := func(path, why string) settings.Value[string] {
		return settings.Value[string]{Value: path, Text: path, Source: settings.Source{Words: "default: " + why}}
	}
	outside, top := filepath.Join(r.DataDir, fileName(id)+".db"), mainTop(repo)
	if top == "" {
		if r.DataDir == "" {
			err = Hinted(errors.New("find memory: there is neither a work tree nor a home folder for it"),
				"set a file with --memory-db")
		}
		return at(outside, "no work tree"), nil, err
	}
	hint, cause := r.foreignMemory(ctx, repo)
	switch {
	case ctx.Err() != nil:
		return file, nil, ctx.Err()
	case cause == nil:
		return at(memoryPath(top), "beside the repository"), nil, nil
	case r.DataDir == "":
		return file, Hinted(fmt.Errorf("the memory in %s is not used: %w; there is no home folder for another one, so "+
			"nothing is stored", memoryDir, cause), "%s", hint), nil
	}
	return at(outside, "not beside the repository"),
		Hinted(fmt.Errorf("the memory in %s is not used: %w; %s is used instead", memoryDir, cause, outside), "%s", hint), nil
}

// mainTop is the main work tree of a repository, which may be nil; empty for none.
func mainTop(repo *git.Repo) string {
	if repo == nil {
		return ""
	}
	return repo.MainTop()
}

// foreignMemory returns why somebody else may have made the memory beside the repository, or
// may redirect what is written to it, as an error, and what to do about it. The author of a
// commit could otherwise decide what is hidden.
func (r *Env) foreignMemory(ctx context.Context, repo *git.Repo) (hint string, cause error) {
	const again = "to use it again, rename the folder (mv " + memoryDir + " precedent.away)"
	main := repo
	if repo.Top() != repo.MainTop() {
		var err error
		if main, err = git.Open(ctx, repo.MainTop(), r.Git); err != nil {
			return "", err
		}
		defer main.Close()
	}
	tracked, err := main.Tracked(ctx, memoryDir, guide.LearningsFile)
	switch {
	case err != nil:
		return "", err
	case tracked != "":
		return again + ", run git rm -r --cached " + memoryDir + " and commit that: a new memory starts there",
			fmt.Errorf("git tracks %q, so that commits can change it", tracked)
	}
	dir := filepath.Join(main.Top(), memoryDir)
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a folder")
	}
	if err == nil {
		if _, inner := os.Lstat(filepath.Join(dir, ".git")); inner == nil {
			err = errors.New("it is a repository of its own")
		}
	}
	for _, name := range append([]string{"."}, memoryFiles...) {
		if err == nil {
			err = checkOwn(filepath.Join(dir, name))
		}
	}
	return again + ": a new memory starts there", err
}

// checkOwn returns an error for a link, for anything else that is neither a file nor a folder,
// and for what belongs to another user.
func checkOwn(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular() && !info.IsDir():
		return fmt.Errorf("%s is a link or a device", filepath.Base(path))
	case !temp.IsOwn(info):
		return fmt.Errorf("%s belongs to another user", filepath.Base(path))
	}
	return nil
}

// Suffixes of the file of a memory: as it was before Adopt, and before UndoAdopt.
const (
	beforeAdopt = ".before-adopt"
	beforeUndo  = ".before-undo"
)

// OtherMemory is what the file of a memory has under another name.
type OtherMemory struct {
	Name precedent.Repo `json:"name"`
	Has  string         `json:"has"` // counts, for people
}

func countOf(ctx context.Context, db *store.DB, name precedent.Repo) (string, error) {
	rows, err := db.RepoFor(ctx, name)
	if err != nil {
		return "", err
	}
	c, err := rows.Count(ctx)
	return Count(c.Findings, "finding", "findings") + ", " + Count(c.Dismissals, "dismissal", "dismissals") + " and " +
		Count(c.Learnings, "learning", "learnings"), err
}

// OtherMemories lists what a database has under names that are not the current one's. It makes no rows.
func OtherMemories(ctx context.Context, db *store.DB, current precedent.Repo) ([]OtherMemory, error) {
	names, err := db.NamesOfOthers(ctx, current)
	var others []OtherMemory
	for _, name := range names {
		has, err := countOf(ctx, db, name)
		if err != nil {
			return nil, err
		}
		others = append(others, OtherMemory{name, has})
	}
	return others, err
}

// ownFileOf returns the file of a memory that only this clone uses, the one in which names can be joined.
func ownFileOf(w *Workspace) (string, error) {
	if w.Git == nil || w.File.Source.By != settings.Default || w.File.Value != memoryPath(mainTop(w.Git)) ||
		!w.Memory.DB.Kept() {
		return "", Hinted(errors.New("names are joined only in the memory beside a clone"),
			"in a memory of several repositories, use precedent memory export and import")
	}
	return w.File.Value, nil
}

// Adopt makes what the memory beside the clone has under another name the clone's own. The file as it was is kept for
// UndoAdopt. The error wraps store.ErrNoRepo if there is nothing under that name.
func (r *Env) Adopt(ctx context.Context, w *Workspace, name precedent.Repo) error {
	file, err := ownFileOf(w)
	if err != nil {
		return err
	}
	kept := file + beforeAdopt
	if err := w.Memory.DB.Copy(ctx, kept+".new"); err != nil {
		return err
	}
	if err := w.Memory.DB.Adopt(ctx, w.IDs[0], name); err != nil { // the copy of an earlier one stays
		return errors.Join(err, os.Remove(kept+".new"))
	}
	return os.Rename(kept+".new", kept)
}

// UndoAdopt brings the file of the memory back as it was before Adopt, and closes the memory. It returns the file with
// what the memory had until now.
func (r *Env) UndoAdopt(w *Workspace) (until string, err error) {
	file, err := ownFileOf(w)
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(file + beforeAdopt); err != nil {
		return "", Hinted(errors.New("nothing was adopted here"), "precedent memory adopt lists what there is")
	}
	w.Memory.DB.Close()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(file+suffix, file+beforeUndo+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return file + beforeUndo, os.Rename(file+beforeAdopt, file)
}
