//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// trap is this program as the hostile command in a sandbox.
func trap(args []string) int {
	var err error
	switch args[0] {
	case "inside":
		var f told
		if err = json.Unmarshal([]byte(args[1]), &f); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(attackAll(f))
		}
	case "survive":
		err = leave(args[1])
	case "linger":
		if err = leave(args[1]); err == nil {
			stay()
		}
	case "stay":
		signal.Ignore()
		_, _ = os.Stdout.WriteString("here\n")
		_ = os.Stdout.Close()
		stay()
	case "bomb":
		bomb()
	case "eat":
		eat()
	case "hoard":
		err = hoard(args[1])
	case "file":
		err = largeFile()
	case "files":
		err = manyFiles()
	case "flood":
		for block := bytes.Repeat([]byte("flood "), 10_000); err == nil; {
			_, err = os.Stdout.Write(block)
		}
	default:
		err = fmt.Errorf("no trap %q", args[0])
	}
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		return 1
	}
	return 0
}

func stay() { <-time.After(10 * time.Minute) }

// another starts this program again, in a session of its own.
func another(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), self)
	cmd.Args = append([]string{self, "trap"}, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// leave leaves a process behind that ignores what can be ignored, and returns when it is there.
func leave(marker string) error {
	cmd := another("stay", marker)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, err = out.Read(make([]byte, 1))
	return err
}

// bomb says how many processes it could start.
func bomb() {
	const many = 200
	n := 0
	for ; n < many; n++ {
		if err := another("stay").Start(); err != nil {
			break
		}
	}
	_, _ = os.Stdout.WriteString(strconv.Itoa(n))
}

// eat takes memory in steps, so that a look can fall between them.
func eat() {
	const step, steps = 16 << 20, 64
	var all [][]byte
	for range steps {
		block := make([]byte, step)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		all = append(all, block)
		<-time.After(10 * time.Millisecond)
	}
	stay()
	runtime.KeepAlive(all)
}

var errBeyond = errors.New("written beyond the limit")

func largeFile() error {
	signal.Ignore(unix.SIGXFSZ)
	for _, dir := range []string{Home, Work, "/dev/shm"} {
		err := os.WriteFile(dir+"/large", make([]byte, 1<<20+1), 0o600)
		if !errors.Is(err, unix.EFBIG) {
			return fmt.Errorf("%s: %w: %w", dir, errBeyond, err)
		}
		if err := os.Remove(dir + "/large"); err != nil {
			return err
		}
	}
	return nil
}

func manyFiles() error {
	block := make([]byte, 1<<20)
	for _, dir := range []string{Home, Work, "/dev/shm"} {
		var err error
		for i := 0; err == nil; i++ {
			if i > 8 {
				return fmt.Errorf("%s: %w", dir, errBeyond)
			}
			err = os.WriteFile(dir+"/"+strconv.Itoa(i), block, 0o600)
		}
		if !errors.Is(err, unix.ENOSPC) {
			return err
		}
	}
	return nil
}
