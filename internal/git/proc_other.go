//go:build !unix

package git

import (
	"io/fs"
	"os/exec"
)

// ownGroup does nothing: this system has no process groups.
func ownGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

// links always returns 1: this system does not report the number of hard links.
func links(fs.FileInfo) uint64 { return 1 }
