//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/precedent-dev/precedent/internal/child"
)

// The descriptors that a stage gets besides the usual three.
const (
	orderFD  = 3
	statusFD = 4
)

// running is what the last stage writes to the status pipe right before it becomes
// the command. Anything else there is an error message.
const running = "+"

// last runs inside the finished sandbox. It drops everything that the command must not have (T1), and becomes
// the command. The calling goroutine is locked to its thread, because some privileges belong to the thread.
func last() error {
	orders := os.NewFile(orderFD, "order")
	o, err := readOrder(orders)
	if err != nil {
		return err
	}
	_ = orders.Close()
	unix.Umask(0o022)
	if o.Copy {
		if err := o.copyTree(); err != nil {
			return fmt.Errorf("copy the tree: %w", err)
		}
	} else if !o.worksOnTree() {
		if err := o.giveToUser(Work); err != nil {
			return err
		}
	}
	if err := os.Chdir(Work); err != nil {
		return err
	}
	// If memory runs out, the kernel ends the sandbox first.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0o600)
	_, _ = unix.Setsid() // fails for a session leader, which has no terminal either
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close descriptors: %w", err)
	}
	if err := o.dropPrivileges(); err != nil {
		return err
	}
	program, err := o.find()
	if err != nil {
		return err
	}
	if err := o.limit(); err != nil {
		return err
	}
	if _, err := unix.Write(statusFD, []byte(running)); err != nil {
		return err
	}
	return fmt.Errorf("start %s: %w", o.Argv[0], syscall.Exec(program, o.Argv, o.Env))
}

// dropPrivileges gives up the user, the capabilities and the refused system calls.
func (o order) dropPrivileges() error {
	for c := 0; c <= unix.CAP_LAST_CAP; c++ {
		if held, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, uintptr(c), 0, 0, 0); err != nil || held == 0 {
			continue // unknown to an older kernel, or already dropped
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	if o.User != 0 {
		if err := syscall.Setgroups(nil); err != nil {
			return fmt.Errorf("drop the groups: %w", err)
		}
		if err := syscall.Setresgid(o.User, o.User, o.User); err != nil {
			return fmt.Errorf("change to group %d: %w", o.User, err)
		}
		if err := syscall.Setresuid(o.User, o.User, o.User); err != nil {
			return fmt.Errorf("change to user %d: %w", o.User, err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop the ambient capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("drop the capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	if !o.Sealed {
		return seccompFilter().install()
	}
	mode, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	if err == nil && mode != unix.SECCOMP_MODE_FILTER {
		err = errors.New("it is not installed")
	}
	if err != nil {
		return fmt.Errorf("check the seccomp filter: %w", err)
	}
	return nil
}

// limit sets the resource limits. It runs last, because the stage itself may need more.
func (o order) limit() error {
	for _, l := range []struct {
		resource int
		most     uint64
	}{
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_MEMLOCK, 64 << 10},
		{unix.RLIMIT_MSGQUEUE, 0},
		{unix.RLIMIT_NICE, 0},
		{unix.RLIMIT_RTPRIO, 0},
		{unix.RLIMIT_SIGPENDING, 1024},
		{unix.RLIMIT_FSIZE, uint64(o.Limits.FileSize)},
		{unix.RLIMIT_NOFILE, uint64(o.Limits.OpenFiles)},
		{unix.RLIMIT_NPROC, uint64(o.Limits.Processes)},
	} {
		var had syscall.Rlimit
		if err := syscall.Getrlimit(l.resource, &had); err == nil {
			l.most = min(l.most, had.Max) // keep a tighter limit
		}
		if err := syscall.Setrlimit(l.resource, &syscall.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return fmt.Errorf("set limit of resource %d: %w", l.resource, err)
		}
	}
	return nil
}

// find looks up the program as a shell in the sandbox would.
func (o order) find() (string, error) {
	if o.Program != "" {
		return o.Program, nil
	}
	name := o.Argv[0]
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, v := range slices.Backward(o.Env) {
		if dirs, ok := strings.CutPrefix(v, "PATH="); ok {
			if found := child.Find(name, dirs); found != "" {
				return found, nil
			}
			break
		}
	}
	return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
}
