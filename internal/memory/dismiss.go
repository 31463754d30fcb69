package memory

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// Causes of an Error.
var (
	ErrUnknownID = errors.New("unknown id")
	ErrAmbiguous = errors.New("ambiguous id")
	ErrDismissed = errors.New("already dismissed")
	ErrTooLong   = errors.New("too long")
)

// Error is a request that cannot be met, with a message for the person who made it.
type Error struct {
	Err  error // one of the above
	Msg  string
	Hint string
}

func (e *Error) Error() string { return e.Msg }

func (e *Error) Unwrap() error { return e.Err }

// Limits of the text of a rejection, in characters.
const (
	maxReason = 2_000
	maxWho    = 200
)

// Dismiss rejects the finding whose id starts with the prefix, in a person's name: from now on
// it is hidden, and similar findings lose confidence. If it is dismissed already, Dismiss
// returns that rejection and an error that wraps ErrDismissed. If the prefix matches no
// finding, or several, the error wraps ErrUnknownID or ErrAmbiguous.
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
			Msg: fmt.Sprintf("finding %s was already dismissed by %s on %s%s", j.Finding, dismisser(j), day(j), reasonSuffix(j)),
		}
	}
	return j, err
}

// Matching returns the shown findings with the rule, and at or below the path; each may be
// empty for any. A rule is an analyzer's rule, or a finder. Those that are dismissed are left
// out.
func (m *Memory) Matching(ctx context.Context, rule, below string) ([]store.Known, error) {
	rows, err := m.rows(ctx)
	if err != nil {
		return nil, err
	}
	all, err := rows.FindingsByID(ctx, "", maxMatching+1)
	if err != nil {
		return nil, err
	}
	if len(all) > maxMatching {
		return nil, &Error{Err: ErrTooLong, Msg: fmt.Sprintf("the memory has more than %d findings", maxMatching), Hint: "name the findings by their ids"}
	}
	dismissed, err := m.Rejections(ctx)
	if err != nil {
		return nil, err
	}
	below = strings.TrimSuffix(below, "/")
	return slices.DeleteFunc(all, func(k store.Known) bool {
		return k.Seen == 0 || rule != "" && k.Rule != rule && k.Finder != rule ||
			below != "" && below != "." && k.Path != below && !strings.HasPrefix(k.Path, below+"/") ||
			slices.ContainsFunc(dismissed, func(j precedent.Rejection) bool { return j.Fingerprint == k.Fingerprint })
	}), nil
}

// maxMatching limits the findings that Matching looks through.
const maxMatching = 10_000

// Reach says how far a rejection reaches beyond its own finding.
func Reach(j precedent.Rejection) string {
	dir := path.Dir(j.Path)
	switch ScopeOf(j.Reason) {
	case InRepo:
		return "similar findings in the whole repository"
	case InDirectory:
		if dir == "." {
			return "similar findings in the top folder"
		}
		return "similar findings in " + dir + "/"
	}
	if j.Symbol != "" {
		return "similar findings in " + j.Symbol + " of " + j.Path
	}
	return "similar findings in " + j.Path + ", outside of functions"
}

// Rejections returns the rejections that hold, newest first.
func (m *Memory) Rejections(ctx context.Context) ([]precedent.Rejection, error) {
	rows, err := m.rows(ctx)
	if err != nil {
		return nil, err
	}
	return rows.Rejections(ctx, m.Now(), maxRejections)
}

// Undismiss deletes the rejection whose id, or whose finding's id, starts with the prefix, and
// returns it: the next review shows the finding again.
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
	}, "no dismissed finding", "precedent dismiss --list lists dismissed findings")
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
	}, "no finding", "precedent review prints the id of each finding; findings are kept for 90 days")
}

// maxCandidates is the number of ids listed for an ambiguous prefix.
const maxCandidates = 8

// exactlyOne returns the only value, or an error that says why there is not exactly one.
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

// normalizeID reads an id as Crockford base 32: it ignores case, and replaces the letters i, l
// and o by the digits that they resemble.
func normalizeID(id string) string {
	return strings.NewReplacer("i", "1", "l", "1", "o", "0").Replace(strings.ToLower(strings.TrimSpace(id)))
}

func checkLength(what, s string, limit int) error {
	if n := utf8.RuneCountInString(s); n > limit {
		return &Error{Err: ErrTooLong, Msg: fmt.Sprintf("the %s has %d characters, more than %d", what, n, limit), Hint: "shorten it"}
	}
	return nil
}
