package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/store"
)

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
	others := []OtherMemory{}
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
