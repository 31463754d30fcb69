//go:build unix

package local

import (
	"errors"
	"os"
	"syscall"
)

// holdFile tries to lock an open file until it is closed.
func holdFile(f *os.File) (held bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}

// syncFolder makes a new name in a folder survive a power failure.
func syncFolder(top *os.Root, name string) error {
	dir, err := top.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
