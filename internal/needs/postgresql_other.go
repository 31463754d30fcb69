//go:build !unix

package needs

import "os/exec"

func giveAway(...string) error { return nil }

func runAs(*exec.Cmd) {}
