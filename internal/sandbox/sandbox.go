// Package sandbox runs one untrusted command: a build, a test or a linter on code from strangers (threat T1
// of docs/security.md). The command gets only the given environment, no network, no writable storage except
// memory, and a user that owns nothing. When it ends, everything that it started ends too. Time, memory,
// processes, files and output are limited.
//
// [Probe] finds out what works on this machine by trying it. Where no kind works,
// [Probe] returns an error and nothing runs: a weaker sandbox is never used.
//
// The program itself builds the sandbox, by starting itself again: every main function
// and TestMain that uses a sandbox must call [Main] first.
package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Kind is how a sandbox is made.
type Kind string

const (
	// Bubblewrap builds the sandbox with the bwrap program.
	Bubblewrap Kind = "bubblewrap"
	// Namespaces builds the sandbox without another program.
	Namespaces Kind = "namespaces"
)

// Paths in the sandbox.
const (
	Work = "/work" // the tree, and the working directory
	Home = "/tmp"  // scratch space, and HOME
)

// Mount is a file or folder on the host that the command may read.
type Mount struct {
	Source string // absolute, and readable for every user
	Target string // absolute; empty means the same path as on the host
}

// Limits limit a job. A zero field means its default.
type Limits struct {
	Time time.Duration // of the command, wall-clock; default 5 minutes
	// Memory is the limit for all processes together, in bytes; default 4 GiB. It is
	// checked 20 times a second, so it can be exceeded for that long.
	Memory    int64
	Processes int   // processes and threads at a time; at least 16, default 512
	Scratch   int64 // bytes in /tmp, and the same again in Work; default 1 GiB, held in memory
	FileSize  int64 // bytes of one file; default 1 GiB
	OpenFiles int   // of one process; default 1024
	Output    int   // bytes kept of each of the two outputs: half from the start, half from the end; default 1 MiB
	Written   int64 // bytes that the command may write to each of the two outputs; default 1 GiB
}

// Job is one command.
type Job struct {
	Tree string // an absolute folder on the host, mounted at Work; if empty, Work is empty
	// Writable gives the command a temporary copy of Tree that it can write to;
	// otherwise Tree is read-only. The copy has no devices, sockets or pipes.
	Writable bool
	Argv     []string // a program without a slash is looked up in the PATH of Env
	Env      []string // the whole environment
	Mounts   []Mount  // in addition to the system's programs and libraries: toolchains, module caches
	Input    []byte   // standard input
	// Stdout, if it is not nil, gets standard output as the command writes it, instead of
	// the result. It must not fail.
	Stdout io.Writer
	Limits Limits

	program string // executed instead of Argv[0]
}

// Status is how a command ended.
type Status string

// All but the first two mean that the sandbox ended the command.
const (
	OK            Status = "ok"
	Failed        Status = "failed" // an exit status other than 0, or a signal
	TimedOut      Status = "timeout"
	OverMemory    Status = "memory"
	OverProcesses Status = "processes"
	OverOutput    Status = "output"
)

// Result is the result of a job.
type Result struct {
	Status         Status
	Exit           int // the exit status, 128 + n after signal n; -1 if the sandbox ended the command
	Stdout, Stderr Output
}

// NoneError means that this machine has no working sandbox.
type NoneError struct {
	Why  []string // one line per kind that was tried
	Hint string   // how to get one
}

func (e *NoneError) Error() string { return "no sandbox: " + strings.Join(e.Why, "; ") }

// checked returns the limits with defaults filled in.
func (l Limits) checked() (Limits, error) {
	l.Time = cmp.Or(l.Time, 5*time.Minute)
	l.Memory = cmp.Or(l.Memory, 4<<30)
	l.Processes = cmp.Or(l.Processes, 512)
	l.Scratch = cmp.Or(l.Scratch, 1<<30)
	l.FileSize = cmp.Or(l.FileSize, 1<<30)
	l.OpenFiles = cmp.Or(l.OpenFiles, 1024)
	l.Output = cmp.Or(l.Output, 1<<20)
	l.Written = cmp.Or(l.Written, 1<<30)
	const fewest = 16 // the stage that starts the command has threads itself
	if l.Time < 0 || l.Memory < 0 || l.Processes < fewest || l.Scratch < 0 || l.FileSize < 0 || l.OpenFiles < 0 ||
		l.Output < 0 || l.Written < 0 {
		return l, fmt.Errorf("invalid limits: %+v", l)
	}
	return l, nil
}

// systemDirs returns the folders with programs and libraries that every sandbox has, if
// the host does. Others below /usr hold configuration, sources or toolchains.
func systemDirs() []string {
	var all []string
	for _, prefix := range []string{"", "/usr", "/usr/local"} {
		for _, name := range []string{"bin", "sbin", "lib", "lib32", "lib64", "libx32"} {
			all = append(all, prefix+"/"+name)
		}
		if prefix != "" {
			all = append(all, prefix+"/games", prefix+"/include", prefix+"/libexec", prefix+"/share")
		}
	}
	return all
}

// InEverySandbox reports whether a path of the host is the same in every sandbox.
func InEverySandbox(name string) bool { return isIn(systemDirs(), name) }

// isIn reports whether a path is one of the folders, or below one.
func isIn(dirs []string, name string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") })
}

// checked returns the job with defaults filled in and links in host paths resolved.
func (j Job) checked() (Job, error) {
	var err error
	if j.Limits, err = j.Limits.checked(); err != nil {
		return j, err
	}
	if len(j.Argv) == 0 {
		return j, errors.New("the job has no command")
	}
	for _, s := range slices.Concat(j.Argv, j.Env) {
		if strings.ContainsRune(s, 0) {
			return j, fmt.Errorf("%q contains a NUL", s)
		}
	}
	if j.Tree != "" {
		if j.Tree, err = hostPath(j.Tree); err != nil {
			return j, err
		}
	}
	mounts := make([]Mount, 0, len(j.Mounts))
	for _, m := range j.Mounts {
		m.Target = cmp.Or(m.Target, m.Source)
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
	if !path.IsAbs(target) || path.Clean(target) != target || strings.ContainsRune(target, 0) ||
		slices.Contains([]string{"/", "/usr", "/usr/local", Work, Home}, target) {
		return fmt.Errorf("invalid mount at %q", target)
	}
	if InEverySandbox(target) || isIn([]string{"/proc", "/sys", "/dev", "/.box"}, target) {
		return fmt.Errorf("mount at %q: the folder is reserved", target)
	}
	return nil
}

func hostPath(name string) (string, error) {
	if !filepath.IsAbs(name) {
		return "", fmt.Errorf("%q is not an absolute path", name)
	}
	return filepath.EvalSymlinks(name)
}

// Trap is one way out of a sandbox, and whether the sandbox blocked it.
type Trap struct {
	Name   string
	Held   bool
	Detail string // what was reached, or why the attempt could not run; empty if the sandbox blocked it
}
