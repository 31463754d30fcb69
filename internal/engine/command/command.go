// Package command is the engine that asks a program: any executable that reads a task as JSON from its
// standard input and writes the answer as JSON to its standard output (engine.Request and engine.ReadResponse).
// The program is started for every request. It never outlives the request, nor do children in its process
// group; if it is killed, none of its children does.
package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/child"
	"github.com/precedent-dev/precedent/internal/engine"
)

// Engine runs one program. Make it with New.
type Engine struct {
	// Why says why this engine was chosen ("--engine"); Info shows it.
	Why string

	path string // absolute
	args []string
	env  []string
}

// Error is the error of a program that cannot be run, with a hint.
type Error struct {
	Op, Msg, Hint string
}

func (e *Error) Error() string { return e.Op + ": " + e.Msg }

// New returns the engine that runs the program at path with args. A path without a separator is looked up in
// the PATH of env. env is the program's whole environment, and must not contain our secrets.
//
// The program runs in its own folder, not in the caller's, which is usually the
// reviewed repository: an interpreter could load modules or settings from there.
//
// A program that is missing or cannot be executed is an *Error.
func New(path string, args, env []string) (*Engine, error) {
	found, err := find(path, env)
	if err != nil {
		return nil, err
	}
	return &Engine{path: found, args: slices.Clone(args), env: slices.Clone(env)}, nil
}

// Info describes the engine.
func (e *Engine) Info() engine.Info {
	line := "command " + e.path
	if e.Why != "" {
		line += " (" + e.Why + ")"
	}
	return engine.Info{
		Name:      "command",
		Who:       e.path,
		Line:      line + ": this program gets the code and decides where to send it",
		WantsTree: true,
	}
}

// Run does the task. A program that fails is not asked again.
func (e *Engine) Run(ctx context.Context, t engine.Task) (engine.Answer, error) {
	return engine.Ask(ctx, t, e.once)
}

func find(path string, env []string) (string, error) {
	bad := func(hint, format string, args ...any) error {
		return &Error{Op: "find engine program", Msg: fmt.Sprintf(format, args...), Hint: hint}
	}
	if path == "" {
		return "", bad("write it as command:PATH", "no path is given")
	}
	if filepath.Base(path) == path {
		if found := child.Find(path, variable(env, "PATH")); found != "" {
			return found, nil
		}
		return "", bad("give its path, as in command:./"+path, "no program %q in PATH", path)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find engine program: %w", err)
	}
	found, err := exec.LookPath(abs) // on Windows it tries the endings of programs
	if err == nil {
		return found, nil
	}
	hint := "check the path after command:"
	if errors.Is(err, fs.ErrPermission) {
		hint = "chmod +x " + abs
	}
	if wrapped, ok := errors.AsType[*exec.Error](err); ok {
		err = wrapped.Err // without the path, which is named below
	}
	return "", bad(hint, "%s: %v", abs, err)
}

func variable(env []string, name string) string {
	value := ""
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v // the last one counts, as for the program
		}
	}
	return value
}
