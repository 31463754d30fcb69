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

// facts tell the attempts in the sandbox about the targets outside.
type facts struct {
	Canary   string   // a file that the sandbox must not read
	Folder   string   // a writable folder
	Address  string   // the address of a server
	Abstract string   // the abstract address of another server
	Process  int      // a process of the host
	Env      []string // all that any environment may contain
}

// escape tries one way out of the sandbox. It returns what it reached, or nothing.
type escape struct {
	name string
	do   func(facts) string
}

// escapes are the ones that matter most to users. The tests have many more.
func escapes() []escape {
	return []escape{
		{"environments", readEnvironments},
		{"files of the host", readFiles},
		{"write outside", writeOutside},
		{"processes of the host", reachProcesses},
		{"servers of the host", reachServers},
		{"the network", reachNetwork},
	}
}

// SelfTest tries from inside a sandbox to reach the host's files, processes and network, and this program's
// environment. It returns each attempt with its outcome. An error means that it could not run.
func (b Sandbox) SelfTest(ctx context.Context) ([]Trap, error) {
	dir, err := os.MkdirTemp("", "precedent-box-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	f, listeners, err := setUpTargets(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer listeners.close()
	told, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	return b.runEscapes(ctx,
		Job{Argv: []string{self, "try", string(told)}, Env: f.Env, Limits: Limits{Time: probeTime}})
}

// runEscapes runs this program in a sandbox and reads the traps that it writes.
func (b Sandbox) runEscapes(ctx context.Context, j Job) ([]Trap, error) {
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

// setUpTargets creates what the sandbox must not reach: a file in dir, and servers.
func setUpTargets(ctx context.Context, dir string) (facts, listeners, error) {
	f := facts{
		Canary: filepath.Join(dir, "canary"), Folder: dir, Abstract: "@precedent-" + rand.Text(),
		Process: os.Getpid(), Env: []string{"HOME=" + Home, "KNOWN=1"},
	}
	err := os.WriteFile(f.Canary, []byte(rand.Text()), 0o600)
	for name, mode := range map[string]os.FileMode{f.Canary: 0o644, dir: 0o755} {
		if err == nil {
			err = os.Chmod(name, mode) // outside the sandbox, the sandbox's user could read it
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

// tryEscapes runs in the sandbox. told is the facts, as JSON.
func tryEscapes(told string) error {
	var f facts
	if err := json.Unmarshal([]byte(told), &f); err != nil {
		return err
	}
	var traps []Trap
	for _, t := range escapes() {
		traps = append(traps, t.trap(f))
	}
	return json.NewEncoder(os.Stdout).Encode(traps)
}

func (t escape) trap(f facts) Trap {
	detail := t.do(f)
	return Trap{Name: t.name, Held: detail == "", Detail: detail}
}

func readEnvironments(f facts) string {
	lists, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(lists) == 0 {
		return "cannot list processes"
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
	if own := os.Environ(); !slices.Equal(own, f.Env) { //nolint:forbidigo // the command's environment, in the sandbox
		return fmt.Sprintf("%d variables instead of %d", len(own), len(f.Env))
	}
	return ""
}

func reachProcesses(f facts) string {
	lists, err := filepath.Glob("/proc/[0-9]*/cmdline")
	const most = 3 // bubblewrap, this one, and a zombie
	if err != nil || len(lists) > most {
		return fmt.Sprintf("%d processes", len(lists))
	}
	if err := unix.Kill(f.Process, 0); !errors.Is(err, unix.ESRCH) {
		return fmt.Sprintf("a signal to %d: %v", f.Process, err)
	}
	return ""
}

func readFiles(f facts) string {
	return readAny(f.Canary, "/proc/1/root"+f.Canary, "/proc/self/root"+f.Canary, "../canary", "/etc/shadow",
		"/etc/resolv.conf", "/run", "/var", "/root", "/home", "/sys/kernel", "/host")
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
		"/", "..", "/usr", "/usr/bin", "/etc", "/dev", "/dev/pts", "/proc", "/proc/sys", "/.box",
		filepath.Dir(f.Folder), f.Folder,
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
	// Documentation addresses, which belong to no host. Without a network, connecting fails immediately.
	for _, a := range [][2]string{{"tcp", "192.0.2.1:443"}, {"udp", "192.0.2.53:53"}, {"tcp", "[2001:db8::1]:443"}} {
		if err := dial(a[0], a[1]); !errors.Is(err, unix.ENETUNREACH) && !errors.Is(err, unix.EADDRNOTAVAIL) &&
			!errors.Is(err, unix.EAFNOSUPPORT) {
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
