//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refused are system calls that builds do not need but attackers do (T1): they reach into other processes,
// change the sandbox, or expose large parts of the kernel. They fail with EPERM.
var refused = append([]uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE,
	unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,

	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_CHROOT, unix.SYS_PIVOT_ROOT, unix.SYS_MOUNT, unix.SYS_UMOUNT2,
	unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG,
	unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_FANOTIFY_INIT,

	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_BPF, unix.SYS_USERFAULTFD,
	unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SYSLOG, unix.SYS_ACCT, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_VHANGUP,
}, refusedHere...)

// absent are the calls that programs can do without, as on older kernels. The filter
// cannot see the flags of clone3, and clone replaces it. The others hold memory
// outside of processes and files, where the limits do not count it (fault 24).
var absent = []uint32{
	unix.SYS_CLONE3, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_SHMGET, unix.SYS_SEMGET, unix.SYS_MSGGET,
}

// unfit are the calls that put pages of a process or a file into a pipe or a socket, which counts their bytes
// and not the pages (fault 24). They fail as for files that do not support them, after which programs copy.
var unfit = []uint32{unix.SYS_VMSPLICE, unix.SYS_SPLICE, unix.SYS_TEE, unix.SYS_SENDFILE}

const (
	// newest is the last call that was reviewed; calls after it fail as absent.
	newest = unix.SYS_RSEQ_SLICE_YIELD

	namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
		unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

	// Offsets in the kernel's struct seccomp_data. For an argument, the lower half,
	// which comes first on both architectures.
	numberAt, archAt, arg0At, arg1At, arg2At = 0, 4, 16, 24, 32
)

// filter is a program in the kernel's classic BPF. Each piece below either returns,
// or leaves the call's number loaded for the next one.
type filter []unix.SockFilter

func load(at uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

// jump skips yes instructions if the test holds, else no instructions.
func jump(test uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | test, K: k, Jt: yes, Jf: no}
}

func end(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

func fail(errno unix.Errno) unix.SockFilter { return end(unix.SECCOMP_RET_ERRNO | uint32(errno)) }

// on runs body for one call. body must return.
func on(number uint32, body ...unix.SockFilter) filter {
	return append(filter{jump(unix.BPF_JEQ, number, 0, uint8(len(body)))}, body...)
}

func seccompFilter() filter {
	allow := end(unix.SECCOMP_RET_ALLOW)
	f := filter{
		load(archAt),
		jump(unix.BPF_JEQ, auditArch, 1, 0),
		end(unix.SECCOMP_RET_KILL_PROCESS), // other architectures have other numbers
		load(numberAt),
		jump(unix.BPF_JGT, newest, 0, 1), // including amd64's x32 calls
		fail(unix.ENOSYS),
	}
	for _, n := range refused {
		f = append(f, on(n, fail(unix.EPERM))...)
	}
	for _, n := range absent {
		f = append(f, on(n, fail(unix.ENOSYS))...)
	}
	for _, n := range unfit {
		f = append(f, on(n, fail(unix.EINVAL))...)
	}
	// Buffers keep their size; programs expect that, because the kernel limits it silently.
	f = append(f, on(unix.SYS_SETSOCKOPT,
		load(arg1At), jump(unix.BPF_JEQ, unix.SOL_SOCKET, 0, 6), load(arg2At),
		jump(unix.BPF_JEQ, unix.SO_SNDBUF, 5, 0), jump(unix.BPF_JEQ, unix.SO_RCVBUF, 4, 0),
		jump(unix.BPF_JEQ, unix.SO_SNDBUFFORCE, 1, 0), jump(unix.BPF_JEQ, unix.SO_RCVBUFFORCE, 0, 1),
		fail(unix.EPERM), allow, fail(0))...)
	f = append(f, on(unix.SYS_FCNTL,
		load(arg1At), jump(unix.BPF_JEQ, unix.F_SETPIPE_SZ, 0, 1), fail(unix.EPERM), allow)...)
	f = append(f, on(unix.SYS_CLONE,
		load(arg0At), jump(unix.BPF_JSET, namespaces, 0, 1), fail(unix.EPERM), allow)...)
	f = append(f, on(unix.SYS_IOCTL, // these type into a terminal
		load(arg1At), jump(unix.BPF_JEQ, unix.TIOCSTI, 1, 0), jump(unix.BPF_JEQ, tioclinux, 0, 1),
		fail(unix.EPERM), allow)...)
	f = append(f, on(unix.SYS_SOCKET, // the network namespace does not cover all families, such as vsock
		load(arg0At), jump(unix.BPF_JEQ, unix.AF_UNIX, 11, 0),
		jump(unix.BPF_JEQ, unix.AF_INET, 4, 0), jump(unix.BPF_JEQ, unix.AF_INET6, 3, 0),
		jump(unix.BPF_JEQ, unix.AF_NETLINK, 0, 9), load(arg2At), jump(unix.BPF_JEQ, unix.NETLINK_ROUTE, 6, 7),
		load(arg2At), // buffers of other protocols, such as MPTCP, are not counted
		jump(unix.BPF_JEQ, 0, 4, 0), jump(unix.BPF_JEQ, unix.IPPROTO_TCP, 3, 0),
		jump(unix.BPF_JEQ, unix.IPPROTO_UDP, 2, 0), jump(unix.BPF_JEQ, unix.IPPROTO_ICMP, 1, 0),
		jump(unix.BPF_JEQ, unix.IPPROTO_ICMPV6, 0, 1),
		allow, fail(unix.EAFNOSUPPORT))...)
	f = append(f, on(unix.SYS_SOCKETPAIR, // the kernel makes sockets of any family before it refuses to pair them
		load(arg0At), jump(unix.BPF_JEQ, unix.AF_UNIX, 0, 1), allow, fail(unix.EAFNOSUPPORT))...)
	return append(f, allow)
}

const tioclinux = 0x541c // linux/tiocl.h; golang.org/x/sys lacks it

// bytes returns the filter in the form that bubblewrap reads: as in memory.
func (f filter) bytes() []byte {
	b := make([]byte, 0, 8*len(f))
	for _, i := range f {
		b = binary.NativeEndian.AppendUint16(b, i.Code)
		b = append(b, i.Jt, i.Jf)
		b = binary.NativeEndian.AppendUint32(b, i.K)
	}
	return b
}

// install applies the filter to the thread, and to whatever it executes. This cannot be undone.
func (f filter) install() error {
	program := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	address := uintptr(unsafe.Pointer(&program)) //nolint:gosec // a system call's argument
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, address, 0, 0)
	if err != nil {
		return fmt.Errorf("install the seccomp filter: %w", err)
	}
	return nil
}
