//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Memory that the kernel holds for a sandbox, in bytes: a program that is out of its own could fill that of
// the machine (fault 24). It belongs to no process, so it is estimated from what is open, and never too low:
// the filter keeps programs from making buffers larger, and from filling them with pages instead of bytes.
const (
	// pipeSize is two pages: what the kernel gives to a pipe of a user who has pipes of
	// 64 MiB in total (fs.pipe-user-pages-soft), and more than any other descriptor takes.
	pipeSize = 8 << 10
	// socketSize is for a socket itself, besides its buffers.
	socketSize = 4 << 10
)

// bufferSize returns the memory of the pipes and sockets of a sandbox. TCP makes its buffers larger by
// itself. Listing them takes time, so it is done only if they could hold more than left.
func bufferSize(first int, pids []int, left int64) int64 {
	size := int64(0)
	for _, pid := range pids {
		files := heldBy(pid, "status", "FDSize") >> 10 // places for descriptors
		if info, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid), "fd")); err == nil && info.Size() > 0 {
			files = info.Size() // exact, from Linux 6.2 on
		}
		size += files * pipeSize
	}
	most := socketBuffers()
	sockets, tcp := countSockets(first)
	size += sockets * (most.any + socketSize)
	if size+tcp*most.tcp > left {
		size += queued(first, "net/tcp") + queued(first, "net/tcp6")
	}
	return size
}

// countSockets returns the number of sockets of a sandbox, and how many of them are TCP's.
// Sockets that no process has open are counted while they hold data.
func countSockets(first int) (all, tcp int64) {
	for _, file := range []string{"net/sockstat", "net/sockstat6"} {
		for line := range procLines(first, file) {
			fields := strings.Fields(line)
			for i := 0; i+1 < len(fields); i++ {
				n, _ := strconv.ParseInt(fields[i+1], 10, 64)
				switch {
				case fields[0] == "sockets:" && fields[i] == "used":
					all = n
				case strings.HasPrefix(fields[0], "TCP") && (fields[i] == "inuse" || fields[i] == "orphan"):
					tcp += n
				}
			}
		}
	}
	return all, tcp
}

// queued returns the memory of the queues in a list of TCP sockets: twice their bytes,
// because the kernel keeps a header with each packet.
func queued(first int, list string) (size int64) {
	for line := range procLines(first, list) {
		const queues = 4
		fields := strings.Fields(line)
		if len(fields) <= queues {
			continue
		}
		sent, received, _ := strings.Cut(fields[queues], ":")
		for _, hex := range []string{sent, received} {
			n, _ := strconv.ParseInt(hex, 16, 64)
			size += 2 * n
		}
	}
	return size
}

// mostBuffers are the largest buffers of a socket, in bytes.
type mostBuffers struct{ any, tcp int64 }

// socketBuffers reads them from the kernel's settings. A buffer is exceeded by up to one
// packet, of half its size.
var socketBuffers = sync.OnceValue(func() mostBuffers {
	setting := func(name string, otherwise int64) int64 {
		content, err := os.ReadFile("/proc/sys/net/" + name)
		fields := strings.Fields(string(content))
		if err != nil || len(fields) == 0 {
			return otherwise
		}
		n, err := strconv.ParseInt(fields[len(fields)-1], 10, 64) // of three values, the last is the largest
		if err != nil {
			return otherwise
		}
		return n
	}
	const usual, usualTCP = 212992, 6 << 20
	return mostBuffers{
		any: max(setting("core/wmem_default", usual), setting("core/rmem_default", usual)) * 3 / 2,
		tcp: setting("ipv4/tcp_wmem", usualTCP) + setting("ipv4/tcp_rmem", usualTCP),
	}
})
