package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// syntheticRepository has a branch that changes so many files by so many lines each.
func syntheticRepository(tb testing.TB, home string, files, lines int) string {
	tb.Helper()
	repo := filepath.Join(home, "repo")
	write := func(version string) {
		for i := range files {
			var text strings.Builder
			for j := range lines / 2 {
				fmt.Fprintf(&text, "func step%d_%d(in []byte) error { return process(in, %d, \"kept\") }\n", i, j, j)
				fmt.Fprintf(&text, "func %s%d_%d(in []byte) error { return process(in, %d, %q) }\n", version, i, j, j, version)
			}
			name := filepath.Join(repo, fmt.Sprintf("pkg%02d", i%10), fmt.Sprintf("file%03d.ts", i))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				tb.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text.String()), 0o644); err != nil {
				tb.Fatal(err)
			}
		}
	}
	runGit(tb, home, home, "init", "-q", "-b", "main", repo)
	write("before")
	runGit(tb, home, repo, "add", "-A")
	runGit(tb, home, repo, "commit", "-q", "-m", "first")
	runGit(tb, home, repo, "checkout", "-q", "-b", "feature")
	write("after")
	runGit(tb, home, repo, "commit", "-q", "-a", "-m", "second")
	return repo
}
