//go:build amd64 || arm64

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// first is process 1 of a sandbox. It starts in new namespaces, builds the sandbox from inside (unless
// bubblewrap did), starts the last stage and lives as long as it does. When process 1 ends, the kernel ends
// all others. It also ends when the other end of its pipe is closed, because then the program that ordered
// the sandbox is gone. The command may have the same user, so no process may trace this one.
func first() (int, error) {
	// Processes in the sandbox cannot end it. Ignored signals would stay ignored in the command.
	signal.Notify(make(chan os.Signal, 1))
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return 0, err
	}
	unix.Umask(0)
	orders := os.NewFile(orderFD, "order")
	o, err := readOrder(orders)
	if err != nil {
		return 0, err
	}
	go func() {
		_, _ = io.Copy(io.Discard, orders)
		os.Exit(orphaned)
	}()
	if o.Sealed {
		return o.startLast()
	}
	if err := o.build(); err != nil {
		return 0, err
	}
	if err := loopbackUp(); err != nil {
		return 0, fmt.Errorf("bring up loopback: %w", err)
	}
	if err := unix.Sethostname([]byte("box")); err != nil {
		return 0, fmt.Errorf("set the host name: %w", err)
	}
	return o.startLast()
}

const orphaned = 125 // nothing reads it

// startLast starts the last stage and waits for it.
func (o order) startLast() (int, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{self, "last"}, &syscall.ProcAttr{
		Env:   []string{},
		Files: []uintptr{0, 1, 2, read.Fd(), statusFD},
	})
	if err != nil {
		return 0, fmt.Errorf("start the last stage: %w", err)
	}
	_ = read.Close()
	_ = unix.Close(statusFD)
	go func() {
		_ = json.NewEncoder(write).Encode(o) // the stage reports what is missing
		_ = write.Close()
	}()
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, fmt.Errorf("wait for the command: %w", err)
		case ended != pid:
		case status.Signaled():
			return 128 + int(status.Signal()), nil
		default:
			return status.ExitStatus(), nil
		}
	}
}

// loopbackUp brings up the loopback interface, for tests that run servers.
func loopbackUp() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(s) }()
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, request)
}
