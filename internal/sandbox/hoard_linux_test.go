//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// hoard holds memory that belongs to no process, in one of the places for it, and stays.
func hoard(place string) error {
	var err error
	switch place {
	case "socket buffers":
		_, err = fillSockets(400)
	case "sockets on their way":
		err = sendSockets()
	case "TCP buffers":
		err = fillTCP()
	case "page tables":
		err = fillTables()
	case "pipes":
		err = fillPipes()
	}
	if err != nil {
		return err
	}
	stay()
	return nil
}

// fillSockets fills pairs of sockets in both directions.
func fillSockets(pairs int) (all []int, err error) {
	block := make([]byte, 32<<10)
	for range pairs {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			return all, err
		}
		for _, fd := range pair {
			_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 8<<20) // without effect
			for err = nil; err == nil; {
				_, err = unix.Write(fd, block)
			}
			if !errors.Is(err, unix.EAGAIN) {
				return all, err
			}
		}
		all = append(all, pair[:]...)
	}
	return all, nil
}

// sendSockets fills sockets, sends them to nobody and closes them.
func sendSockets() error {
	for range 6 {
		carrier, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		all, err := fillSockets(60)
		if err != nil {
			return err
		}
		if err := unix.Sendmsg(carrier[0], []byte("x"), unix.UnixRights(all...), nil, 0); err != nil {
			return fmt.Errorf("send %d descriptors: %w", len(all), err)
		}
		for _, fd := range all {
			_ = unix.Close(fd)
		}
	}
	return nil
}

// fillTCP writes to connections that nobody reads from.
func fillTCP() error {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	block := make([]byte, 256<<10)
	for range 200 {
		c, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", l.Addr().String())
		if err != nil {
			return err
		}
		for err == nil {
			_ = c.SetWriteDeadline(time.Now().Add(5 * time.Millisecond))
			_, err = c.Write(block)
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
	return nil
}

// fillTables reads from memory that is never written: it holds nothing but page tables.
func fillTables() error {
	const size, step = 512 << 30, 2 << 20
	data, err := unix.Mmap(-1, 0, size, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return err
	}
	sum := byte(0)
	for i := 0; i < len(data); i += step {
		sum += data[i]
	}
	runtime.KeepAlive(sum)
	return nil
}

// fillPipes fills as many pipes as it can open, of which it keeps one end.
func fillPipes() error {
	block := make([]byte, 64<<10)
	const spare = 20 // for the program itself
	var open []int
	for {
		var ends [2]int
		if err := unix.Pipe2(ends[:], unix.O_NONBLOCK); err != nil {
			for _, fd := range open[len(open)-spare:] {
				_ = unix.Close(fd)
			}
			return nil // there are no more descriptors
		}
		open = append(open, ends[0])
		if _, err := unix.FcntlInt(uintptr(ends[1]), unix.F_SETPIPE_SZ, 1<<20); !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("a pipe grew: %w", err)
		}
		_, _ = unix.Write(ends[1], block)
		_ = unix.Close(ends[1])
	}
}
