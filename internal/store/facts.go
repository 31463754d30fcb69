package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/precedent-dev/precedent"
)

// Facts are the numbers of one review, small enough to read those of all.
type Facts struct {
	// New counts the findings that are shown and that no earlier review of the pull request
	// showed, by placement, and Hidden those that are not shown, by reason.
	New    map[precedent.Placement]int `json:",omitempty"`
	Hidden map[precedent.Dropped]int   `json:",omitempty"`
	// Audited counts those of Hidden that memory hid and that are shown folded.
	Audited int `json:",omitempty"`
	// Guide tells whether finders with a model were given guide files, GuideLost that some
	// exist and could not be read, and Rules how many rules were checked.
	Guide, GuideLost bool            `json:",omitempty"`
	Rules            int             `json:",omitempty"`
	Usage            precedent.Usage `json:",omitzero"`
	CostUSD          float64         `json:",omitempty"`
	TookMS           int64           `json:",omitempty"`
	Model            bool            `json:",omitempty"` // a model read the change
	// FirstMS is, of the first review of a pull request on a server, the milliseconds from when the server saw the pull
	// request until the review was there.
	FirstMS int64 `json:",omitempty"`
}

func factsOf(r *precedent.Review) Facts {
	f := Facts{
		New: map[precedent.Placement]int{}, Hidden: map[precedent.Dropped]int{},
		Rules: len(r.RulesChecked), Usage: r.Usage, CostUSD: r.CostUSD, TookMS: r.TookMS,
		Model: r.Scope == precedent.FullScope,
	}
	f.Guide = f.Model && (f.Rules > 0 || r.Basis != nil && r.Basis.Guide > 0)
	for _, failure := range r.Failures {
		f.GuideLost = f.GuideLost || failure.Step == "guide"
	}
	for i := range r.Findings {
		switch g := &r.Findings[i]; {
		case g.Live() && g.Thread == "":
			f.New[g.Placement]++
		case g.Live():
		default:
			f.Hidden[g.Dropped]++
			if g.Placement == precedent.Collapsed && (g.Dropped == precedent.Rejected || g.Dropped == precedent.ByLearning) {
				f.Audited++
			}
		}
	}
	return f
}

// sinceSeen returns how long ago a server saw the pull request of a review at first, if this is its first review.
func (r *Repo) sinceSeen(ctx context.Context, tx *sql.Tx, review *precedent.Review,
	at time.Time,
) (ms int64, err error) {
	var seen int64
	err = rows(ctx, tx, `SELECT seen_at FROM watched_pulls WHERE repo_id = $1 AND pull = $2 AND seen_at > 0
		AND NOT EXISTS (SELECT 1 FROM reviews WHERE repo_id = $1 AND pull = $2)`, []any{r.id, pullOf(review)}, into(&seen))
	if seen == 0 {
		return 0, err
	}
	return max(0, millis(at)-seen) + review.TookMS, err
}

// ReviewFacts are the facts of a stored review.
type ReviewFacts struct {
	ID, Head string
	Pull     int // 0 for a local change
	At       time.Time
	Verdict  precedent.Verdict
	Facts
}

// ReviewFacts returns the facts of the reviews from a time to before another one, oldest first.
func (r *Repo) ReviewFacts(ctx context.Context, from, to time.Time) ([]ReviewFacts, error) {
	return r.reviewFacts(ctx, "at >= $2 AND at < $3 ORDER BY at, id", millis(from), millis(to))
}

// LatestFacts returns the facts of the last reviews, the newest first: of one pull request, or of all changes if pull
// is 0.
func (r *Repo) LatestFacts(ctx context.Context, pull, limit int) ([]ReviewFacts, error) {
	if pull == 0 {
		return r.reviewFacts(ctx, "TRUE ORDER BY at DESC, id DESC LIMIT $2", limit)
	}
	return r.reviewFacts(ctx, "pull = $2 ORDER BY at DESC, id DESC LIMIT $3", pull, limit)
}

func (r *Repo) reviewFacts(ctx context.Context, condition string, args ...any) ([]ReviewFacts, error) {
	all, err := collect(ctx, r.db.read,
		"SELECT id, head, pull, at, verdict, facts FROM reviews WHERE repo_id = $1 AND facts <> '' AND "+condition,
		append([]any{r.id}, args...), func(s scanner, f *ReviewFacts) error {
			return s.Scan(&f.ID, &f.Head, &f.Pull, (*moment)(&f.At), &f.Verdict, document{&f.Facts})
		})
	return all, r.db.fail("read reviews", err)
}

// OutcomesSince returns the outcomes of findings of all pull requests that were determined
// since a time, oldest first.
func (r *Repo) OutcomesSince(ctx context.Context, since time.Time) ([]precedent.Outcome, error) {
	outcomes, err := documents[precedent.Outcome](ctx, r.db.read,
		"SELECT document FROM outcomes WHERE repo_id = $1 AND at >= $2 ORDER BY at, pull, fingerprint",
		[]any{r.id, millis(since)})
	return outcomes, r.db.fail("read outcomes", err)
}

// ThreadStates counts the threads that were opened since a time, by state.
func (r *Repo) ThreadStates(ctx context.Context, since time.Time) (map[precedent.ThreadState]int, error) {
	states := map[precedent.ThreadState]int{}
	err := rows(ctx, r.db.read,
		"SELECT state, COUNT(*) FROM threads WHERE repo_id = $1 AND opened_at >= $2 GROUP BY state",
		[]any{r.id, millis(since)}, intoMap(states))
	return states, r.db.fail("count threads", err)
}
