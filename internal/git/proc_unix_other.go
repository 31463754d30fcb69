//go:build unix && !linux

package git

import "syscall"

// endWithParent does nothing: this system cannot do it.
func endWithParent(*syscall.SysProcAttr) {}
