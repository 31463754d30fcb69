package git

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// place is where the parts of a repository are. Paths are absolute.
type place struct {
	gitDir    string // per work tree: HEAD, index
	commonDir string // shared by work trees: objects, refs, config
	top       string // the work tree; empty if bare
	mainTop   string // the main work tree; empty if there is none
	linked    bool   // gitDir belongs to a linked work tree
}

// find searches dir and its parents for a repository. It reads a few small files and runs nothing.
// Configuration that moves the work tree is ignored: the work tree is where its .git is.
func find(dir string) (place, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err == nil {
		var fi fs.FileInfo
		if fi, err = os.Stat(abs); err == nil && !fi.IsDir() {
			err = fmt.Errorf("%s is not a folder", dir)
		}
	}
	if err != nil {
		return place{}, &Error{Op: "open repository", Msg: printable(err.Error()), Err: err}
	}
	bare := ""
	for d := abs; ; d = filepath.Dir(d) {
		gitDir, err := dotGit(d)
		if err != nil {
			return place{}, err
		}
		if gitDir != "" {
			return newPlace(gitDir, d), nil
		}
		if bare == "" && isGitDir(d) {
			bare = d
		}
		if d == filepath.Dir(d) {
			break
		}
	}
	if bare != "" {
		return place{gitDir: bare, commonDir: commonDir(bare)}, nil
	}
	return place{}, hinted("open repository", printable(abs)+" is not inside a git repository",
		"run this in a clone, or create a repository here: git init")
}

// WorkTree returns the top of the work tree around a folder, "" if there is none.
func WorkTree(dir string) string {
	where, _ := find(dir) // without one, it has no top
	return where.top
}

// dotGit returns the folder that d's .git is or points at, or "" if d has none.
func dotGit(d string) (string, error) {
	dot := filepath.Join(d, ".git")
	fi, err := os.Stat(dot)
	switch {
	case err != nil:
		return "", nil //nolint:nilerr // an unreadable path is not a repository
	case fi.IsDir():
		if isGitDir(dot) {
			return dot, nil
		}
		return "", nil
	case !fi.Mode().IsRegular():
		return "", nil
	}
	text, err := readRegular(dot, 1<<16)
	if err != nil {
		return "", nil //nolint:nilerr // as above
	}
	target, ok := strings.CutPrefix(string(text), "gitdir: ")
	if !ok {
		return "", nil
	}
	target = strings.TrimRight(target, "\r\n")
	if !filepath.IsAbs(target) {
		target = filepath.Join(d, target)
	}
	if !isGitDir(target) {
		return "", hinted("open repository",
			printable(dot)+" points at "+printable(target)+", which is not a repository",
			"if the main clone was moved, run this in it: git worktree repair")
	}
	return target, nil
}

// newPlace fills in a place from a work tree and its git folder.
func newPlace(gitDir, top string) place {
	p := place{gitDir: gitDir, commonDir: commonDir(gitDir), top: top, mainTop: top}
	if p.commonDir == p.gitDir {
		return p
	}
	// A linked work tree's folder is in worktrees/ of the shared one and names the work tree. Only then is
	// the shared folder's owner taken for the main work tree, because memory is written there.
	back, err := readRegular(filepath.Join(gitDir, "gitdir"), 1<<16)
	if err != nil || !sameFile(strings.TrimRight(string(back), "\r\n"), filepath.Join(top, ".git")) ||
		!sameFile(filepath.Dir(gitDir), filepath.Join(p.commonDir, "worktrees")) {
		return p
	}
	p.linked, p.mainTop = true, ""
	if filepath.Base(p.commonDir) == ".git" {
		p.mainTop = filepath.Dir(p.commonDir)
	}
	return p
}

// commonDir returns the folder with the objects and refs of a git folder.
func commonDir(gitDir string) string {
	text, err := readRegular(filepath.Join(gitDir, "commondir"), 1<<16)
	if err != nil {
		return gitDir
	}
	common := strings.TrimRight(string(text), "\r\n")
	if !filepath.IsAbs(common) {
		common = filepath.Join(gitDir, common)
	}
	return filepath.Clean(common)
}

// isGitDir reports whether d looks like a git folder, by git's own rule.
func isGitDir(d string) bool {
	if _, err := os.Lstat(filepath.Join(d, "HEAD")); err != nil {
		return false
	}
	common := commonDir(d)
	return isDir(filepath.Join(common, "objects")) && isDir(filepath.Join(common, "refs"))
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

func sameFile(a, b string) bool {
	fa, errA := os.Stat(a)
	fb, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(fa, fb)
}

var errIrregular = errors.New("not a regular file")

// openRegular opens a file without blocking. It refuses a FIFO.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, errIrregular)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, fi, nil
}

// readRegular reads a small file of a git folder.
func readRegular(path string, max int64) ([]byte, error) {
	f, _, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err == nil && int64(len(data)) > max {
		err = fmt.Errorf("%s: %w", path, ErrTooLarge)
	}
	return data, err
}
