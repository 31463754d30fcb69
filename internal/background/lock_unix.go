//go:build unix

package background

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// detach gives the program a session of its own: signals of the terminal do not reach it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// lock opens the file, creates it if there is none, and locks it until it is closed.
func lock(path string) (*os.File, error) { return open(path, os.O_CREATE) }

func lockExisting(path string) (*os.File, error) { return open(path, 0) }

func open(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|flags, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrRunning
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// unlock closes a locked file. A process that is being started has the file, too, for a moment, so
// closing it does not end the lock at once.
func unlock(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
