package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
)

// Causes of an Error.
var (
	ErrUnknownID = errors.New("unknown id")
	ErrAmbiguous = errors.New("ambiguous id")
	ErrDismissed = errors.New("already dismissed")
	ErrTooLong   = errors.New("too long")

	ErrUnknownRule = errors.New("unknown rule")
	ErrGlob        = errors.New("path does not fit")
)

// Error is a request that cannot be met, with a message for the person who made it.
type Error struct {
	Err  error // one of the above
	Msg  string
	Hint string
	// Learnings are those that the words fit, if several do.
	Learnings []precedent.Learning
}

func (e *Error) Error() string { return e.Msg }

func (e *Error) Unwrap() error { return e.Err }

// Limits of the text of a dismissal, in characters.
const (
	maxReason = 2_000
	maxWho    = 200
)

// Dismissal says why a person dismisses findings, and how far that reaches.
type Dismissal struct {
	Reason string // in the person's words; without Glob it decides about similar findings
	Who    string
	// Glob limits what is dismissed to these files. See precedent.Dismissal.
	Glob string
}

func (d *Dismissal) check() error {
	d.Glob = cleanGlob(d.Glob)
	if err := checkWords(d.Reason, d.Who); err != nil || d.Glob == "" {
		return err
	}
	if err := guide.CheckGlob(d.Glob); err != nil {
		return &Error{
			Err: ErrGlob, Msg: fmt.Sprintf("%q: %v", text.Cut(d.Glob, maxWho), err),
			Hint: "give a folder, or a glob such as internal/**/*_test.go, from the top folder",
		}
	}
	return nil
}

// Dismiss rejects the finding whose id starts with the prefix, in a person's name: from now on
// it is hidden, and similar findings lose confidence. If it is dismissed already, Dismiss
// returns that dismissal and an error that wraps ErrDismissed. If the prefix matches no
// finding, or several, the error wraps ErrUnknownID or ErrAmbiguous; if the finding is not in
// d.Glob, ErrGlob.
func (m *Memory) Dismiss(ctx context.Context, idPrefix string, d Dismissal) (precedent.Dismissal, error) {
	if err := d.check(); err != nil {
		return precedent.Dismissal{}, err
	}
	f, err := m.findFinding(ctx, idPrefix)
	if err != nil {
		return precedent.Dismissal{}, err
	}
	return m.store(ctx, precedent.Dismissal{
		Finding: f.ID, Fingerprint: f.Fingerprint, Place: f.Place, Claim: f.Title, Path: f.Path, Symbol: f.Symbol,
		Category: f.Category, Severity: f.Severity,
	}, d)
}

// DismissPosted is Dismiss for a finding that was read from its comment: j has what the comment
// says of it, and its page as the source.
func (m *Memory) DismissPosted(ctx context.Context, j precedent.Dismissal, d Dismissal) (precedent.Dismissal, error) {
	if err := d.check(); err != nil {
		return precedent.Dismissal{}, err
	}
	return m.store(ctx, j, d)
}

// store saves a dismissal with the words of the person.
func (m *Memory) store(ctx context.Context, j precedent.Dismissal,
	d Dismissal,
) (precedent.Dismissal, error) {
	if j.Rule == "" && !inFiles(d.Glob, j.Path) {
		return precedent.Dismissal{}, &Error{Err: ErrGlob, Msg: fmt.Sprintf("finding %s is in %s, which is not in %s",
			j.Finding, j.Path, d.Glob), Hint: "give a path that contains it, or none"}
	}
	j.Reason, j.Who, j.Glob, j.At = withoutSecrets(d.Reason), strings.TrimSpace(d.Who), d.Glob, m.Now()
	j, added, err := m.Rows.Reject(ctx, j)
	if err == nil && !added {
		what := "finding " + j.Finding
		if j.Rule != "" {
			what = described(j.Rule)
		}
		err = &Error{
			Err:  ErrDismissed,
			Msg:  fmt.Sprintf("%s was already dismissed by %s on %s%s", what, dismisser(j), day(j), reasonSuffix(j)),
			Hint: "to change it, undo it first: precedent dismiss --undo " + j.Finding,
		}
	}
	return j, err
}

