//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/precedent-dev/precedent/internal/needs"
)

// evaluate runs a filter as the kernel does, as far as it is used here.
func evaluate(t *testing.T, f filter, number, arch uint32, args ...uint64) uint32 {
	t.Helper()
	data := make([]byte, 64) // struct seccomp_data
	binary.NativeEndian.PutUint32(data, number)
	binary.NativeEndian.PutUint32(data[4:], arch)
	for i, a := range args {
		binary.NativeEndian.PutUint64(data[16+8*i:], a)
	}
	loaded := uint32(0)
	for at := 0; at < len(f); at++ {
		i := f[at]
		yes := false
		switch i.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			loaded = binary.NativeEndian.Uint32(data[i.K:])
			continue
		case unix.BPF_RET | unix.BPF_K:
			return i.K
		case unix.BPF_JMP | unix.BPF_K | unix.BPF_JEQ:
			yes = loaded == i.K
		case unix.BPF_JMP | unix.BPF_K | unix.BPF_JGT:
			yes = loaded > i.K
		case unix.BPF_JMP | unix.BPF_K | unix.BPF_JSET:
			yes = loaded&i.K != 0
		default:
			t.Fatalf("instruction %d has code %#x", at, i.Code)
		}
		if yes {
			at += int(i.Jt)
		} else {
			at += int(i.Jf)
		}
	}
	t.Fatal("the filter runs off its end")
	return 0
}

func TestFilter(t *testing.T) {
	f := seccompFilter()
	const most = 4096 // BPF_MAXINSNS
	if len(f) > most || len(f.bytes()) != 8*len(f) {
		t.Errorf("%d instructions in %d bytes", len(f), len(f.bytes()))
	}
	eperm, family := fail(unix.EPERM).K, fail(unix.EAFNOSUPPORT).K
	const allow, vsock, sigchld = uint32(unix.SECCOMP_RET_ALLOW), 40, 17
	for _, n := range unfit { // refusedCalls makes the others
		if got := evaluate(t, f, n, auditArch); got != fail(unix.EINVAL).K {
			t.Errorf("call %d: %#x", n, got)
		}
	}
	high := uint64(1) << 32 // the kernel ignores it where an argument is an int
	for _, test := range []struct {
		name   string
		number uint32
		args   []uint64
		want   uint32
	}{
		{"read", unix.SYS_READ, nil, allow},
		{"thread", unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_THREAD | unix.CLONE_SIGHAND}, allow},
		{"fork", unix.SYS_CLONE, []uint64{sigchld}, allow},
		{"clone user", unix.SYS_CLONE, []uint64{sigchld | unix.CLONE_NEWUSER}, eperm},
		{"window size", unix.SYS_IOCTL, []uint64{0, unix.TIOCGWINSZ}, allow},
		{"type", unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}, eperm},
		{"type, high bits", unix.SYS_IOCTL, []uint64{0, high | unix.TIOCSTI}, eperm},
		{"select", unix.SYS_IOCTL, []uint64{0, tioclinux}, eperm},
		{"unix", unix.SYS_SOCKET, []uint64{unix.AF_UNIX}, allow},
		{"inet", unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM}, allow},
		{"route", unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}, allow},
		{"audit", unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT}, family},
		{"vsock", unix.SYS_SOCKET, []uint64{vsock}, family},
		{"vsock, high bits", unix.SYS_SOCKET, []uint64{high | vsock}, family},
		{"TCP", unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_TCP}, allow},
		{"ICMP", unix.SYS_SOCKET, []uint64{unix.AF_INET6, unix.SOCK_DGRAM, unix.IPPROTO_ICMPV6}, allow},
		{"MPTCP", unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, family},
		{"socket's send buffer", unix.SYS_SETSOCKOPT, []uint64{3, unix.SOL_SOCKET, unix.SO_SNDBUF}, fail(0).K},
		{"receive buffer, high bits", unix.SYS_SETSOCKOPT, []uint64{3, high | unix.SOL_SOCKET, high | unix.SO_RCVBUF}, fail(0).K},
		{"forced send buffer", unix.SYS_SETSOCKOPT, []uint64{3, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE}, eperm},
		{"address in use", unix.SYS_SETSOCKOPT, []uint64{3, unix.SOL_SOCKET, unix.SO_REUSEADDR}, allow},
		{"an option of the same number", unix.SYS_SETSOCKOPT, []uint64{3, unix.IPPROTO_TCP, unix.SO_SNDBUF}, allow},
		{"larger pipe", unix.SYS_FCNTL, []uint64{3, unix.F_SETPIPE_SZ}, eperm},
		{"flags", unix.SYS_FCNTL, []uint64{3, unix.F_SETFL}, allow},
		{"pair of another family", unix.SYS_SOCKETPAIR, []uint64{unix.AF_TIPC}, family},
	} {
		if got := evaluate(t, f, test.number, auditArch, test.args...); got != test.want {
			t.Errorf("%s: %#x, want %#x", test.name, got, test.want)
		}
	}
	const i386 = 0x40000003
	needs.Equal(t, uint32(unix.SECCOMP_RET_KILL_PROCESS), evaluate(t, f, unix.SYS_READ, i386))
}
