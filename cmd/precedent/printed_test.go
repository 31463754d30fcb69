package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/precedent-dev/precedent/internal/background"
)

// storyFolder is the variable with the folder of a story, and failedFile its file with what its programs printed wrong.
const (
	storyFolder = "PRECEDENT_TEST_STORY"
	failedFile  = "printed-wrong.txt"
)

// printedCommand finds a command that the program printed for people to run, with the id or place that it is about.
var printedCommand = regexp.MustCompile(`(?m)(?:^ *|: +|run |\()(precedent (?:(?:dismiss|explain|learn (?:forget|approve)|memory adopt)` +
	`(?: --undo)? [0-9a-z]{10}|learn add "[^"]*")(?: --[a-z-]+ (?:'[^']*'|[^\s;,)]+))*)(?:[.;,)]|\s|$)`)

// tried is main, and notes which of the commands that it prints nobody could run, and JSON that fits no schema.
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
	end := a.makeTemp()
	status := a.run(context.Background(), os.Args[1:])
	end()
	failed := func(what string, err error) {
		note(filepath.Join(story, failedFile), fmt.Sprintf("%s: %v\n", what, err))
	}
	if slices.Contains(os.Args, "--json") && json.Valid(out.Bytes()) {
		if err := fitsSchema(a, out.Bytes()); err != nil {
			failed(out.String(), err)
		}
	}
	for _, m := range printedCommand.FindAllStringSubmatch(said.String(), -1) {
		for _, words := range commandsIn(m[1]) {
			if _, err := taken(words); err != nil {
				failed(m[1], err)
			}
		}
	}
	os.Exit(status)
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

// checkPrinted fails if the programs of a story printed something wrong.
func checkPrinted(e *testscript.Env) {
	if failed, err := os.ReadFile(filepath.Join(e.WorkDir, failedFile)); err == nil {
		e.T().Log("printed, and wrong: " + string(failed))
		e.T().FailNow()
	}
}
