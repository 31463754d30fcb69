//go:build amd64 || arm64

package sandbox

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Main makes this program fit to build boxes from: started anew as a stage of
// one, it does that stage's work in this call and does not return. It has to
// come first in main, before anything reads arguments or the environment.
func Main() {
	hooked.Store(true)
	if len(os.Args) < 2 || os.Args[0] != self {
		return
	}
	runtime.LockOSThread()
	code, err := 0, error(nil)
	switch os.Args[1] {
	case "first":
		code, err = first()
	case "last":
		err = last()
	case "hello":
		_, err = os.Stdout.WriteString(hello)
	case "try":
		err = tryAll(os.Args[2])
	}
	if err != nil {
		_, _ = unix.Write(statusFD, []byte(err.Error()))
		const notBuilt = 126
		code = notBuilt
	}
	syscall.Exit(code) // at once: os.Exit has the race detector wait for a second
}
