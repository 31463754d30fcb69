package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/precedent-dev/precedent/internal/background"
)

// storyFolder is the variable with the folder of a story, whose programs try the commands that they print. pastedFile has
// those that were tried, and failedFile those that failed.
const (
	storyFolder = "PRECEDENT_TEST_STORY"
	pastedFile  = "pasted.txt"
	failedFile  = "pasted-failed.txt"
)

// printedCommand finds a command that the program printed for people to run, with the id or place that it is about.
var printedCommand = regexp.MustCompile(`(?m)(?:^ *|: +|run |\()(precedent (?:(?:dismiss|explain|learn (?:forget|approve)|memory adopt)` +
	`(?: --undo)? [0-9a-z]{10}|learn add "[^"]*")(?: --[a-z-]+ (?:'[^']*'|[^\s;,)]+))*)(?:[.;,)]|\s|$)`)

// tried is main, and runs each kind of command that it prints, in the same folder of a copy of the story, as a shell does.
func tried() {
	story := os.Getenv(storyFolder)
	if info, err := os.Stdout.Stat(); story == "" || err != nil || info.Mode()&os.ModeCharDevice != 0 {
		main()
	}
	var out, said bytes.Buffer
	a := &app{
		in: os.Stdin, out: io.MultiWriter(os.Stdout, &said, &out), err: io.MultiWriter(os.Stderr, &said), env: environment(os.Environ()),
		now: time.Now, start: background.Start,
	}
	env := os.Environ()
	end := a.makeTemp()
	status := a.run(context.Background(), os.Args[1:])
	end()
	if slices.Contains(os.Args, "--json") && json.Valid(out.Bytes()) {
		keepJSON(story, a, out.Bytes())
	}
	for _, m := range printedCommand.FindAllStringSubmatch(said.String(), -1) {
		if strings.Contains(m[1], exampleID) || slices.Contains(os.Args, "demo") { // of a repository that is gone
			continue
		}
		if err := paste(story, m[1], env); err != nil {
			note(filepath.Join(story, failedFile), fmt.Sprintf("%s: %v\n", m[1], err))
		}
	}
	os.Exit(status)
}

// exampleID is that of the examples in the help.
const exampleID = "k7m2q0v5xa"

var anID = regexp.MustCompile(`\b[0-9a-z]{10}\b`)

// paste runs a command, once for each kind of it.
func paste(story, command string, env []string) error {
	before, _ := os.ReadFile(filepath.Join(story, pastedFile)) // missing at first
	kind := anID.ReplaceAllString(command, "ID") + "\n"
	if bytes.Contains(before, []byte(kind)) {
		return nil
	}
	note(filepath.Join(story, pastedFile), kind)
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	parent, err := os.MkdirTemp(filepath.Dir(story), "pasted-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(parent)
	copied := filepath.Join(parent, "story")
	if out, err := exec.Command("cp", "-a", story, copied).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	inCopy := func(s string) string { return strings.ReplaceAll(s, story, copied) }
	cmd := exec.Command("sh", "-c", inCopy(command))
	cmd.Dir = inCopy(dir)
	for _, pair := range env {
		if !strings.HasPrefix(pair, storyFolder+"=") {
			cmd.Env = append(cmd.Env, inCopy(pair))
		}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// pasted: runs each command that the last program printed, in the story itself.
func pasted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: pasted")
	}
	found := printedCommand.FindAllStringSubmatch(ts.ReadFile("stdout")+"\n"+ts.ReadFile("stderr"), -1)
	if len(found) == 0 {
		ts.Fatalf("no command was printed")
	}
	for _, m := range found {
		if err := ts.Exec("sh", "-c", m[1]); err != nil {
			ts.Fatalf("%s: %v", m[1], err)
		}
	}
}

// note adds a line to a file.
func note(path, line string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(line)
		_ = f.Close() // what is missing is tried again, or found by TestScript
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// checkPasted fails if a command that the programs of a story printed could not be run.
func checkPasted(e *testscript.Env) {
	if failed, err := os.ReadFile(filepath.Join(e.WorkDir, failedFile)); err == nil {
		e.T().Log("printed, and fails: " + string(failed))
		e.T().FailNow()
	}
}
