//go:build unix

package child

import (
	"os/exec"
	"syscall"
)

// family is a program and its descendants: on Unix, a process group.
type family struct {
	cmd *exec.Cmd
}

// adopt prepares cmd, which is not yet started, to have a family of its own.
func adopt(cmd *exec.Cmd) *family {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &family{cmd: cmd}
}

// join is called once the program runs.
func (*family) join() {}

// kill ends all of the family. It may be called again.
func (f *family) kill() {
	_ = syscall.Kill(-f.cmd.Process.Pid, syscall.SIGKILL) // most often there is nobody left
}

// leave is called last.
func (*family) leave() {}