// withoutSecrets returns what a person wrote as it is stored: without credentials and hidden characters.
func withoutSecrets(s string) string {
	return strings.TrimSpace(secret.RedactText(text.Clean(s)))
}

// Widen returns the glob of the files that a dismissed remark has in common with where it was dismissed before; empty
// if it was not, or if nothing less than all files is common. A learning with that glob hides it there.
func (m *Memory) Widen(ctx context.Context, j precedent.Dismissal) (glob string, err error) {
	all, err := m.Dismissals(ctx)
	if err != nil || j.Rule != "" || j.Category.Protected() || j.Severity.AtLeast(precedent.High) {
		return "", err
	}
	claim := match.NewClaim(j.Claim)
	for _, o := range all {
		if o.Fingerprint != j.Fingerprint && o.Rule == "" && o.Category == j.Category && !o.At.After(j.At) &&
			claim.Similarity(match.NewClaim(o.Claim)) >= match.SameClaim {
			return commonScope([]string{j.Path, o.Path}), nil
		}
	}
	return "", nil
}

// Undismiss deletes the dismissal whose id, or whose finding's id, starts with the prefix, and
// returns it: the next review shows the finding again.
func (m *Memory) Undismiss(ctx context.Context, idPrefix string) (precedent.Dismissal, error) {
	find := func(ctx context.Context, prefix string, limit int) ([]precedent.Dismissal, error) {
		return m.Rows.DismissalsByID(ctx, prefix, m.Now(), limit)
	}
	j, err := exactlyOne(ctx, idPrefix, find, func(j precedent.Dismissal) string {
		return fmt.Sprintf("%s  %s  %s", j.Finding, j.Path, j.Claim)
	}, "no dismissed finding", "precedent dismiss --list lists dismissed findings")
	if err != nil {
		return precedent.Dismissal{}, err
	}
	_, err = m.Rows.Unreject(ctx, j.ID)
	return j, err
}

func (m *Memory) findFinding(ctx context.Context, idPrefix string) (store.Known, error) {
	return exactlyOne(ctx, idPrefix, m.Rows.FindingsByID, func(k store.Known) string {
		return fmt.Sprintf("%s  %s  %s", k.ID, k.Span, k.Title)
	}, "no finding", "precedent review prints the id of each finding; findings are kept for 90 days")
}

const maxCandidates = 8

// exactlyOne returns the only value that find has for the prefix of an id, or an error that says why there
// is not exactly one.
func exactlyOne[T any](ctx context.Context, idPrefix string, find func(context.Context, string, int) ([]T, error),
	describe func(T) string, nothing, hint string,
) (T, error) {
	var none T
	prefix := NormalizeID(idPrefix)
	if prefix == "" {
		return none, &Error{Err: ErrUnknownID, Msg: "no id given", Hint: hint}
	}
	given := wordsInLine(idPrefix)
	found, err := find(ctx, prefix, maxCandidates+1)
	switch {
	case err != nil:
		return none, err
	case len(found) == 0:
		return none, &Error{
			Err: ErrUnknownID, Msg: fmt.Sprintf("%s has an id that starts with %q", nothing, given),
			Hint: hint,
		}
	case len(found) == 1:
		return found[0], nil
	}
	msg := fmt.Sprintf("several ids start with %q:", given)
	for i, v := range found {
		if i == maxCandidates {
			msg += "\n  …"
			break
		}
		msg += "\n  " + describe(v)
	}
	return none, &Error{Err: ErrAmbiguous, Msg: msg, Hint: "give more characters of the id"}
}

// NormalizeID reads an id as Crockford base 32: it ignores case, and replaces the letters i, l
// and o by the digits that they resemble.
func NormalizeID(id string) string {
	return strings.NewReplacer("i", "1", "l", "1", "o", "0").Replace(strings.ToLower(strings.TrimSpace(id)))
}

func checkWords(reason, who string) error {
	what, n, limit := "reason", utf8.RuneCountInString(reason), maxReason
	if n <= limit {
		what, n, limit = "name", utf8.RuneCountInString(who), maxWho
	}
	if n <= limit {
		return nil
	}
	return &Error{
		Err: ErrTooLong, Msg: fmt.Sprintf("the %s has %d characters, more than %d", what, n, limit), Hint: "shorten it",
	}
}
