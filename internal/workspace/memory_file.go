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
