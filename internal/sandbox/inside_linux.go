//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// try is one attempt; it returns what came through, or nothing.
type try struct {
	name string
	do   func(facts) string
}

func tryAll(f facts) []Trap {
	var traps []Trap
	for _, t := range slices.Concat(triesToRead(), triesToWrite(), triesToTalk(), triesToRise()) {
		detail := t.do(f)
		name := t.name
		if f.Writable {
			name += " (writable tree)"
		}
		traps = append(traps, Trap{Name: name, Held: detail == "", Detail: detail})
	}
	return traps
}

func triesToRead() []try {
	return []try{
		{"environments", readEnvironments},
		{"descriptors", func(facts) string {
			open, err := filepath.Glob("/proc/self/fd/*")
			if err != nil {
				return err.Error()
			}
			var strange []string
			for _, name := range open {
				to, err := os.Readlink(name)
				ours := strings.HasPrefix(to, "pipe:") || strings.HasPrefix(to, "anon_inode:[event") || to == "/dev/null"
				if err == nil && !ours {
					strange = append(strange, to)
				}
			}
			return strings.Join(strange, " ")
		}},
		{"standard input", func(facts) string {
			if n, err := os.Stdin.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
				return "it holds something"
			}
			return ""
		}},
		{"processes of the host", func(f facts) string {
			lists, err := filepath.Glob("/proc/[0-9]*/cmdline")
			const most = 3 // bubblewrap, this, and a zombie
			if err != nil || len(lists) > most {
				return fmt.Sprintf("%d processes", len(lists))
			}
			if err := unix.Kill(f.Process, 0); !errors.Is(err, unix.ESRCH) {
				return fmt.Sprintf("a signal to %d: %v", f.Process, err)
			}
			return ""
		}},
		{"files of the host", func(f facts) string {
			for _, name := range []string{
				f.Canary, Work + "/absolute", Work + "/relative", Work + "/root" + f.Canary, "/proc/1/root" + f.Canary,
				"/proc/self/root" + f.Canary, "../canary", "/etc/shadow", "/etc/resolv.conf", "/run", "/var", "/root", "/home", "/sys/kernel", "/host",
			} {
				if content, err := os.ReadFile(name); err == nil || errors.Is(err, unix.EISDIR) {
					return fmt.Sprintf("%s: %.40q", name, content)
				}
			}
			return ""
		}},
		{"memory of process 1", func(facts) string {
			for _, name := range []string{"/proc/1/mem", "/proc/1/maps", "/proc/1/fd/3"} {
				f, err := os.Open(name)
				if err != nil {
					continue
				}
				_, err = f.Read(make([]byte, 1))
				_ = f.Close()
				if err == nil {
					return name
				}
			}
			return ""
		}},
		{"the tree", func(facts) string { // no escape: what the box is for
			content, err := os.ReadFile(Work + "/file")
			if err != nil || string(content) != "in the tree\n" {
				return fmt.Sprintf("%q, %v", content, err)
			}
			return ""
		}},
	}
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

func triesToWrite() []try {
	return []try{
		{"write outside", func(f facts) string {
			for _, dir := range []string{
				"/", "..", "/usr", "/usr/bin", "/etc", "/dev", "/dev/pts", "/proc", "/proc/sys", "/.box", filepath.Dir(f.Folder), f.Folder,
				"/root", "/home", "/var/tmp", "/run", Work + "/root",
			} {
				name := filepath.Join(dir, "written")
				if dir != Home && os.WriteFile(name, []byte("x"), 0o600) == nil && !strings.HasPrefix(name, Home+"/") {
					return name
				}
			}
			return ""
		}},
		{"write to the tree", func(f facts) string {
			err := os.WriteFile(Work+"/file", []byte("changed"), 0o600)
			if created := os.WriteFile(Work+"/new", nil, 0o600); (created == nil) != (err == nil) {
				return fmt.Sprintf("changed: %v, new: %v", err, created)
			}
			if f.Writable != (err == nil) {
				return fmt.Sprint(err)
			}
			if err == nil {
				err = os.WriteFile(Work+"/file", []byte("in the tree\n"), 0o600)
			} else if errors.Is(err, unix.EROFS) || errors.Is(err, unix.EACCES) {
				err = nil
			}
			if err != nil {
				return err.Error()
			}
			return ""
		}},
		{"write through the copy's source", func(facts) string {
			if err := os.WriteFile(tree+"/file", nil, 0o600); err == nil {
				return tree
			}
			return ""
		}},
		{"settings of the kernel", func(facts) string {
			for _, name := range []string{
				"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hostname", "/proc/sys/vm/overcommit_memory",
				"/proc/sys/net/ipv4/ip_forward", "/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/proc/kcore", "/proc/kmsg", "/proc/1/oom_score_adj",
			} {
				if file, err := os.OpenFile(name, os.O_WRONLY, 0); err == nil {
					_ = file.Close()
					return name
				}
			}
			return ""
		}},
		{"hard links", func(facts) string {
			for _, name := range []string{"/usr/bin/env", "/etc/passwd", self} {
				if err := os.Link(name, Home+"/link"); err == nil {
					return name
				}
			}
			return ""
		}},
	}
}

func triesToTalk() []try {
	dial := func(network, address string) error {
		d := net.Dialer{Timeout: time.Second}
		c, err := d.DialContext(context.Background(), network, address)
		if err == nil {
			_ = c.Close()
		}
		return err
	}
	return []try{
		{"servers of the host", func(f facts) string {
			if dial("tcp", f.Address) == nil {
				return f.Address
			}
			if dial("unix", f.Abstract) == nil {
				return f.Abstract
			}
			return ""
		}},
		{"the network", func(facts) string {
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
		}},
		{"names", func(facts) string {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			if found, err := net.DefaultResolver.LookupHost(ctx, "precedent.invalid"); err == nil {
				return fmt.Sprint(found)
			}
			return ""
		}},
		{"other families of sockets", func(facts) string {
			for _, family := range []int{unix.AF_VSOCK, unix.AF_PACKET, unix.AF_ALG, unix.AF_BLUETOOTH, unix.AF_KEY, unix.AF_XDP, unix.AF_TIPC} {
				for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_RAW, unix.SOCK_SEQPACKET} {
					if s, err := unix.Socket(family, kind, 0); err == nil {
						_ = unix.Close(s)
						return fmt.Sprintf("family %d", family)
					}
				}
			}
			if s, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP); err == nil {
				_ = unix.Close(s)
				return "raw"
			}
			return ""
		}},
		{"itself", func(facts) string { // no escape: tests of servers need it
			l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
			if err != nil {
				return err.Error()
			}
			defer l.Close()
			if err := dial("tcp", l.Addr().String()); err != nil {
				return err.Error()
			}
			return ""
		}},
		{"typing into a terminal", func(facts) string {
			if t, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
				_ = t.Close()
				return "there is one"
			}
			letter := []byte{'x'}
			if err := ioctl(0, unix.TIOCSTI, letter); !errors.Is(err, unix.EPERM) {
				return fmt.Sprint(err)
			}
			return ""
		}},
	}
}
