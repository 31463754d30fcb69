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

// Error is a problem with git or with a repository, described for people.
type Error struct {
	Op   string // what was attempted: "open repository"
	Msg  string // what went wrong
	Hint string // what to do; may be empty
	Err  error  // the cause, or nil: the context's error, *exec.ExitError
}

// Error returns the operation and the message, without the hint.
func (e *Error) Error() string { return e.Op + ": " + e.Msg }

// hinted is an error without a cause.
func hinted(op, msg, hint string) *Error { return &Error{Op: op, Msg: msg, Hint: hint} }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errors that callers handle.
var (
	// ErrNotFound means that the file does not exist at that revision.
	ErrNotFound = errors.New("file not found")
	// ErrTooLarge means that the file is larger than the caller's limit.
	ErrTooLarge = errors.New("file too large")
	// ErrNoCommits means that the repository has no commit.
	ErrNoCommits = errors.New("no commits")
	// ErrMissing means that the clone is partial and lacks the content of the file.
	ErrMissing = errors.New("the content is not in this partial clone")
)

// exitUsage is git's exit status for unknown options.
const exitUsage = 129

// failure converts the error of a git process. The cause of its context, if it has one, tells that it was
// stopped by this program; said is the end of its standard error.
func failure(cause error, op string, err error, said string, limit time.Duration) *Error {
	e := &Error{Op: op, Err: err}
	switch {
	case errors.Is(cause, errTimeout):
		e.Msg, e.Err = "git took longer than "+limit.String(), context.DeadlineExceeded
		e.Hint = "check for a huge folder that .gitignore does not list, " +
			"and for a .gitignore or .gitattributes that is not a regular file"
	case cause != nil:
		e.Msg, e.Err = "stopped: "+cause.Error(), cause
	case exitCode(err) == exitUsage:
		e.Msg = "git does not support an option: " + errorLine(said)
		e.Hint = tooOld
	default:
		if e.Msg = errorLine(said); e.Msg == "" {
			e.Msg = err.Error()
		}
	}
	return e
}

func asError(op string, err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	return &Error{Op: op, Msg: printable(err.Error()), Err: err}
}

const tooOld = "Precedent needs git 2.38 or newer"

// exitCode returns the exit status in an error, or -1.
func exitCode(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return -1
}

// errorLine returns the line of git's standard error that describes the problem, made safe to print.
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

// printable returns untrusted text as one short line without control characters (T24).
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
