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
		runPrecedent(b, home, home, 0, "version")
	}
}

func BenchmarkReviewTenFiles(b *testing.B) {
	home := b.TempDir()
	repo := syntheticRepository(b, home, 10, 30)
	b.ResetTimer()
	benchmarkReview(b, home, repo)
}

func BenchmarkReview20000Lines(b *testing.B) {
	home := b.TempDir()
	repo := syntheticRepository(b, home, 100, 200)
	b.ResetTimer()
	benchmarkReview(b, home, repo)
}

func benchmarkReview(b *testing.B, home, repo string) {
	most := int64(0)
	for b.Loop() {
		most = max(most, runPrecedent(b, home, repo, 0, "review", "--format", "json"))
	}
	b.ReportMetric(float64(most)/1024, "maxrss-MiB")
}

// runPrecedent runs the program to its end and returns its largest resident set in KiB.
func runPrecedent(b *testing.B, home, dir string, want int, args ...string) int64 {
	b.Helper()
	cmd := precedentCmd(home, dir, args...)
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != want {
		b.Fatalf("ended with %d, %v\n%s", got, err, out)
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss
	}
	return 0
}
