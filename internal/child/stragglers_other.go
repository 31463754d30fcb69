//go:build !linux

package child

import "syscall"

// endWithParent does nothing: a job on Windows does it, and other systems cannot.
func endWithParent(*syscall.SysProcAttr) {}

// killTagged does nothing on this system: a job on Windows holds all descendants
// anyway, and other systems cannot find a process that left its group.
func killTagged(string) {}
