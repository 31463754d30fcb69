//go:build !unix

package git

import (
	"io/fs"
	"os"
	"os/exec"
)

// ownGroup does nothing: this system has no process groups.
func ownGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

// links always returns 1: this system does not report the number of hard links.
func links(fs.FileInfo) uint64 { return 1 }

// holdFile locks nothing, because the standard library has no file locks on this system. Git's own ref locks
// make one of two concurrent fetches fail, and an open file cannot be removed.
func holdFile(*os.File, bool) (held bool, err error) { return true, nil }
