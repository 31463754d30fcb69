//go:build unix

package main

import (
	"syscall"
	"testing"
)

// The budgets of these benchmarks, on two cores, of a binary that was built
// without the race detector: version 30 ms; ten files 300 ms; 20,000 changed
// lines 500 ms and 128 MiB. Each runs the whole process; maxrss-MiB is the
// largest resident set that the operating system saw.

func BenchmarkVersion(b *testing.B) {
	home := b.TempDir()
	for b.Loop() {
		runPrecedent(b, home, home, "version")
	}
}

func BenchmarkReview(b *testing.B) {
	for name, size := range map[string]struct{ files, lines int }{"10Files": {10, 30}, "20000Lines": {100, 200}} {
		b.Run(name, func(b *testing.B) {
			home, most := b.TempDir(), int64(0)
			repo := syntheticRepository(b, home, size.files, size.lines)
			b.ResetTimer()
			for b.Loop() {
				most = max(most, runPrecedent(b, home, repo, "review", "--format", "json"))
			}
			b.ReportMetric(float64(most)/1024, "maxrss-MiB")
		})
	}
}

// runPrecedent runs the program to its end and returns its largest resident set in KiB.
func runPrecedent(b *testing.B, home, dir string, args ...string) int64 {
	b.Helper()
	cmd := precedentCmd(home, dir, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss
	}
	return 0
}
