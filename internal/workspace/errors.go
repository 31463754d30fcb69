package workspace

import (
	"errors"
	"fmt"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/portable"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/store"
)

// Error is an error with a hint for the user and the exit status of the command.
type Error struct {
	Err    error
	Hint   string // empty if nothing is known to help
	Status int    // 0 means precedent.ExitUsage
}

// Error is the text of Err, without the hint.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Hinted attaches a hint to an error.
func Hinted(err error, hint string, args ...any) error {
	return &Error{Err: err, Hint: fmt.Sprintf(hint, args...)}
}

// HintOf finds the hint of an error, whichever package attached it; empty for none.
func HintOf(err error) string {
	var (
		e *Error
		g *git.Error
		s *store.Error
		m *memory.Error
		p *guide.PolicyError
		o *settings.Error
		x *portable.Error
	)
	switch {
	case errors.As(err, &e) && e.Hint != "":
		return e.Hint
	case errors.As(err, &g):
		return g.Hint
	case errors.As(err, &s):
		return s.Hint
	case errors.As(err, &m):
		return m.Hint
	case errors.As(err, &p):
		return p.Hint
	case errors.As(err, &o):
		return o.Hint
	case errors.As(err, &x):
		return x.Hint
	}
	return ""
}

// ForgeError attaches to an error of a forge what helps. TokenName says where the
// token is; it may be empty. Other errors are returned as they are.
func ForgeError(err error, tokenName string) error {
	var e *forge.Error
	if !errors.As(err, &e) {
		return err
	}
	hint := e.Hint
	if e.Kind == forge.KindRate && !e.Retry.IsZero() {
		hint = "try again after " + e.Retry.UTC().Format(time.RFC3339) + "; " + hint
	}
	if (e.Kind == forge.KindNotFound || e.Kind == forge.KindAuth) && tokenName != "" {
		hint += " (the token is in " + tokenName + ")"
	}
	return Hinted(err, "%s", hint)
}
