//go:build unix

package command

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// ownSession makes cmd leave our process group as a daemon does.
func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// alive tells whether the process is there and more than a zombie, which an
// orphan stays where the first process buries nobody, as in most containers.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !bytes.Contains(stat, []byte(") Z "))
}
