package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
)

// Outcomes returns the outcomes of the findings posted on the pull request, ordered by
// fingerprint.
func (r *Repo) Outcomes(ctx context.Context, pull int) ([]precedent.Outcome, error) {
	outcomes, err := documents[precedent.Outcome](ctx, r.db.read,
		"SELECT document FROM outcomes WHERE repo_id = $1 AND pull = $2 ORDER BY fingerprint", []any{r.id, pull})
	return outcomes, r.db.fail("read outcomes", err)
}

// SaveOutcomes saves outcomes, all or none. A new outcome replaces the old one, but an unknown outcome replaces nothing,
// unless it names the person whose dismissal was taken back, or the finding is back. A dismissal stays one when its words
// are gone and the conversation is closed. The same outcome again keeps the first proof, unless the person who decided got
// write permission only now.
func (r *Repo) SaveOutcomes(ctx context.Context, outcomes []precedent.Outcome) error {
	const op = "save outcomes"
	for _, o := range outcomes {
		if o.Fingerprint == "" || o.Kind == "" || o.PullRequest <= 0 {
			return r.db.fail(op, errors.New("an outcome without fingerprint, kind or pull request"))
		}
	}
	if len(outcomes) == 0 {
		return nil
	}
	return r.change(ctx, op, func(tx *sql.Tx) error {
		for _, o := range outcomes {
			news, err := r.changesOutcome(ctx, tx, &o)
			if err == nil && news {
				err = r.setOutcome(ctx, tx, o)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *Repo) setOutcome(ctx context.Context, tx *sql.Tx, o precedent.Outcome) error {
	return putRows(ctx, tx, "outcomes", "repo_id, pull, fingerprint",
		"outcome, document, at, accepted, confidence, refit, finder, category, severity",
		[]any{
			r.id, o.PullRequest, o.Fingerprint, o.Kind,
			document{o},
			millis(o.At), labelOf(o), o.Confidence, o.Refit,
			o.Finder, o.Category, o.Severity,
		})
}

// changesOutcome tells whether the outcome replaces the saved one, and makes it the later one.
func (r *Repo) changesOutcome(ctx context.Context, tx *sql.Tx, o *precedent.Outcome) (bool, error) {
	old, err := documents[precedent.Outcome](ctx, tx,
		"SELECT document FROM outcomes WHERE repo_id = $1 AND pull = $2 AND fingerprint = $3",
		[]any{r.id, o.PullRequest, o.Fingerprint})
	if err != nil || len(old) == 0 {
		return err == nil, err
	}
	o.At = notBefore(o.At, old[0].At)
	switch was := old[0].Kind; {
	case o.Kind == precedent.OutcomeUnknown && was == precedent.Declined:
		return o.Who != "" && o.Who == old[0].Who, nil
	case o.Kind == precedent.OutcomeUnknown:
		return o.Back && was != precedent.OutcomeUnknown && was != precedent.Accepted, nil
	case o.Kind == precedent.ResolvedUnchanged && was == precedent.Declined:
		return false, nil
	}
	return o.Kind != old[0].Kind || o.MayWrite && !old[0].MayWrite, nil
}

// AcceptedSince returns the findings that people fixed or agreed with after a time, at most
// limit, the newest first. Last is when that was determined.
func (r *Repo) AcceptedSince(ctx context.Context, since time.Time, limit int) ([]Known, error) {
	found, err := collect(ctx, r.db.read, `
		SELECT f.fingerprint, f.id, f.place, f.path, f.symbol, f.category, f.severity, f.title, o.at
		FROM outcomes o JOIN findings f ON f.repo_id = $1 AND f.fingerprint = o.fingerprint
		WHERE o.repo_id = $1 AND o.at > $2 AND o.outcome IN ($3, $4, $5) ORDER BY o.at DESC, f.fingerprint LIMIT $6`,
		[]any{r.id, millis(since), precedent.Fixed, precedent.SuggestionTaken, precedent.Accepted, limit},
		func(s scanner, k *Known) error {
			return s.Scan(&k.Fingerprint, &k.ID, &k.Place, &k.Path, &k.Symbol, &k.Category, &k.Severity, &k.Title,
				(*moment)(&k.Last))
		})
	return found, r.db.fail("read accepted findings", err)
}

// Accepted returns the newest findings in the files that people fixed or agreed with, at
// most the given number. It sets id, fingerprint, path, category, severity and title.
func (r *Repo) Accepted(ctx context.Context, paths []string, most int) ([]precedent.Finding, error) {
	type accepted struct {
		precedent.Finding
		at int64
	}
	all, err := collectIn(ctx, r.db.read, `
		SELECT f.id, f.fingerprint, f.path, f.category, f.severity, f.title, MAX(o.at)
		FROM outcomes o
		JOIN findings f ON f.repo_id = $1 AND f.fingerprint = o.fingerprint
		WHERE o.repo_id = $1 AND o.outcome IN ($2, $3, $4) AND f.path IN (%s)
		GROUP BY f.id, f.fingerprint, f.path, f.category, f.severity, f.title`,
		[]any{r.id, precedent.Fixed, precedent.SuggestionTaken, precedent.Accepted}, paths,
		func(s scanner, a *accepted) error {
			return s.Scan(&a.ID, &a.Fingerprint, &a.Path, &a.Category, &a.Severity, &a.Title, &a.at)
		})
	slices.SortFunc(all, func(a, b accepted) int {
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	var found []precedent.Finding
	for _, a := range all[:min(len(all), most)] {
		found = append(found, a.Finding)
	}
	return found, r.db.fail("read accepted findings", err)
}

// LastOutcomes returns the last known outcome of each of the findings, by fingerprint.
func (r *Repo) LastOutcomes(ctx context.Context, fingerprints []string) (map[string]precedent.OutcomeKind, error) {
	last := map[string]precedent.OutcomeKind{}
	err := rowsIn(ctx, r.db.read, `SELECT fingerprint, outcome FROM outcomes
		WHERE repo_id = $1 AND outcome <> $2 AND fingerprint IN (%s) ORDER BY at, pull`,
		[]any{r.id, precedent.OutcomeUnknown}, fingerprints, intoMap(last))
	return last, r.db.fail("read outcomes", err)
}
