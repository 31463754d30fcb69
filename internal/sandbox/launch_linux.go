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
	endTime  = 5 * time.Second // for the kernel to end everything in a sandbox
	someUser = 1000            // the user in the sandbox, if the sandbox has the user of this program
)

type launch struct {
	cmd        *exec.Cmd
	background []func()   // tasks to run next to the child, each in a goroutine
	ourEnds    []*os.File // this program's ends of pipes
	status     io.Reader  // messages of the stages
	info       *os.File   // where bubblewrap reports the sandbox's first process
	pid        int        // the sandbox's first process
	pidFD      int        // its descriptor if it is not a child of this program; else -1
	group      *group     // nil if this program cannot create control groups
}

// prepare sets up everything except the outputs.
func (b Sandbox) prepare(ctx context.Context, o order) (*launch, error) {
	// The context does not kill the process: kill ends the whole sandbox.
	l := &launch{cmd: exec.CommandContext(context.WithoutCancel(ctx), "/proc/self/exe"), pidFD: -1}
	l.cmd.Env = []string{} // nil would inherit the environment
	l.cmd.Dir = "/"
	l.cmd.WaitDelay = endTime
	content, err := json.Marshal(o)
	if err == nil {
		_, err = l.pipeTo(content, true)
	}
	if err == nil {
		l.status, _, err = l.pipeFrom()
	}
	switch {
	case err != nil:
	case b.kind == Bubblewrap:
		err = l.bubblewrap(b.bwrap, o)
	default:
		l.namespaces(o)
	}
	if err == nil && b.groups != "" {
		l.group, err = newGroup(b.groups, o.groupLimits())
	}
	if err != nil {
		l.close()
		return nil, err
	}
	if l.group != nil {
		l.joinGroup()
	}
	return l, nil
}

func (l *launch) joinGroup() {
	if l.cmd.SysProcAttr == nil {
		l.cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	l.cmd.SysProcAttr.UseCgroupFD, l.cmd.SysProcAttr.CgroupFD = true, int(l.group.dir.Fd())
}

func (l *launch) namespaces(o order) {
	l.cmd.Args = []string{self, "first"} // the path is this program
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

func (l *launch) bubblewrap(program string, o order) error {
	args, err := o.bubblewrapArgs(func(content string) (int, error) { return l.pipeTo([]byte(content), false) })
	if err != nil {
		return err
	}
	filterFD, err := l.pipeTo(seccompFilter().bytes(), false)
	if err != nil {
		return err
	}
	info, infoFD, err := l.pipeFrom()
	if err != nil {
		return err
	}
	l.info = info
	args = append(args, "--seccomp", strconv.Itoa(filterFD), "--info-fd", strconv.Itoa(infoFD))
	argsFD, err := l.pipeTo([]byte(strings.Join(args, "\x00")+"\x00"), false)
	if err != nil {
		return err
	}
	l.cmd.Path, l.cmd.Args = program, []string{"bwrap", "--args", strconv.Itoa(argsFD), "--", self, "first"}
	return nil
}

// pipeTo returns the child's descriptor of a pipe from which it reads content. With
// hold, the pipe stays open until this program closes the launch.
func (l *launch) pipeTo(content []byte, hold bool) (int, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	l.background = append(l.background, func() {
		_, _ = write.Write(content) // a child that does not get all of it reports that
		if !hold {
			_ = write.Close()
		}
	})
	l.ourEnds = append(l.ourEnds, write)
	return l.passFile(read), nil
}

// pipeFrom returns this program's end of a pipe to which the child writes, and the
// child's descriptor of the other end.
func (l *launch) pipeFrom() (*os.File, int, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, 0, err
	}
	l.ourEnds = append(l.ourEnds, read)
	return read, l.passFile(write), nil
}

func (l *launch) passFile(far *os.File) int {
	l.cmd.ExtraFiles = append(l.cmd.ExtraFiles, far)
	return 2 + len(l.cmd.ExtraFiles) // after 0, 1 and 2
}

// start starts the child and finds the sandbox's first process.
func (l *launch) start() error {
	err := l.cmd.Start()
	for _, far := range l.cmd.ExtraFiles {
		_ = far.Close()
	}
	if err != nil {
		return err
	}
	for _, f := range l.background {
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
		return nil //nolint:nilerr // bubblewrap failed, and reports why on standard error
	}
	l.pid = info.Child
	if l.pidFD, err = unix.PidfdOpen(l.pid, 0); err != nil {
		l.pidFD = -1
		if errors.Is(err, unix.ESRCH) {
			return nil // it has already ended
		}
		l.kill()
		_ = l.cmd.Wait()
		return fmt.Errorf("open the sandbox's process: %w", err)
	}
	if parent, _ := parseStat(l.pid); parent != l.cmd.Process.Pid {
		_ = unix.Close(l.pidFD) // it has ended, and the id belongs to another process
		l.pid, l.pidFD = 0, -1
	}
	return nil
}

// kill ends the sandbox. It may be called repeatedly, at any time after start.
func (l *launch) kill() {
	if l.pidFD >= 0 {
		_ = unix.PidfdSendSignal(l.pidFD, unix.SIGKILL, nil, 0)
	}
	_ = l.cmd.Process.Kill()
	if l.group != nil {
		l.group.kill()
	}
}

// awaitEnd returns when all processes of the sandbox have ended. The first one ends last.
// It is a child of this program or of bubblewrap.
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
			return fmt.Errorf("wait for the sandbox to end: %w", err)
		}
	}
	return fmt.Errorf("processes of the sandbox are still running after %v", endTime)
}

func (l *launch) close() {
	for _, f := range l.ourEnds {
		_ = f.Close()
	}
	for _, f := range l.cmd.ExtraFiles {
		_ = f.Close() // already closed if it was started
	}
	if l.pidFD >= 0 {
		_ = unix.Close(l.pidFD)
	}
	if l.group != nil {
		l.group.remove()
	}
}
