//go:build unix

package git

import (
	"errors"
	"os"
	"syscall"
)

// holdFile locks an open file until it is closed. It does not wait.
func holdFile(f *os.File, alone bool) (held bool, err error) {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
