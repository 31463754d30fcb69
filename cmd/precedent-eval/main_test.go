package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/precedent-dev/precedent/internal/engine/enginetest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"precedent-eval": main, "scripted": enginetest.Main})
}

// TestScript plays the stories in testdata/script.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			for name, value := range map[string]string{
				"HOME": home, "GIT_CONFIG_NOSYSTEM": "1", "ESC": "\x1b",
				"OURS": strings.Repeat("<", 7), "EQUALS": strings.Repeat("=", 7), "THEIRS": strings.Repeat(">", 7),
			} {
				e.Setenv(name, value)
			}
			for _, who := range []string{"AUTHOR", "COMMITTER"} {
				e.Setenv("GIT_"+who+"_NAME", "dana")
				e.Setenv("GIT_"+who+"_EMAIL", "dana@example.org")
			}
			if err := os.MkdirAll(home, 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[init]\n\tdefaultBranch = main\n"), 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "expand": expand},
	})
}

// exits N PROGRAM ARG…: runs the program, which must end with the status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM [ARG…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%s ended with %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// expand FILE [DST]: puts the values of ${VARIABLES} into a file.
func expand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: expand FILE [DST]")
	}
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[len(args)-1]), []byte(text), 0o644))
}
