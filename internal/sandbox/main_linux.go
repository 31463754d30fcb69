//go:build amd64 || arm64

package sandbox

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Main lets this program build sandboxes: if it was restarted as a stage of one, this call does that stage's
// work and does not return. Call it first in main, before anything reads arguments or the environment.
func Main() {
	mainCalled.Store(true)
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
		_, err = os.Stdout.WriteString(probeOutput)
	case "try":
		err = tryEscapes(os.Args[2])
	}
	if err != nil {
		_, _ = unix.Write(statusFD, []byte(err.Error()))
		const notBuilt = 126
		code = notBuilt
	}
	syscall.Exit(code) // immediately: with the race detector, os.Exit waits for a second
}
