//go:build unix

package needs

import (
	"syscall"
	"time"
)

// processorTime is the processor time that this process has used.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // cannot fail for this process
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
