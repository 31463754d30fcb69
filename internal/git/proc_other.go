//go:build !unix

package git

import (
	"io/fs"
	"os/exec"
)

// ownGroup does nothing where there are no process groups.
func ownGroup(*exec.Cmd) {}

// killGroup ends the command.
func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

// links is 1 where the number of a file's names is not to be had.
func links(fs.FileInfo) uint64 { return 1 }
