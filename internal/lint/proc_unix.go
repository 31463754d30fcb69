//go:build unix

package lint

import (
	"io/fs"
	"os/exec"
	"syscall"
)

// killTogether makes the command the head of a process group that ends as one
// when the command's context does.
func killTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

func executable(info fs.FileInfo) bool { return info.Mode().Perm()&0o111 != 0 }
