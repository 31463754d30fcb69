//go:build amd64 || arm64

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	endTime  = 5 * time.Second // for the kernel to end all that is in a box
	someUser = 1000            // the user in the box, where it is the host's who runs this program
)

// launch is a box that is being started and runs.
type launch struct {
	cmd    *exec.Cmd
	begin  []func()   // what to do beside the child, each in a goroutine of its own
	near   []*os.File // this program's ends of pipes
	status io.Reader  // what the stages say
	info   *os.File   // where bubblewrap says which process is the box's first
	pid    int        // the box's first process
	pidFD  int        // and a descriptor of it, if it is not a child of this program; else -1
}

// prepare sets up everything but the outputs.
func (b Box) prepare(ctx context.Context, o order) (*launch, error) {
	// Not the context's to kill: the launch knows better how.
	l := &launch{cmd: exec.CommandContext(context.WithoutCancel(ctx), "/proc/self/exe"), pidFD: -1}
	l.cmd.Env = []string{} // nil would be this program's own
	l.cmd.Dir = "/"
	l.cmd.WaitDelay = endTime
	content, err := json.Marshal(o)
	if err == nil {
		_, err = l.give(content, true)
	}
	if err == nil {
		l.status, _, err = l.take()
	}
	switch {
	case err != nil:
	case b.kind == Bubblewrap:
		err = l.bubblewrap(b.bwrap, o)
	default:
		l.namespaces(o)
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// namespaces completes the launch of a box of this kind.
func (l *launch) namespaces(o order) {
	l.cmd.Args = []string{self, "first"} // and the path is that of this program
	attr := &syscall.SysProcAttr{
		Setsid: true,
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
			unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP,
	}
	if o.User == 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: someUser, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: someUser, HostID: os.Getegid(), Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP}
	}
	l.cmd.SysProcAttr = attr
}

// bubblewrap completes the launch of a box of this kind.
func (l *launch) bubblewrap(program string, o order) error {
	args, err := o.bubblewrapArgs(func(content string) (int, error) { return l.give([]byte(content), false) })
	if err != nil {
		return err
	}
	filterFD, err := l.give(seccompFilter().bytes(), false)
	if err != nil {
		return err
	}
	info, infoFD, err := l.take()
	if err != nil {
		return err
	}
	l.info = info
	args = append(args, "--seccomp", strconv.Itoa(filterFD), "--info-fd", strconv.Itoa(infoFD))
	argsFD, err := l.give([]byte(strings.Join(args, "\x00")+"\x00"), false)
	if err != nil {
		return err
	}
	l.cmd.Path, l.cmd.Args = program, []string{"bwrap", "--args", strconv.Itoa(argsFD), "--", self, "first"}
	return nil
}

// give returns the child's number of a descriptor from which it reads content,
// and then, if it is held open, waits for the end of this program's interest.
func (l *launch) give(content []byte, hold bool) (int, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	l.begin = append(l.begin, func() {
		_, _ = write.Write(content) // who does not get all of it says so
		if !hold {
			_ = write.Close()
		}
	})
	l.near = append(l.near, write)
	return l.pass(read), nil
}

// take returns the near end of a pipe to which the child writes, and the
// child's number of the far end.
func (l *launch) take() (*os.File, int, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, 0, err
	}
	l.near = append(l.near, read)
	return read, l.pass(write), nil
}

func (l *launch) pass(far *os.File) int {
	l.cmd.ExtraFiles = append(l.cmd.ExtraFiles, far)
	return 2 + len(l.cmd.ExtraFiles) // 0, 1 and 2 come first
}

// start starts the child and finds the box's first process.
func (l *launch) start() error {
	err := l.cmd.Start()
	for _, far := range l.cmd.ExtraFiles {
		_ = far.Close()
	}
	if err != nil {
		return err
	}
	for _, f := range l.begin {
		go f()
	}
	l.pid = l.cmd.Process.Pid
	if l.info == nil {
		return nil
	}
	var info struct {
		Child int `json:"child-pid"`
	}
	_ = l.info.SetReadDeadline(time.Now().Add(setupTime))
	if err := json.NewDecoder(l.info).Decode(&info); err != nil {
		l.pid = 0
		return nil //nolint:nilerr // bubblewrap gave up, and says why on standard error
	}
	l.pid = info.Child
	if l.pidFD, err = unix.PidfdOpen(l.pid, 0); err != nil {
		l.pidFD = -1
		if errors.Is(err, unix.ESRCH) {
			return nil // it has ended already
		}
		l.kill()
		_ = l.cmd.Wait()
		return fmt.Errorf("hold on to the box: %w", err)
	}
	if _, parent, _ := parseStat(fmt.Sprintf("/proc/%d/stat", l.pid)); parent != l.cmd.Process.Pid {
		_ = unix.Close(l.pidFD) // it has ended, and the number is somebody else's by now
		l.pid, l.pidFD = 0, -1
	}
	return nil
}

// kill ends the box. It may be called at any time after start, and again.
func (l *launch) kill() {
	if l.pidFD >= 0 {
		_ = unix.PidfdSendSignal(l.pidFD, unix.SIGKILL, nil, 0)
	}
	_ = l.cmd.Process.Kill()
}

// awaitEnd returns when all processes of the box are gone. The first one ends
// last, and is this program's child or bubblewrap's.
func (l *launch) awaitEnd() error {
	if l.pidFD < 0 {
		return nil
	}
	_ = unix.PidfdSendSignal(l.pidFD, unix.SIGKILL, nil, 0)
	deadline := time.Now().Add(endTime)
	for left := endTime; left > 0; left = time.Until(deadline) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(l.pidFD), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
		if n > 0 {
			return nil
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("wait for the end of the box: %w", err)
		}
	}
	return fmt.Errorf("processes of the box are still there after %v", endTime)
}

// close lets go of everything.
func (l *launch) close() {
	for _, f := range l.near {
		_ = f.Close()
	}
	for _, f := range l.cmd.ExtraFiles {
		_ = f.Close() // closed already, if it was started
	}
	if l.pidFD >= 0 {
		_ = unix.Close(l.pidFD)
	}
}
