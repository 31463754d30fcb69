// Package sandbox runs one command that may be hostile: a build, a test or a
// linter of code from strangers. The command gets the environment that it is
// given and no other, no network, nothing to write to but memory of its own,
// and no user that owns anything; when it ends, everything that it started
// ends with it. Time, memory, processes, files and output are limited.
//
// [Probe] finds out what this machine can do by doing it. Where nothing holds,
// there is no [Box], and nothing is run: there is no weaker form.
//
// A box is built by this very program, started anew: [Main] has to be the
// first call of every main function and TestMain that uses a box.
package sandbox

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Kind is how a box is made.
type Kind string

const (
	// Bubblewrap lets the program bwrap build the box.
	Bubblewrap Kind = "bubblewrap"
	// Namespaces builds the box with this program alone.
	Namespaces Kind = "namespaces"
)

// Where the command finds things.
const (
	Work = "/work" // the tree, and the working directory
	Home = "/tmp"  // scratch space; a HOME for those who need one
)

// Mount is a file or folder of the host that the command may read.
type Mount struct {
	Source string // absolute, and readable for every user
	Target string // absolute; empty means at the same path as on the host
}

// Limits bound a job. A zero field means its default.
type Limits struct {
	Time time.Duration // of the command, on the clock; default 5 minutes
	// Memory is what all processes together may hold, in bytes; default 4 GiB.
	// It is looked at 20 times a second, so for that long they may hold more.
	Memory    int64
	Processes int   // processes and threads at a time; at least 16, default 512
	Scratch   int64 // bytes in /tmp and as many again in Work; default 1 GiB, held in memory
	FileSize  int64 // bytes of one file; default 1 GiB
	OpenFiles int   // of one process; default 1024
	Output    int   // bytes kept of each of the two outputs: half from the start, half from the end; default 1 MiB
}

// Job is one command.
type Job struct {
	Tree string // an absolute folder of the host, seen at Work; empty means that Work is empty
	// Writable gives the command a copy of Tree to write to, which is gone
	// afterwards; otherwise it is read-only. A copy has no devices, sockets and pipes.
	Writable bool
	Argv     []string // the program is looked up in the PATH of Env, if it has no slash
	Env      []string // the whole environment
	Mounts   []Mount  // besides the system's programs and libraries: toolchains, module caches
	Limits   Limits

	program string // what is executed instead of Argv[0]
}

// Status is how a command ended.
type Status string

// All but the first two were ended by the box.
const (
	OK            Status = "ok"
	Failed        Status = "failed" // an exit status other than 0, or a signal
	TimedOut      Status = "timeout"
	OverMemory    Status = "memory"
	OverProcesses Status = "processes"
)

// Result is what came of a job.
type Result struct {
	Status         Status
	Exit           int // the exit status, 128 + n after signal n; -1 if the box ended it
	Stdout, Stderr Output
	Usage          Usage
}

// Usage is what a job took.
type Usage struct {
	Wall   time.Duration
	CPU    time.Duration // of the processes that ended by themselves
	Memory int64         // the most that was seen held at a time, in bytes
}

// NoneError says why there is no sandbox.
type NoneError struct {
	Why  []string // a line for each kind that was tried
	Hint string   // what a person can do
}

func (e *NoneError) Error() string {
	return "no sandbox: " + strings.Join(e.Why, "; ")
}

func orDefault[T int | int64 | time.Duration](value *T, otherwise T) {
	if *value == 0 {
		*value = otherwise
	}
}

// checked returns the limits with their defaults.
func (l Limits) checked() (Limits, error) {
	orDefault(&l.Time, 5*time.Minute)
	orDefault(&l.Memory, 4<<30)
	orDefault(&l.Processes, 512)
	orDefault(&l.Scratch, 1<<30)
	orDefault(&l.FileSize, 1<<30)
	orDefault(&l.OpenFiles, 1024)
	orDefault(&l.Output, 1<<20)
	const fewest = 16 // the stage that starts the command has threads itself
	if l.Time < 0 || l.Memory < 0 || l.Processes < fewest || l.Scratch < 0 || l.FileSize < 0 || l.OpenFiles < 0 || l.Output < 0 {
		return l, fmt.Errorf("limits of a job: %+v", l)
	}
	return l, nil
}

// ours are the folders of the box in which a mount would break it or be broken.
var ours = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/sys", "/dev", "/.box"}

// checked returns the job with its defaults, the host's paths without links.
func (j Job) checked() (Job, error) {
	var err error
	if j.Limits, err = j.Limits.checked(); err != nil {
		return j, err
	}
	if len(j.Argv) == 0 {
		return j, errors.New("a job without a command")
	}
	for _, s := range slices.Concat(j.Argv, j.Env) {
		if strings.ContainsRune(s, 0) {
			return j, fmt.Errorf("%q holds a NUL", s)
		}
	}
	if j.Tree != "" {
		if j.Tree, err = hostPath(j.Tree); err != nil {
			return j, err
		}
	}
	mounts := make([]Mount, 0, len(j.Mounts))
	for _, m := range j.Mounts {
		if m.Target == "" {
			m.Target = m.Source
		}
		if err := checkTarget(m.Target); err != nil {
			return j, err
		}
		if m.Source, err = hostPath(m.Source); err != nil {
			return j, err
		}
		mounts = append(mounts, m)
	}
	slices.SortFunc(mounts, func(a, b Mount) int { return strings.Compare(a.Target, b.Target) })
	j.Mounts = mounts
	return j, nil
}

func checkTarget(target string) error {
	if !path.IsAbs(target) || path.Clean(target) != target || target == "/" || target == Work || target == Home || strings.ContainsRune(target, 0) {
		return fmt.Errorf("a mount at %q", target)
	}
	for _, o := range ours {
		if target == o || strings.HasPrefix(target, o+"/") {
			return fmt.Errorf("a mount at %q: %s is the box's own", target, o)
		}
	}
	return nil
}

func hostPath(name string) (string, error) {
	if !filepath.IsAbs(name) {
		return "", fmt.Errorf("%q is not an absolute path", name)
	}
	return filepath.EvalSymlinks(name)
}
