//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// facts are what the traps inside are told about the outside.
type facts struct {
	Canary   string   // a file that is not for the box
	Content  string   // and what is in it
	Folder   string   // a folder that can be written to
	Address  string   // where a server listens
	Abstract string   // and another one, by an abstract name
	Process  int      // of the host
	Env      []string // all that may be found in any environment
	Writable bool     // the tree
	Limits   Limits
}

// SelfTest tries to break out of a box in every way it knows, and returns all
// of them with what came of it. The error says that it could not be tried.
// It takes about two seconds.
func (b Box) SelfTest(ctx context.Context) ([]Trap, error) {
	dir, err := os.MkdirTemp("", "precedent-box-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	f, trapped, done, err := outside(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer done()
	var all []Trap
	for _, f.Writable = range []bool{false, true} {
		traps, err := b.inside(ctx, filepath.Join(dir, "tree"), f)
		if err != nil {
			return all, err
		}
		all = append(all, traps...)
	}
	t := Trap{Name: "servers of the host", Held: trapped.Load() == 0}
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

// outside sets up what must not be reached: files in dir, and servers, which
// count their visitors.
func outside(ctx context.Context, dir string) (facts, *atomic.Int64, func(), error) {
	content := rand.Text()
	f := facts{
		Canary: filepath.Join(dir, "canary"), Content: content, Folder: dir,
		Abstract: "@precedent-" + content, Process: os.Getpid(),
		Limits: Limits{Processes: 100, OpenFiles: 200, FileSize: 3 << 20, Scratch: 64 << 20},
	}
	visits, listeners := new(atomic.Int64), []net.Listener{}
	done := func() {
		for _, l := range listeners {
			_ = l.Close()
		}
	}
	tree := filepath.Join(dir, "tree")
	err := os.Mkdir(tree, 0o700)
	for name, text := range map[string]string{f.Canary: content, filepath.Join(tree, "file"): "in the tree\n"} {
		if err == nil {
			err = os.WriteFile(name, []byte(text), 0o600)
		}
		if err == nil {
			err = os.Chmod(name, 0o644) //nolint:gosec // the box's user could read it, were it not for the box
		}
	}
	for _, name := range []string{dir, tree} {
		if err == nil {
			err = os.Chmod(name, 0o755) //nolint:gosec // as above
		}
	}
	for name, target := range map[string]string{"absolute": f.Canary, "relative": "../canary", "root": "/"} {
		if err == nil {
			err = os.Symlink(target, filepath.Join(tree, name))
		}
	}
	if err == nil {
		err = unix.Mkfifo(filepath.Join(tree, "pipe"), 0o644) // a copy must not wait at it
	}
	for _, at := range [][2]string{{"tcp", "127.0.0.1:0"}, {"unix", f.Abstract}} {
		if err != nil {
			break
		}
		var l net.Listener
		if l, err = (&net.ListenConfig{}).Listen(ctx, at[0], at[1]); err == nil {
			listeners = append(listeners, l)
			go count(l, visits)
		}
	}
	if err != nil {
		done()
		return f, nil, nil, err
	}
	f.Address = listeners[0].Addr().String()
	return f, visits, done, nil
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

// inside runs the traps that one process can try.
func (b Box) inside(ctx context.Context, tree string, f facts) ([]Trap, error) {
	f.Env = []string{"HOME=" + Home, "KNOWN=1"}
	told, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	r, err := b.Run(ctx, Job{
		Tree: tree, Writable: f.Writable, Argv: []string{self, "trap", "inside", string(told)}, Env: f.Env,
		Limits: f.Limits, program: self,
	})
	if err != nil {
		return nil, err
	}
	var traps []Trap
	if err := json.Unmarshal([]byte(r.Stdout.String()), &traps); err != nil || len(traps) == 0 {
		return nil, fmt.Errorf("the traps ended with %s, %d: %.500q %.2000q", r.Status, r.Exit, r.Stdout, r.Stderr)
	}
	return traps, nil
}

// attack is a trap that needs a box of its own, and limits.
type attack struct {
	name   string
	args   []string
	limits Limits
	verify func(Result) string // what is wrong with how it ended
}

func attacks() []attack {
	marker := rand.Text()
	const most = 64 << 10
	return []attack{
		{"survive the command", []string{"survive", marker}, Limits{}, func(r Result) string {
			if r.Status != OK {
				return ended(r)
			}
			return survivors(marker)
		}},
		{"survive the time limit", []string{"linger", marker}, Limits{Time: 300 * time.Millisecond}, func(r Result) string {
			if r.Status != TimedOut || r.Usage.Wall > 10*time.Second {
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
		{"memory", []string{"eat"}, Limits{Memory: 200 << 20, Time: 20 * time.Second}, func(r Result) string {
			if r.Status == OverMemory && r.Usage.Memory < 2<<30 {
				return ""
			}
			return ended(r)
		}},
		{"a large file", []string{"file"}, Limits{FileSize: 1 << 20, Scratch: 8 << 20}, expectOK},
		{"a full disk", []string{"files"}, Limits{FileSize: 1 << 20, Scratch: 8 << 20}, expectOK},
		{"endless output", []string{"flood"}, Limits{Output: most, Time: 500 * time.Millisecond}, func(r Result) string {
			if r.Status != TimedOut || r.Stdout.Omitted == 0 || len(r.Stdout.Head)+len(r.Stdout.Tail) > most {
				return ended(r)
			}
			return ""
		}},
	}
}

func expectOK(r Result) string {
	if r.Status == OK {
		return ""
	}
	return ended(r)
}

func ended(r Result) string {
	return fmt.Sprintf("ended with %s, %d, after %v, %d MiB: %.200q %.500q", r.Status, r.Exit, r.Usage.Wall, r.Usage.Memory>>20, r.Stdout, r.Stderr)
}

func (b Box) attack(ctx context.Context, a attack) (Trap, error) {
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
