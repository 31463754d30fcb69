package needs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// Home gives a story a home of its own, an identity for git, and the characters that no file of this repository may
// hold in plain.
func Home(e *testscript.Env) error {
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
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[init]\n\tdefaultBranch = main\n"), 0o600)
}

// Exits is a command of stories, exits STATUS PROGRAM [ARG…]: it runs the program, which must end with the status.
func Exits(ts *testscript.TestScript, neg bool, args []string) {
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

// Expand is a command of stories, expand FILE [DST]: it puts the values of ${VARIABLES} into a file.
func Expand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: expand FILE [DST]")
	}
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[len(args)-1]), []byte(text), 0o600))
}
