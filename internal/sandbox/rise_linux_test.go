//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

func ioctl(fd int, request uint, data []byte) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(unsafe.Pointer(&data[0])))
	return errno
}

// triesToRise are for more rights than the command was given.
func triesToRise() []attempt {
	return []attempt{
		{"capabilities", func(told) string {
			return status(map[string]string{
				"CapInh": zeros, "CapPrm": zeros, "CapEff": zeros, "CapBnd": zeros, "CapAmb": zeros,
				"NoNewPrivs": "1", "Seccomp": "2", "Umask": "0022",
			})
		}},
		{"another user", func(told) string {
			if os.Getuid() == 0 || os.Geteuid() == 0 || os.Getgid() == 0 {
				return "it is root"
			}
			if unix.Setuid(0) == nil || unix.Setgid(0) == nil || unix.Setgroups([]int{0}) == nil {
				return "it became root"
			}
			groups, err := os.Getgroups()
			const overflow = 65534 // groups of the host that the sandbox has no number for
			if i := slices.IndexFunc(groups, func(g int) bool { return g != overflow && g != os.Getgid() }); err != nil ||
				i >= 0 {
				return fmt.Sprint("groups ", groups, err)
			}
			return ""
		}},
		{"files that make root", func(told) string {
			for _, dir := range []string{"/usr", "/", Work, Home, "/.box/self", "/dev"} {
				var s unix.Statfs_t
				if err := unix.Statfs(dir, &s); err != nil || s.Flags&unix.ST_NOSUID == 0 {
					return fmt.Sprint(dir, err)
				}
				if dir != "/dev" && s.Flags&unix.ST_NODEV == 0 {
					return dir + " has devices"
				}
			}
			return ""
		}},
		{"device nodes", func(told) string {
			for _, kind := range []uint32{unix.S_IFCHR, unix.S_IFBLK} {
				if err := unix.Mknod(Home+"/device", kind|0o600, int(unix.Mkdev(1, 3))); !errors.Is(err, unix.EPERM) {
					return fmt.Sprint(err)
				}
			}
			return ""
		}},
		{"system calls", refusedCalls},
		{"limits", func(f told) string {
			for resource, want := range map[int]int64{
				unix.RLIMIT_CORE: 0, unix.RLIMIT_NPROC: int64(f.Limits.Processes), unix.RLIMIT_NOFILE: int64(f.Limits.OpenFiles),
				unix.RLIMIT_FSIZE: f.Limits.FileSize,
			} {
				var l unix.Rlimit
				if err := unix.Getrlimit(resource, &l); err != nil || int64(l.Max) != want {
					return fmt.Sprint(resource, l, err)
				}
				l.Max++
				if err := unix.Setrlimit(resource, &l); err == nil {
					return fmt.Sprint(resource, " can be raised")
				}
			}
			return ""
		}},
	}
}

const zeros = "0000000000000000"

func status(want map[string]string) string {
	content, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return err.Error()
	}
	found := 0
	for line := range strings.Lines(string(content)) {
		name, value, _ := strings.Cut(line, ":")
		if w, ok := want[name]; ok {
			found++
			if strings.TrimSpace(value) != w {
				return strings.TrimSpace(line)
			}
		}
	}
	if found != len(want) {
		return "the kernel does not say"
	}
	return ""
}

// refusedCalls makes each of the calls with arguments that do nothing even
// where the call is allowed, and wants the filter's answer.
func refusedCalls(told) string {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	call := func(number uint32, args ...uintptr) error {
		args = append(args, make([]uintptr, 6)...)
		_, _, errno := unix.RawSyscall6(uintptr(number), args[0], args[1], args[2], args[3], args[4], args[5])
		return errno
	}
	bad := ^uintptr(0) // no valid descriptor, address or command
	for _, number := range refused {
		if err := call(number, bad, bad, bad, bad, bad, bad); !errors.Is(err, unix.EPERM) {
			return fmt.Sprintf("call %d: %v", number, err)
		}
	}
	for _, number := range slices.Concat(absent, []uint32{newest + 1, newest + 100, 0x40000000 + unix.SYS_GETPID}) {
		if err := call(number, bad, bad, bad, bad, bad, bad); !errors.Is(err, unix.ENOSYS) {
			return fmt.Sprintf("call %d: %v", number, err)
		}
	}
	// The child, were there one, would end at once; a bad set of flags makes none.
	for _, flag := range []uintptr{unix.CLONE_NEWUSER, unix.CLONE_NEWNS, unix.CLONE_NEWPID, unix.CLONE_NEWNET} {
		if err := call(unix.SYS_CLONE, flag|unix.CLONE_THREAD); !errors.Is(err, unix.EPERM) {
			return fmt.Sprintf("clone %#x: %v", flag, err)
		}
	}
	const traceMe = 0
	if err := call(unix.SYS_PTRACE, traceMe); !errors.Is(err, unix.EPERM) {
		return fmt.Sprintf("ptrace: %v", err)
	}
	if err := unix.Mount("tmpfs", Home, "tmpfs", 0, ""); !errors.Is(err, unix.EPERM) {
		return fmt.Sprintf("mount: %v", err)
	}
	return ""
}
