//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// memoryBound is what a review of whatever repository may take, in KiB. The
// race detector multiplies what a program takes by five to ten.
const memoryBound = 512 << 10

// TestHostileChanges reviews what is made to be too much: each ends with a
// result that names what was not read, in bounded memory.
func TestHostileChanges(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	line := strings.Repeat("x", 999) + "\n"
	for name, file := range map[string]func(*os.File) error{
		"one line of 50 MB": func(f *os.File) error {
			_, err := f.WriteString(strings.Repeat("a line without end ", 50<<20/19) + "\n")
			return err
		},
		"a diff of 100 MB": func(f *os.File) error {
			for range 100 << 10 {
				if _, err := f.WriteString(line); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			repo := filepath.Join(home, strings.ReplaceAll(name, " ", "-"))
			runGit(t, home, home, "init", "-q", "-b", "main", repo)
			runGit(t, home, repo, "commit", "-q", "--allow-empty", "-m", "first")
			runGit(t, home, repo, "checkout", "-q", "-b", "feature")
			f, err := os.Create(filepath.Join(repo, "large.txt"))
			if err == nil {
				err = file(f)
			}
			needs.NoError(t, err)
			f.Close()
			runGit(t, home, repo, "add", "-A")
			runGit(t, home, repo, "commit", "-q", "-m", "large")
			cmd, peak := precedentCmd(home, repo, "review", "--json"), filepath.Join(t.TempDir(), "peak")
			measured := needs.Value(exec.LookPath("measured"))(t)
			cmd.Path, cmd.Args = measured, append([]string{"measured"}, cmd.Args...)
			cmd.Env = append(cmd.Env, peakFile+"="+peak)
			_, out, said := finished(t, cmd)
			if n, err := strconv.ParseInt(read(t, peak), 10, 64); err != nil || n == 0 || n > memoryBound {
				t.Errorf("the review took %d MiB, %v", n>>10, err)
			}
			if strings.Contains(said, "panic") {
				t.Errorf("panic: %s", said)
			}
			r := parsed[precedent.Review](t, out)
			if len(r.Coverage.Skipped)+len(r.Coverage.Truncated) == 0 || r.Verdict == precedent.Clean {
				t.Errorf("verdict %s; nothing is said to be unread: %+v", r.Verdict, r.Coverage)
			}
		})
	}
}

// peakFile names the file for the largest resident set of what measured runs.
const peakFile = "PRECEDENT_TEST_PEAK"

func init() { programs["measured"] = measured }

// measured runs a program, and writes the largest resident set of it and its children, in KiB.
// This process is small: Linux counts for a new process what the one that started it took.
func measured() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage); err == nil {
		err = os.WriteFile(os.Getenv(peakFile), strconv.AppendInt(nil, usage.Maxrss, 10), 0o600)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(cmd.ProcessState.ExitCode())
}
