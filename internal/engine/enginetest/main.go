package enginetest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/precedent-dev/precedent/internal/engine"
)

// ScriptVariable names the script file for Main.
const ScriptVariable = "PRECEDENT_SCRIPT"

// Main is a program for the command engine that plays a script: the file that
// its first argument names, else the one that PRECEDENT_SCRIPT does. It exits
// with 2, saying why, if the script does not foresee the request.
func Main() {
	path := os.Getenv(ScriptVariable) //nolint:forbidigo // a program of its own, which the engine under test starts
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	status, err := play(path, os.Stdin, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "scripted engine:", err)
		status = 2
	}
	// os.Exit takes a second in a binary with the race detector, which tests
	// that are stories have hundreds of.
	syscall.Exit(status)
}

// play answers one request and returns the exit status.
func play(path string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	script, err := Load(path)
	if err != nil {
		return 0, err
	}
	var request engine.Request
	if err := json.NewDecoder(stdin).Decode(&request); err != nil {
		return 0, fmt.Errorf("read task: %w", err)
	}
	if request.Schema != engine.RequestSchema {
		return 0, fmt.Errorf("read task: its schema is %q, want %q", request.Schema, engine.RequestSchema)
	}
	reply, err := script.Next(request)
	if err != nil {
		return 0, err
	}
	if status := reply.Fail(stdout, stderr); status != 0 {
		return status, nil
	}
	if reply.Stdout != "" {
		_, err := io.WriteString(stdout, reply.Stdout)
		return 0, err
	}
	return 0, json.NewEncoder(stdout).Encode(reply.response())
}

// Fail does what the reply plans in place of an answer, and returns the exit status of the program; 0 if it answers.
func (r Reply) Fail(stdout, stderr io.Writer) int {
	_, _ = io.WriteString(stderr, r.Stderr)
	switch {
	case r.Hang:
		const forgotten = 10 * time.Minute // nobody ended it: do so ourselves
		<-time.After(forgotten)
		return 1
	case r.Flood:
		_ = flood(stdout)
		return 1
	}
	return r.Exit
}

// Response is what a program for the command engine writes to its standard output; see engine.ReadResponse.
type Response struct {
	Answer  json.RawMessage `json:"answer,omitempty"`
	Usage   json.RawMessage `json:"usage,omitempty"`
	Refused bool            `json:"refused,omitempty"`
	Model   string          `json:"model,omitempty"`
}

// response is the reply as a program's response.
func (r Reply) response() Response {
	response := Response{Answer: r.Answer, Usage: r.Usage, Refused: r.Refused, Model: r.Model}
	if r.Text != "" {
		response.Answer, _ = json.Marshal(r.Text) // a string always marshals
	}
	return response
}

// flood writes 10 GB, or until nobody reads any more.
func flood(w io.Writer) error {
	block := []byte(strings.Repeat("findings ", 10_000))
	for range 10_000_000_000 / len(block) {
		if _, err := w.Write(block); err != nil {
			return err
		}
	}
	return nil
}
