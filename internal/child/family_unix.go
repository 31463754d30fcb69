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

// adopt prepares cmd, which is not yet started, to have its own family.
func adopt(cmd *exec.Cmd) *family {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
	return &family{cmd: cmd}
}

// join is called once the program runs.
func (*family) join() {}

// kill kills the whole family. It may be called repeatedly.
func (f *family) kill() {
	_ = syscall.Kill(-f.cmd.Process.Pid, syscall.SIGKILL) // usually no process is left
}

// leave is called last.
func (*family) leave() {}
