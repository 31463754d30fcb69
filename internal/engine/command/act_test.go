package command

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// act is what the test binary does as a program of bad manners: the part says
// which. Most of them answer well nevertheless.
func act(part string) int {
	answer := func() { fmt.Println(`{"answer":{"a":1}}`) }
	switch part {
	case "forever": // a child of the others
		<-time.After(10 * time.Minute)
	case "mirror": // answers with what it was given
		input, err := io.ReadAll(os.Stdin)
		if err != nil {
			return 1
		}
		dir, err := os.Getwd()
		if err != nil {
			return 1
		}
		env := os.Environ()
		_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"answer": map[string]any{
			"input": json.RawMessage(input), "dir": dir, "env": env, "args": os.Args[1:],
		}})
	case "deaf": // closes its standard input unread
		_ = os.Stdin.Close()
		answer()
	case "leave": // leaves a child behind that holds the pipes
		if err := beget(false); err != nil {
			return 1
		}
		answer()
	case "leave and hang", "leave in a session and hang":
		if err := beget(strings.Contains(part, "session")); err != nil {
			return 1
		}
		<-time.After(10 * time.Minute)
	case "complain":
		for i := range 100_000 {
			fmt.Fprintf(os.Stderr, "line %d\n", i)
		}
		fmt.Fprint(os.Stderr, "\x1b[31mé: the end\x07\n")
		return 3
	}
	return 0
}

// beget starts a child that holds this process's pipes and never ends, and
// writes its id to the file that PRECEDENT_TEST_PID names.
func beget(session bool) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.Command(exe)
	child.Env = append(os.Environ(), part+"=forever")
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	if session {
		ownSession(child)
	}
	if err := child.Start(); err != nil {
		return err
	}
	// A reader must never see half of the number.
	name := os.Getenv(pidFile)
	if err := os.WriteFile(name+".new", fmt.Appendln(nil, child.Process.Pid), 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
