package enginetest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// checkLeaks fails the test if, after all its clean-ups that are registered
// later, goroutines that it started are still there, or children of this process.
func checkLeaks(t *testing.T) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	existing := children()
	t.Cleanup(func() {
		err := goleak.Find(before)
		for range 9 { // each waits a second for goroutines that are about to end
			if err == nil {
				break
			}
			err = goleak.Find(before)
		}
		if err != nil {
			t.Error(err)
		}
		for pid, command := range awaitNoChildren(existing) {
			t.Errorf("process %d is still there: %s", pid, command)
		}
	})
}

// awaitNoChildren gives killed processes a moment to be gone, and returns
// those children that stay and are not among the existing ones.
func awaitNoChildren(existing map[int]string) map[int]string {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(5 * time.Second)
	for {
		now := children()
		for pid := range existing {
			delete(now, pid)
		}
		if len(now) == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-late:
			return now
		}
	}
}

// children returns the command lines of this process's children by process id,
// including zombies. Without /proc it finds none.
func children() map[int]string {
	found := map[int]string{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well formed
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// pid (comm) state ppid …, and comm may hold anything, blanks and brackets too
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 2 || string(fields[1]) != strconv.Itoa(os.Getpid()) {
			continue
		}
		dir := filepath.Dir(name)
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			command, _ := os.ReadFile(filepath.Join(dir, "cmdline")) // empty for a zombie
			found[pid] = string(bytes.ReplaceAll(command, []byte{0}, []byte(" "))) + " (" + string(fields[0]) + ")"
		}
	}
	return found
}
