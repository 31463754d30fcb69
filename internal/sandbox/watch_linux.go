//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// watchEvery is the interval between checks of a sandbox. Listing a few hundred processes
// takes a few milliseconds.
const watchEvery = 50 * time.Millisecond

// watch checks the sandbox's memory and processes (fault 24) until ctx ends, and stops the sandbox if it
// exceeds the limits. A control group is more exact, but most containers and users cannot create one.
func watch(ctx context.Context, first int, limits Limits, stop context.CancelCauseFunc) {
	if first == 0 {
		return
	}
	ticks := time.NewTicker(watchEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		pids, threads := descendants(first)
		held := int64(0)
		for _, pid := range pids {
			held += heldBy(pid, "status", "VmRSS", "VmSwap", "VmPTE")
		}
		buffers := bufferSize(first, pids, limits.Memory-held)
		held += buffers
		if held > limits.Memory {
			held = buffers // shared memory was counted once per process
			for _, pid := range pids {
				held += heldBy(pid, "status", "VmPTE")
				// A process can close this file; then it is rather counted too much.
				held += cmp.Or(heldBy(pid, "smaps_rollup", "Pss", "SwapPss"), heldBy(pid, "status", "VmRSS", "VmSwap"))
			}
		}
		// The kernel limits the number of processes too, but not everywhere.
		const slack = 16 // for the stages
		switch {
		case held > limits.Memory:
			stop(errMemory)
		case threads > limits.Processes+slack:
			stop(errProcesses)
		}
	}
}

// descendants returns the processes that descend from the first one of a sandbox, and
// their number of threads. None can leave: orphans become its children.
func descendants(first int) (pids []int, threads int) {
	children, count := map[int][]int{}, map[int]int{}
	for _, pid := range processes() {
		parent, n := parseStat(pid)
		children[parent] = append(children[parent], pid)
		count[pid] = n
	}
	for queue := children[first]; len(queue) > 0; queue = queue[1:] {
		pids = append(pids, queue[0])
		threads += count[queue[0]]
		queue = append(queue, children[queue[0]]...)
	}
	return pids, threads
}

// processes returns the ids of all processes that this one sees.
func processes() (pids []int) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1) // those before an error
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parseStat returns the id of a process's parent, and its number of threads.
func parseStat(pid int) (parent, threads int) {
	content, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, 0 // it has ended
	}
	// The name, in parentheses, can contain anything.
	fields := bytes.Fields(content[bytes.LastIndexByte(content, ')')+1:])
	const parentField, threadsField = 1, 17
	if len(fields) > threadsField {
		parent, _ = strconv.Atoi(string(fields[parentField]))
		threads, _ = strconv.Atoi(string(fields[threadsField]))
	}
	return parent, threads
}

// heldBy returns the sum of fields of a file about a process, in bytes.
func heldBy(pid int, file string, fields ...string) (held int64) {
	for line := range procLines(pid, file) {
		name, rest, _ := strings.Cut(line, ":")
		if words := strings.Fields(rest); len(words) > 0 && slices.Contains(fields, name) {
			kilobytes, _ := strconv.ParseInt(words[0], 10, 64)
			held += kilobytes << 10
		}
	}
	return held
}

// procLines returns the lines of a file about a process, none if it has ended.
func procLines(pid int, file string) iter.Seq[string] {
	content, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), file))
	if err != nil {
		return func(func(string) bool) {}
	}
	return strings.Lines(string(content))
}
