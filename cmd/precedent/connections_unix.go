//go:build unix

package main

import "syscall"

// reservedFiles are the descriptors that a server needs for all but connections: the database,
// requests to the forge and to models, and the pipes of children.
const reservedFiles = 40

// maxConnections is how many connections a server can have open with the descriptors that this
// process may have.
func maxConnections() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > 1<<20 {
		return 0
	}
	return min(max(int(limit.Cur)-reservedFiles, 4), 512)
}
