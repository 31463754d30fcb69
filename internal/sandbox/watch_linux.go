//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// watchEvery is the interval between checks of a box. Listing a few hundred processes
// takes a few milliseconds.
const watchEvery = 50 * time.Millisecond

// watch checks the box's memory and processes until ctx ends, stops the box if it
// exceeds the limits, and returns the highest memory use, in bytes. A control group
// would be more exact, but most containers and users cannot create one.
func watch(ctx context.Context, first int, limits Limits, stop context.CancelCauseFunc) int64 {
	if first == 0 {
		return 0
	}
	ticks := time.NewTicker(watchEvery)
	defer ticks.Stop()
	peak := int64(0)
	for {
		select {
		case <-ctx.Done():
			return peak
		case <-ticks.C:
		}
		pids, threads := descendants(first)
		held := int64(0)
		for _, pid := range pids {
			held += residentSize(pid)
		}
		if held > limits.Memory {
			held = 0 // shared memory was counted once per process
			for _, pid := range pids {
				held += proportionalSize(pid)
			}
		}
		peak = max(peak, held)
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

// descendants returns the processes that descend from the first one of a box, and
// their number of threads. None can leave: orphans become its children.
func descendants(first int) (pids []int, threads int) {
	children, count := map[int][]int{}, map[int]int{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, 0
	}
	for _, name := range stats {
		pid, parent, n := parseStat(name)
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

// parseStat returns a process's id, its parent's, and its number of threads.
func parseStat(name string) (pid, parent, threads int) {
	content, err := os.ReadFile(name)
	if err != nil {
		return 0, 0, 0 // it has ended
	}
	pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(name)))
	// The name, in parentheses, can contain anything.
	fields := bytes.Fields(content[bytes.LastIndexByte(content, ')')+1:])
	const parentField, threadsField = 1, 17
	if len(fields) > threadsField {
		parent, _ = strconv.Atoi(string(fields[parentField]))
		threads, _ = strconv.Atoi(string(fields[threadsField]))
	}
	return pid, parent, threads
}

func residentSize(pid int) int64 {
	content, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(content)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize())
}

// proportionalSize counts shared memory in proportion.
func proportionalSize(pid int) int64 {
	content, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil {
		return residentSize(pid) // rather too much than too little
	}
	for line := range bytes.Lines(content) {
		if rest, ok := bytes.CutPrefix(line, []byte("Pss:")); ok {
			if fields := bytes.Fields(rest); len(fields) > 0 {
				kilobytes, _ := strconv.ParseInt(string(fields[0]), 10, 64)
				return kilobytes << 10
			}
		}
	}
	return residentSize(pid)
}
