//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// users are the user ids for commands when this program runs as root. They own nothing (T1) and no one else
// has them, so that the kernel's per-user limits apply to one job (fault 24).
type users struct {
	first, count int // empty if count is 0
}

// Ranges of user ids that no system assigns: far above those of useradd and containers, or, in a container
// with 65,536 users, above systemd's dynamic users, where Debian reserves nothing.
var userRanges = []users{{0x70000000, 1 << 22}, {65520 - 4096, 4000}}

var jobs atomic.Int64

func findUsers() users {
	if os.Geteuid() != 0 ||
		!capable(unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_SETPCAP,
			unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN) {
		return users{}
	}
	for _, r := range userRanges {
		if mapped("/proc/self/uid_map", r) && mapped("/proc/self/gid_map", r) {
			return r
		}
	}
	return users{}
}

// dedicatedUser returns a user for the next job, or 0 if only the user of this program is available.
func (b Sandbox) dedicatedUser() int {
	if b.users.count == 0 {
		return 0
	}
	const jobsOfAProcess = 64
	n := os.Getpid()*jobsOfAProcess + int(jobs.Add(1)%jobsOfAProcess)
	return b.users.first + n%b.users.count
}

func capable(capabilities ...int) bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if err := unix.Capget(&header, &have[0]); err != nil {
		return false
	}
	for _, c := range capabilities {
		if have[c/32].Effective&(1<<(c%32)) == 0 {
			return false
		}
	}
	return true
}

// mapped reports whether all ids of a range exist in this user namespace.
func mapped(file string, r users) bool {
	content, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	for line := range bytes.Lines(content) {
		var inside, outside, count int
		if _, err := fmt.Sscan(string(line), &inside, &outside, &count); err == nil && inside <= r.first &&
			r.first+r.count <= inside+count {
			return true
		}
	}
	return false
}
