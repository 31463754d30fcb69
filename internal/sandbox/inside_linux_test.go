//go:build amd64 || arm64

package sandbox

import (
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

// told is what the attacks inside are told about the outside.
type told struct {
	facts

	Writable bool // the tree
	Limits   Limits
}

// attackAll makes all attacks that one process can make.
func attackAll(f told) []Trap {
	all := escapes()
	for _, t := range slices.Concat(triesToRead(), triesToWrite(), triesToTalk(), triesToRise()) {
		all = append(all, escape{t.name, func(facts) string { return t.do(f) }})
	}
	var traps []Trap
	for _, t := range all {
		if f.Writable {
			t.name += " (writable tree)"
		}
		traps = append(traps, t.trap(f.facts))
	}
	return traps
}

// attempt is a try that knows more.
type attempt struct {
	name string
	do   func(told) string
}

func triesToRead() []attempt {
	return []attempt{
		{"descriptors", func(told) string {
			open, err := filepath.Glob("/proc/self/fd/*")
			if err != nil {
				return err.Error()
			}
			var strange []string
			for _, name := range open {
				to, err := os.Readlink(name)
				ours := strings.HasPrefix(to, "pipe:") || strings.HasPrefix(to, "anon_inode:[event") ||
					to == "/dev/null"
				if err == nil && !ours {
					strange = append(strange, to)
				}
			}
			return strings.Join(strange, " ")
		}},
		{"standard input", func(told) string {
			if n, err := os.Stdin.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
				return "it holds something"
			}
			return ""
		}},
		{"links to files of the host", func(f told) string {
			return readAny(Work+"/absolute", Work+"/relative", Work+"/root"+f.Canary)
		}},
		{"configuration of programs", func(told) string { // "no secrets in env", nor in files of the operator
			for _, dir := range []string{"/usr", "/usr/local"} {
				found, err := os.ReadDir(dir)
				if err != nil {
					return err.Error()
				}
				for _, e := range found {
					if name := dir + "/" + e.Name(); name != "/usr/local" && !InEverySandbox(name) {
						return name
					}
				}
			}
			return readAny("/usr/local/etc", "/usr/etc", "/usr/local/src", "/usr/src", "/opt", "/srv", "/mnt", "/media",
				"/boot", "/nix", "/snap", "/etc/npmrc", "/etc/pip.conf", "/etc/gitconfig")
		}},
		{"memory of process 1", func(told) string {
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
		{"the tree", func(told) string { // no escape: what the sandbox is for
			content, err := os.ReadFile(Work + "/file")
			if err != nil || string(content) != "in the tree\n" {
				return fmt.Sprintf("%q, %v", content, err)
			}
			return ""
		}},
	}
}

func triesToWrite() []attempt {
	return []attempt{
		{"write through a link", func(told) string {
			if os.WriteFile(Work+"/root/written", []byte("x"), 0o600) == nil {
				return Work + "/root"
			}
			return ""
		}},
		{"write to the tree", func(f told) string {
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
		{"write through the copy's source", func(told) string {
			if err := os.WriteFile(tree+"/file", nil, 0o600); err == nil {
				return tree
			}
			return ""
		}},
		{"settings of the kernel", func(told) string {
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
		{"hard links", func(told) string {
			for _, name := range []string{"/usr/bin/env", "/etc/passwd", self} {
				if err := os.Link(name, Home+"/link"); err == nil {
					return name
				}
			}
			return ""
		}},
	}
}

func triesToTalk() []attempt {
	return []attempt{
		{"names", func(told) string {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			if found, err := net.DefaultResolver.LookupHost(ctx, "precedent.invalid"); err == nil {
				return fmt.Sprint(found)
			}
			return ""
		}},
		{"other families of sockets", func(told) string {
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
		{"itself", func(told) string { // no escape: tests of servers need it
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
		{"typing into a terminal", func(told) string {
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
