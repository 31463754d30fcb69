package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// What can be wrong with a person's request. An *Error wraps one of them.
var (
	ErrUnknownID = errors.New("nothing has this id")
	ErrAmbiguous = errors.New("several ids begin like this")
	ErrDismissed = errors.New("already dismissed")
	ErrTooLong   = errors.New("too long")
)

// Error is a request that cannot be met, in words for the person who made it.
type Error struct {
	Err  error // one of the above
	Msg  string
	Hint string
}

func (e *Error) Error() string { return e.Msg }

func (e *Error) Unwrap() error { return e.Err }

// Bounds of what a person can say of a rejection, in characters.
const (
	maxReason = 2_000
	maxWho    = 200
)

// Dismiss rejects the finding whose id starts with the prefix, in a person's
// name: from now on it is hidden, and findings like it lose weight. Of one that
// is dismissed already it returns that rejection and an error that wraps
// ErrDismissed. A prefix that fits no finding, or several, is an error that
// wraps ErrUnknownID or ErrAmbiguous.
func (m *Memory) Dismiss(ctx context.Context, idPrefix, reason, who string) (precedent.Rejection, error) {
	if err := checkLength("reason", reason, maxReason); err != nil {
		return precedent.Rejection{}, err
	}
	if err := checkLength("name", who, maxWho); err != nil {
		return precedent.Rejection{}, err
	}
	rows, err := m.rows(ctx)
	if err != nil {
		return precedent.Rejection{}, err
	}
	f, err := findFinding(ctx, rows, idPrefix)
	if err != nil {
		return precedent.Rejection{}, err
	}
	j, added, err := rows.Reject(ctx, precedent.Rejection{
		Finding: f.ID, Fingerprint: f.Fingerprint, Place: f.Place, Claim: f.Title, Path: f.Path, Symbol: f.Symbol,
		Category: f.Category, Severity: f.Severity, Reason: strings.TrimSpace(reason), Who: strings.TrimSpace(who), At: m.Now(),
	})
	if err == nil && !added {
		err = &Error{
			Err: ErrDismissed,
			Msg: fmt.Sprintf("finding %s is already dismissed by %s since %s%s", j.Finding, dismisser(j), day(j), reasonSuffix(j)),
		}
	}
	return j, err
}

// Rejections returns the rejections that hold, newest first.
func (m *Memory) Rejections(ctx context.Context) ([]precedent.Rejection, error) {
	rows, err := m.rows(ctx)
	if err != nil {
		return nil, err
	}
	return rows.Rejections(ctx, m.Now(), maxRejections)
}

// Undismiss takes back the rejection whose id, or whose finding's, starts with
// the prefix, and returns it: the next review shows the finding again.
func (m *Memory) Undismiss(ctx context.Context, idPrefix string) (precedent.Rejection, error) {
	rows, err := m.rows(ctx)
	if err != nil {
		return precedent.Rejection{}, err
	}
	prefix := normalizeID(idPrefix)
	var found []precedent.Rejection
	if prefix != "" {
		if found, err = rows.RejectionsByID(ctx, prefix, m.Now(), maxCandidates+1); err != nil {
			return precedent.Rejection{}, err
		}
	}
	j, err := exactlyOne(prefix, found, func(j precedent.Rejection) string {
		return fmt.Sprintf("%s  %s  %s", j.Finding, j.Path, j.Claim)
	}, "no dismissed finding", "precedent dismiss --list shows what is dismissed")
	if err != nil {
		return precedent.Rejection{}, err
	}
	_, err = rows.Unreject(ctx, j.ID)
	return j, err
}

// findFinding returns the finding whose id starts with the prefix.
func findFinding(ctx context.Context, rows *store.Repo, idPrefix string) (store.Known, error) {
	prefix := normalizeID(idPrefix)
	var found []store.Known
	if prefix != "" {
		var err error
		if found, err = rows.FindingsByID(ctx, prefix, maxCandidates+1); err != nil {
			return store.Known{}, err
		}
	}
	return exactlyOne(prefix, found, func(k store.Known) string {
		return fmt.Sprintf("%s  %s  %s", k.ID, k.Span, k.Title)
	}, "no finding", "ids stand beside the findings that precedent review prints; findings are remembered for 90 days")
}

// maxCandidates is how many ids an ambiguous prefix lists.
const maxCandidates = 8

// exactlyOne returns the only value, or says why there is none.
func exactlyOne[T any](prefix string, found []T, describe func(T) string, nothing, hint string) (T, error) {
	var none T
	switch {
	case prefix == "":
		return none, &Error{Err: ErrUnknownID, Msg: "no id given", Hint: hint}
	case len(found) == 0:
		return none, &Error{Err: ErrUnknownID, Msg: fmt.Sprintf("%s has an id that starts with %q", nothing, prefix), Hint: hint}
	case len(found) == 1:
		return found[0], nil
	}
	msg := fmt.Sprintf("several ids start with %q:", prefix)
	for i, v := range found {
		if i == maxCandidates {
			msg += "\n  …"
			break
		}
		msg += "\n  " + describe(v)
	}
	return none, &Error{Err: ErrAmbiguous, Msg: msg, Hint: "give more characters of the id"}
}

// normalizeID reads an id as Crockford's base 32 wants it read: case does not
// matter, and letters that it leaves out stand for the digits they look like.
func normalizeID(id string) string {
	return strings.NewReplacer("i", "1", "l", "1", "o", "0").Replace(strings.ToLower(strings.TrimSpace(id)))
}

func checkLength(what, s string, limit int) error {
	if n := utf8.RuneCountInString(s); n > limit {
		return &Error{Err: ErrTooLong, Msg: fmt.Sprintf("the %s has %d characters", what, n), Hint: fmt.Sprintf("say it in %d", limit)}
	}
	return nil
}
