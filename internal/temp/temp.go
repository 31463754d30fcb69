// Package temp keeps all temporary files of a process in one folder, which only its user
// can enter. What a process leaves that was killed, the next one removes.
package temp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	runs     = "run-" // the beginning of the names of the processes' folders
	lockName = "lock" // a file in each, which its process holds
	attempts = 100    // another process may remove the user's folder while it is empty
)

// Folder is the temporary folder of this process.
type Folder struct {
	Dir  string
	lock *os.File
}

// Open removes what killed processes left, and makes a folder for this one. It is below parent, in a folder
// that all processes of the user share, or directly in parent if somebody else has that one's name.
func Open(parent string) (*Folder, error) {
	parent, err := filepath.Abs(parent)
	if err != nil {
		return nil, fmt.Errorf("make temporary folder: %w", err)
	}
	user := filepath.Join(parent, "precedent-"+strconv.Itoa(max(os.Geteuid(), 0)))
	var f *Folder
	for range attempts {
		if f, err = open(user); err == nil || !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if errors.Is(err, errForeign) {
		f = &Folder{}
		f.Dir, err = os.MkdirTemp(parent, "precedent-")
	}
	if err != nil {
		return nil, fmt.Errorf("make temporary folder: %w", err)
	}
	return f, nil
}

var errForeign = errors.New("the folder belongs to somebody else")

func open(user string) (*Folder, error) {
	if err := os.Mkdir(user, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	info, err := os.Lstat(user)
	if err == nil && (!info.IsDir() || !isPrivate(info)) {
		err = errForeign
	}
	if err != nil {
		return nil, err
	}
	shared, err := lockFolder(user) // so that no folder is swept before it is locked
	if err != nil {
		return nil, err
	}
	defer shared.Close()
	sweep(user)
	f := &Folder{}
	if f.Dir, err = os.MkdirTemp(user, runs); err != nil {
		return nil, err
	}
	f.lock, err = os.OpenFile(filepath.Join(f.Dir, lockName), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = wait(f.lock)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// lockFolder locks the folder of the user until it is closed.
func lockFolder(user string) (*os.File, error) {
	f, err := os.Open(user)
	if err != nil {
		return nil, err
	}
	if err = wait(f); err == nil {
		var mine, there fs.FileInfo
		if mine, err = f.Stat(); err == nil {
			there, err = os.Lstat(user)
		}
		if err == nil && !os.SameFile(mine, there) {
			err = fs.ErrNotExist // it was removed meanwhile, and made again
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// sweep removes the folders whose process has ended. What cannot be removed only takes space.
func sweep(user string) {
	entries, err := os.ReadDir(user)
	if err != nil {
		return
	}
	for _, e := range entries {
		dir := filepath.Join(user, e.Name())
		if e.IsDir() && strings.HasPrefix(e.Name(), runs) && abandoned(filepath.Join(dir, lockName)) {
			_ = os.RemoveAll(dir)
		}
	}
}

// Close removes the folder with everything in it.
func (f *Folder) Close() error {
	if f.lock == nil {
		return os.RemoveAll(f.Dir)
	}
	f.lock.Close()
	err := os.RemoveAll(f.Dir)
	user := filepath.Dir(f.Dir)
	if shared, lockErr := lockFolder(user); lockErr == nil {
		defer shared.Close()
		_ = os.Remove(user) // only if it is empty
	}
	return err
}
