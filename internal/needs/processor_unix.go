//go:build unix

package needs

import (
	"syscall"
	"time"
)

// processor is the processor time that this process has used.
func processor() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // it knows this process
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
