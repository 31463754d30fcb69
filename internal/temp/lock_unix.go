//go:build unix

package temp

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// IsOwn reports whether a file or folder belongs to this user.
func IsOwn(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(s.Uid) == int64(os.Geteuid())
}

// isPrivate reports whether a folder belongs to this user, and only the user can enter it.
func isPrivate(info fs.FileInfo) bool { return IsOwn(info) && info.Mode().Perm()&0o077 == 0 }

// wait locks an open file until it is closed.
func wait(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// abandoned reports whether no living process holds the lock.
func abandoned(lock string) bool {
	f, err := os.OpenFile(lock, os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
