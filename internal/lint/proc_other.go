//go:build !unix

package lint

import (
	"io/fs"
	"os/exec"
)

// killTogether leaves it at killing the command: there are no process groups,
// and the go command ends when nobody reads what it writes.
func killTogether(*exec.Cmd) {}

func executable(fs.FileInfo) bool { return true }
