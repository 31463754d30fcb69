package background

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach gives the program neither a console nor the signals of this one.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}

// lock opens the file, creates it if there is none, and lets others only read it until it is closed.
func lock(path string) (*os.File, error) { return open(path, windows.OPEN_ALWAYS) }

func lockExisting(path string) (*os.File, error) { return open(path, windows.OPEN_EXISTING) }

func open(path string, mode uint32) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.FILE_SHARE_READ, nil, mode,
		windows.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
		return nil, ErrRunning
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

func unlock(f *os.File) error { return f.Close() }

// terminate ends the process: there is no signal that asks it to.
func terminate(p *os.Process) error { return p.Kill() }
