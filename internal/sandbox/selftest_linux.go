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
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// facts are what the attempts inside are told about the outside.
type facts struct {
	Canary   string   // a file that is not for the box
	Folder   string   // a folder that can be written to
	Address  string   // where a server listens
	Abstract string   // and another one, by an abstract name
	Process  int      // of the host
	Env      []string // all that may be found in any environment
}

// try is one attempt; it returns what came through, or nothing.
type try struct {
	name string
	do   func(facts) string
}

// tries are those whose success costs a user most. Those of the tests are many more.
func tries() []try {
	return []try{
		{"environments", readEnvironments},
		{"files of the host", readFiles},
		{"write outside", writeOutside},
		{"processes of the host", reachProcesses},
		{"servers of the host", reachServers},
		{"the network", reachNetwork},
	}
}

// SelfTest tries to reach the host's files, processes, network and this
// program's environment from inside a box, and returns each attempt with what
// came of it. The error says that it could not be tried.
func (b Box) SelfTest(ctx context.Context) ([]Trap, error) {
	dir, err := os.MkdirTemp("", "precedent-box-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	f, listeners, err := outside(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer listeners.close()
	told, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	return b.tried(ctx, Job{Argv: []string{self, "try", string(told)}, Env: f.Env, Limits: Limits{Time: enough}})
}

// tried runs this program in a box and reads the traps that it writes.
func (b Box) tried(ctx context.Context, j Job) ([]Trap, error) {
	j.program = self
	r, err := b.Run(ctx, j)
	if err != nil {
		return nil, err
	}
	return trapsOf(r)
}

func trapsOf(r Result) ([]Trap, error) {
	var traps []Trap
	if err := json.Unmarshal([]byte(r.Stdout.String()), &traps); err != nil || len(traps) == 0 {
		return nil, fmt.Errorf("the attempts ended with %s, %d: %.500q %.2000q", r.Status, r.Exit, r.Stdout, r.Stderr)
	}
	return traps, nil
}

type listeners []net.Listener

func (l listeners) close() {
	for _, one := range l {
		_ = one.Close()
	}
}

// outside sets up what must not be reached: a file in dir, and servers.
func outside(ctx context.Context, dir string) (facts, listeners, error) {
	f := facts{
		Canary: filepath.Join(dir, "canary"), Folder: dir, Abstract: "@precedent-" + rand.Text(), Process: os.Getpid(),
		Env: []string{"HOME=" + Home, "KNOWN=1"},
	}
	err := os.WriteFile(f.Canary, []byte(rand.Text()), 0o600)
	for name, mode := range map[string]os.FileMode{f.Canary: 0o644, dir: 0o755} {
		if err == nil {
			err = os.Chmod(name, mode) // the box's user could read it, were it not for the box
		}
	}
	var all listeners
	for _, at := range [][2]string{{"tcp", "127.0.0.1:0"}, {"unix", f.Abstract}} {
		if err != nil {
			break
		}
		var l net.Listener
		if l, err = (&net.ListenConfig{}).Listen(ctx, at[0], at[1]); err == nil {
			all = append(all, l)
		}
	}
	if err != nil {
		all.close()
		return f, nil, err
	}
	f.Address = all[0].Addr().String()
	return f, all, nil
}

// tryAll is this program in the box: told are the facts, as JSON.
func tryAll(told string) error {
	var f facts
	if err := json.Unmarshal([]byte(told), &f); err != nil {
		return err
	}
	var traps []Trap
	for _, t := range tries() {
		traps = append(traps, t.trap(f))
	}
	return json.NewEncoder(os.Stdout).Encode(traps)
}

func (t try) trap(f facts) Trap {
	detail := t.do(f)
	return Trap{Name: t.name, Held: detail == "", Detail: detail}
}

func readEnvironments(f facts) string {
	lists, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(lists) == 0 {
		return "no list of processes"
	}
	for _, name := range lists {
		content, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		for v := range bytes.SplitSeq(content, []byte{0}) {
			if len(v) > 0 && !slices.Contains(f.Env, string(v)) {
				name, _, _ := bytes.Cut(v, []byte("="))
				return "found " + string(name)
			}
		}
	}
	if own := os.Environ(); !slices.Equal(own, f.Env) { //nolint:forbidigo // the command's, in the box
		return fmt.Sprintf("%d variables instead of %d", len(own), len(f.Env))
	}
	return ""
}

func reachProcesses(f facts) string {
	lists, err := filepath.Glob("/proc/[0-9]*/cmdline")
	const most = 3 // bubblewrap, this, and a zombie
	if err != nil || len(lists) > most {
		return fmt.Sprintf("%d processes", len(lists))
	}
	if err := unix.Kill(f.Process, 0); !errors.Is(err, unix.ESRCH) {
		return fmt.Sprintf("a signal to %d: %v", f.Process, err)
	}
	return ""
}

func readFiles(f facts) string {
	return readAny(
		f.Canary, "/proc/1/root"+f.Canary, "/proc/self/root"+f.Canary, "../canary",
		"/etc/shadow", "/etc/resolv.conf", "/run", "/var", "/root", "/home", "/sys/kernel", "/host",
	)
}

func readAny(names ...string) string {
	for _, name := range names {
		if content, err := os.ReadFile(name); err == nil || errors.Is(err, unix.EISDIR) {
			return fmt.Sprintf("%s: %.40q", name, content)
		}
	}
	return ""
}

func writeOutside(f facts) string {
	for _, dir := range []string{
		"/", "..", "/usr", "/usr/bin", "/etc", "/dev", "/dev/pts", "/proc", "/proc/sys", "/.box", filepath.Dir(f.Folder), f.Folder,
		"/root", "/home", "/var/tmp", "/run",
	} {
		name := filepath.Join(dir, "written")
		if dir != Home && os.WriteFile(name, []byte("x"), 0o600) == nil && !strings.HasPrefix(name, Home+"/") {
			return name
		}
	}
	return ""
}

func reachServers(f facts) string {
	if dial("tcp", f.Address) == nil {
		return f.Address
	}
	if dial("unix", f.Abstract) == nil {
		return f.Abstract
	}
	return ""
}

func reachNetwork(facts) string {
	interfaces, err := net.Interfaces()
	if err != nil || len(interfaces) != 1 || interfaces[0].Flags&net.FlagLoopback == 0 {
		return fmt.Sprint(interfaces, err)
	}
	// Addresses for documentation: nobody has them, and without a network there is not even a way to try.
	for _, a := range [][2]string{{"tcp", "192.0.2.1:443"}, {"udp", "192.0.2.53:53"}, {"tcp", "[2001:db8::1]:443"}} {
		if err := dial(a[0], a[1]); !errors.Is(err, unix.ENETUNREACH) && !errors.Is(err, unix.EADDRNOTAVAIL) && !errors.Is(err, unix.EAFNOSUPPORT) {
			return fmt.Sprint(a, err)
		}
	}
	return ""
}

func dial(network, address string) error {
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(context.Background(), network, address)
	if err == nil {
		_ = c.Close()
	}
	return err
}
