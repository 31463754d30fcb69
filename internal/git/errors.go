package git

import (
	"context"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Error is trouble with git or with a repository, told to a person.
type Error struct {
	Op   string // what was attempted: "open repository"
	Msg  string // what went wrong
	Hint string // what helps; empty if nothing is known to
	Err  error  // the cause, or nil: the context's error, *exec.ExitError
}

// Error is the operation and the message, without the hint.
func (e *Error) Error() string { return e.Op + ": " + e.Msg }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// What reading a file can meet.
var (
	// ErrNotFound says that there is no such file at that revision.
	ErrNotFound = errors.New("file not found")
	// ErrTooLarge says that the file is longer than the caller takes.
	ErrTooLarge = errors.New("file too large")
)

// exitUsage is git's exit status for options that it does not know.
const exitUsage = 129

// failure turns what a run of git ended with into an Error. The context tells
// whether it was stopped from here, said is the end of its standard error.
func failure(ctx context.Context, op string, err error, said string, limit time.Duration) *Error {
	e := &Error{Op: op, Err: err}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTimeout):
		e.Msg, e.Err = "git took longer than "+limit.String(), context.DeadlineExceeded
		e.Hint = "look for a huge folder that .gitignore does not name, or for a .gitignore or .gitattributes that is no regular file"
	case cause != nil:
		e.Msg, e.Err = "stopped: "+cause.Error(), cause
	case exitCode(err) == exitUsage:
		e.Msg = "git does not know an option: " + errorLine(said)
		e.Hint = tooOld
	default:
		e.Msg = errorLine(said)
		if e.Msg == "" {
			e.Msg = err.Error()
		}
	}
	return e
}

// asError makes an Error of any other one.
func asError(op string, err error) error {
	var e *Error
	if errors.As(err, &e) {
		return err
	}
	return &Error{Op: op, Msg: printable(err.Error()), Err: err}
}

const tooOld = "Precedent needs git 2.38 or newer"

// exitCode is the exit status behind an error of a run, or -1.
func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}

// errorLine is the line of git's standard error that says what went wrong,
// made safe to show.
func errorLine(said string) string {
	line := ""
	for l := range strings.Lines(said) {
		l = strings.TrimSpace(l)
		if rest, ok := strings.CutPrefix(l, "fatal: "); ok {
			return printable(rest)
		}
		if rest, ok := strings.CutPrefix(l, "error: "); ok && line == "" {
			line = rest
		}
		if line == "" {
			line = l
		}
	}
	return printable(line)
}

// printable shows text from outside in one short line without anything that a
// terminal would obey.
func printable(s string) string {
	const longest = 300
	var b strings.Builder
	for i, r := range s {
		if i > longest {
			b.WriteString("…")
			break
		}
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRuneToASCII(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}
