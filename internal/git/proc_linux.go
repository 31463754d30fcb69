package git

import "syscall"

// endWithParent kills git when this program is killed. The kernel watches the thread that starts git. Go ends a thread
// only if a goroutine that is locked to it returns, and no goroutine of this program does.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
