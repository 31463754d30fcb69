//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// attackEverything tries to break out of a sandbox in every way that is known here,
// and returns all of them with its result.
func (b Sandbox) attackEverything(ctx context.Context, dir string) ([]Trap, error) {
	f, visits, done, err := hostileOutside(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer done()
	var all []Trap
	for _, f.Writable = range []bool{false, true} {
		said, err := json.Marshal(f)
		if err != nil {
			return nil, err
		}
		traps, err := b.runEscapes(ctx, Job{
			Tree: filepath.Join(dir, "tree"), Writable: f.Writable, Env: f.Env,
			Limits: f.Limits, Argv: []string{self, "trap", "inside", string(said)},
		})
		if err != nil {
			return all, err
		}
		all = append(all, traps...)
	}
	t := Trap{Name: "connections", Held: visits.Load() == 0}
	if !t.Held {
		t.Detail = "somebody connected"
	}
	all = append(all, t)
	for _, a := range attacks() {
		t, err := b.attack(ctx, a)
		if err != nil {
			return all, fmt.Errorf("%s: %w", a.name, err)
		}
		all = append(all, t)
	}
	return all, nil
}

// hostileOutside adds to what must not be reached a tree in dir with ways out, and counts the visitors of the servers.
func hostileOutside(ctx context.Context, dir string) (told, *atomic.Int64, func(), error) {
	tree := filepath.Join(dir, "tree")
	err := errors.Join(os.Mkdir(tree, 0o755), os.Chmod(tree, 0o755),
		os.WriteFile(filepath.Join(tree, "file"), []byte("in the tree\n"), 0o644),
		os.Chmod(filepath.Join(tree, "file"), 0o644))
	for name, target := range map[string]string{"absolute": filepath.Join(dir, "canary"), "relative": "../canary", "root": "/"} {
		err = errors.Join(err, os.Symlink(target, filepath.Join(tree, name)))
	}
	err = errors.Join(err, unix.Mkfifo(filepath.Join(tree, "pipe"), 0o644)) // a copy must not wait at it
	if err != nil {
		return told{}, nil, nil, err
	}
	f, listeners, err := setUpTargets(ctx, dir)
	if err != nil {
		return told{}, nil, nil, err
	}
	visits := new(atomic.Int64)
	for _, l := range listeners {
		go count(l, visits)
	}
	return told{
		facts: f, Limits: Limits{Processes: 100, OpenFiles: 200, FileSize: 3 << 20, Scratch: 64 << 20},
	}, visits, listeners.close, nil
}

func count(l net.Listener, visits *atomic.Int64) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		visits.Add(1)
		_ = c.Close()
	}
}

// attack is a trap that needs a sandbox of its own, and limits.
type attack struct {
	name   string
	args   []string
	limits Limits
	verify func(Result) string // what is wrong with how it ended
}

func attacks() []attack {
	marker := rand.Text()
	const most, hoarded = 64 << 10, 150 << 20
	return []attack{
		{"survive the command", []string{"survive", marker}, Limits{}, func(r Result) string {
			if r.Status != OK {
				return ended(r)
			}
			return survivors(marker)
		}},
		{"survive the time limit", []string{"linger", marker}, Limits{Time: 300 * time.Millisecond}, func(r Result) string {
			if r.Status != TimedOut {
				return ended(r)
			}
			return survivors(marker)
		}},
		{"fork bomb", []string{"bomb"}, Limits{Processes: 40, Time: 20 * time.Second}, func(r Result) string {
			n, err := strconv.Atoi(r.Stdout.String())
			if r.Status == OverProcesses || r.Status == OK && err == nil && n < 40 {
				return ""
			}
			return ended(r)
		}},
		{"memory", []string{"eat"}, Limits{Memory: 200 << 20, Time: 20 * time.Second}, expect(OverMemory)},
		hoards("socket buffers", Limits{Memory: hoarded}),
		hoards("sockets on their way", Limits{Memory: hoarded}),
		hoards("TCP buffers", Limits{Memory: hoarded}),
		hoards("page tables", Limits{Memory: hoarded}),
		hoards("pipes", Limits{Memory: 50 << 20, OpenFiles: 8192}),
		{"a large file", []string{"file"}, Limits{FileSize: 1 << 20, Scratch: 8 << 20}, expect(OK)},
		{"a full disk", []string{"files"}, Limits{FileSize: 1 << 20, Scratch: 8 << 20}, expect(OK)},
		{"endless output", []string{"flood"}, Limits{Output: most, Time: 500 * time.Millisecond}, func(r Result) string {
			// A fast machine writes a gibibyte before the time is over.
			if r.Status != TimedOut && r.Status != OverOutput || r.Stdout.Omitted == 0 ||
				len(r.Stdout.Head)+len(r.Stdout.Tail) > most {
				return ended(r)
			}
			return ""
		}},
	}
}

// hoards holds memory that belongs to no process.
func hoards(where string, most Limits) attack {
	most.Time = 20 * time.Second
	return attack{"memory in " + where, []string{"hoard", where}, most, expect(OverMemory)}
}

func expect(s Status) func(Result) string {
	return func(r Result) string {
		if r.Status == s {
			return ""
		}
		return ended(r)
	}
}

func ended(r Result) string {
	return fmt.Sprintf("ended with %s, %d: %.200q %.500q", r.Status, r.Exit, r.Stdout, r.Stderr)
}

func (b Sandbox) attack(ctx context.Context, a attack) (Trap, error) {
	r, err := b.Run(ctx, Job{Argv: append([]string{self, "trap"}, a.args...), Limits: a.limits, program: self})
	if err != nil {
		return Trap{}, err
	}
	detail := a.verify(r)
	return Trap{Name: a.name, Held: detail == "", Detail: detail}, nil
}

// survivors looks for processes with the marker among their arguments.
func survivors(marker string) string {
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return err.Error()
	}
	for _, name := range lines {
		if content, err := os.ReadFile(name); err == nil && bytes.Contains(content, []byte(marker)) {
			return "it lives: " + name
		}
	}
	return ""
}
