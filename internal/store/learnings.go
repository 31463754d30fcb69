package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
)

// ErrNoLearning means that no learning has the id.
var ErrNoLearning = errors.New("no such learning")

// MaxProposals limits the pending learnings of a repository that agents made, so that people can read
// them all.
const MaxProposals = 20

// ErrProposals means that MaxProposals are pending.
var ErrProposals = errors.New("too many proposals of agents are pending")

// maxLearnings limits the learnings that are read of one repository, the newest first. It is
// more than a team writes.
const maxLearnings = 10_000

const maxSiblings = 1_000

const learningColumns = "l.document, l.loaded, l.used, l.last_used"

// scanLearning sets what the columns say after what the document says of it.
func scanLearning(s scanner, l *precedent.Learning) error {
	return s.Scan(document{l}, &l.Loaded, &l.Used, (*moment)(&l.LastUsed))
}

func (r *Repo) learnings(ctx context.Context, q querier, condition string, args ...any) ([]precedent.Learning, error) {
	return collect(ctx, q, "SELECT "+learningColumns+" FROM learnings l WHERE l.repo_id = $1 AND "+condition,
		append([]any{r.id}, args...), scanLearning)
}

// Learnings returns the learnings of the repository in one of the states, all if none is
// given, the last changed first.
func (r *Repo) Learnings(ctx context.Context, states ...precedent.LearningState) ([]precedent.Learning, error) {
	found, err := r.learnings(ctx, r.db.read, "TRUE ORDER BY l.updated_at DESC, l.id LIMIT $2", maxLearnings)
	if len(states) > 0 {
		found = slices.DeleteFunc(found, func(l precedent.Learning) bool { return !slices.Contains(states, l.State) })
	}
	return found, r.db.fail("read learnings", err)
}

// LearningsPage returns a part of the learnings in a state, the last changed first.
func (r *Repo) LearningsPage(ctx context.Context, state precedent.LearningState, p Page) ([]precedent.Learning,
	error,
) {
	found, err := r.learnings(ctx, r.db.read, "l.state = $2 ORDER BY l.updated_at DESC, l.id LIMIT $3 OFFSET $4",
		state, p.Limit, p.Offset)
	return found, r.db.fail("read learnings", err)
}

// LearningStates counts the learnings by state.
func (r *Repo) LearningStates(ctx context.Context) (map[precedent.LearningState]int, error) {
	states := map[precedent.LearningState]int{}
	err := rows(ctx, r.db.read,
		"SELECT state, COUNT(*) FROM learnings WHERE repo_id = $1 GROUP BY state", []any{r.id}, intoMap(states))
	return states, r.db.fail("count learnings", err)
}

// LearningsByID returns the learnings whose id starts with the prefix, at most limit.
func (r *Repo) LearningsByID(ctx context.Context, prefix string, limit int) ([]precedent.Learning, error) {
	found, err := r.learnings(ctx, r.db.read, "SUBSTR(l.id, 1, LENGTH($2)) = $2 ORDER BY l.updated_at DESC, l.id LIMIT $3",
		prefix, limit)
	return found, r.db.fail("read learnings", err)
}

// OwnerLearnings returns the active learnings that other repositories of the owner made for
// all of the owner's repositories, the last changed first. Unless the repository is private,
// those of private repositories are left out.
func (r *Repo) OwnerLearnings(ctx context.Context, owner precedent.Repo, private bool) ([]precedent.Learning, error) {
	if !owner.HasOwner() {
		return nil, nil
	}
	siblings, err := collect(ctx, r.db.read, `SELECT DISTINCT i.repo_id FROM identities i
		WHERE i.repo_id <> $1 AND i.host = $2 AND i.owner = $3
		AND $1 IN (SELECT mine.repo_id FROM identities mine WHERE mine.host = $2 AND mine.owner = $3)
		ORDER BY i.repo_id LIMIT $4`, []any{r.id, owner.Host, owner.Owner, maxSiblings}, scanOne[string])
	var found []precedent.Learning
	for _, id := range siblings {
		if err != nil {
			break
		}
		var own []precedent.Learning
		own, err = (&Repo{db: r.db, id: id}).learnings(ctx, r.db.read,
			"l.state = $2 AND l.scope = $3 ORDER BY l.updated_at DESC, l.id LIMIT $4",
			precedent.LearningActive, precedent.OwnerScope, maxLearnings)
		found = append(found, slices.DeleteFunc(own, func(l precedent.Learning) bool { return l.Private && !private })...)
	}
	slices.SortStableFunc(found, func(a, b precedent.Learning) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return found[:min(len(found), maxLearnings)], r.db.fail("read learnings of the owner", err)
}

// AddLearning saves a new learning with a first entry of its history, and tells whether it was
// new. If its id exists already, the existing one is returned unchanged: the same words in the
// same comment are learned once, and what was forgotten stays forgotten. The error wraps ErrProposals if
// an agent's proposal is one too many, also if several come at once.
func (r *Repo) AddLearning(ctx context.Context, l precedent.Learning, who string) (saved precedent.Learning, added bool,
	err error,
) {
	if l.ID == "" || l.State == "" || l.Scope == "" {
		return l, false, r.db.fail("save learning", errors.New("a learning without id, state or scope"))
	}
	l = CleanLearning(l)
	err = r.change(ctx, "save learning", func(tx *sql.Tx) error {
		found, err := r.learnings(ctx, tx, "l.id = $2", l.ID)
		if err != nil {
			return err
		}
		if added = len(found) == 0; !added {
			saved = found[0]
			return nil
		}
		if l.State == precedent.LearningPending && l.From.By == precedent.FromAgent {
			pending, err := r.learnings(ctx, tx, "l.state = $2", string(precedent.LearningPending))
			if err != nil {
				return err
			}
			pending = slices.DeleteFunc(pending, func(o precedent.Learning) bool { return o.From.By != precedent.FromAgent })
			if len(pending) >= MaxProposals {
				return ErrProposals
			}
		}
		saved = l
		return r.writeLearning(ctx, tx, l, who, "added", l.UpdatedAt)
	})
	return saved, added && err == nil, err
}

// ChangeLearning changes the learning with the id in one transaction, as change does, and
// records who did it, and what, in its history. Simultaneous changes are made one after the
// other. A forgotten learning does not change any more: the attempt is recorded, and the
// learning returned as it is. The error wraps ErrNoLearning if there is none.
func (r *Repo) ChangeLearning(ctx context.Context, id, who, action string, at time.Time,
	change func(*precedent.Learning) error,
) (saved precedent.Learning, err error) {
	err = r.change(ctx, "change learning", func(tx *sql.Tx) error {
		saved, err = r.changeLearning(ctx, tx, id, who, action, at, change)
		return err
	})
	return saved, err
}

// ActivateLearning makes a pending learning active, and supersedes another one in the same transaction, unless
// instead is empty. A learning that is neither pending nor active is returned as it is.
func (r *Repo) ActivateLearning(ctx context.Context, id, instead, who string, at time.Time) (
	saved precedent.Learning, err error,
) {
	err = r.change(ctx, "activate learning", func(tx *sql.Tx) error {
		saved, err = r.changeLearning(ctx, tx, id, who, "approved", at, func(l *precedent.Learning) error {
			if l.State == precedent.LearningPending {
				l.State, l.Approver = precedent.LearningActive, who
				if instead != "" {
					l.Supersedes, l.Contradicts = instead, ""
				}
			}
			return nil
		})
		if err != nil || instead == "" || saved.State != precedent.LearningActive {
			return err
		}
		_, err = r.changeLearning(ctx, tx, instead, who, "superseded by "+id, at, func(l *precedent.Learning) error {
			l.State = precedent.LearningSuperseded
			return nil
		})
		return err
	})
	return saved, err
}

func (r *Repo) changeLearning(ctx context.Context, tx *sql.Tx, id, who, action string, at time.Time,
	change func(*precedent.Learning) error,
) (precedent.Learning, error) {
	found, err := r.learnings(ctx, tx, "l.id = $2", id)
	if err != nil {
		return precedent.Learning{}, err
	}
	if len(found) == 0 {
		return precedent.Learning{}, ErrNoLearning
	}
	saved := found[0]
	if saved.State != precedent.LearningForgotten {
		if err := change(&saved); err != nil {
			return saved, err
		}
		saved = CleanLearning(saved)
		at = notBefore(at, saved.UpdatedAt)
		saved.ID, saved.UpdatedAt = id, at
	}
	return saved, r.writeLearning(ctx, tx, saved, who, action, at)
}

// setLearning saves a learning without an entry of its history.
func (r *Repo) setLearning(ctx context.Context, tx *sql.Tx, l precedent.Learning) error {
	about := ""
	if l.About != nil {
		about = l.About.Fingerprint
	}
	return putRows(ctx, tx, "learnings", "repo_id, id", "state, scope, document, updated_at, about",
		[]any{r.id, l.ID, l.State, l.Scope, document{l}, millis(l.UpdatedAt), about})
}

func (r *Repo) writeLearning(ctx context.Context, tx *sql.Tx, l precedent.Learning, who, action string,
	at time.Time,
) error {
	if err := r.setLearning(ctx, tx, l); err != nil {
		return err
	}
	return execute(ctx, tx, `
		INSERT INTO learning_history (repo_id, id, nth, at, who, action, document)
		SELECT $1, $2, COALESCE(MAX(nth) + 1, 0), $3, $4, $5, $6 FROM learning_history WHERE repo_id = $1 AND id = $2`,
		r.id, l.ID, millis(at), who, action, document{l})
}

// LearningChange is an entry of a learning's history.
type LearningChange struct {
	At     time.Time          `json:"at"`
	Who    string             `json:"who"`
	Action string             `json:"action"`
	After  precedent.Learning `json:"after"`
}

// LearningHistory returns the changes of a learning, oldest first.
func (r *Repo) LearningHistory(ctx context.Context, id string) ([]LearningChange, error) {
	found, err := collect(ctx, r.db.read,
		"SELECT at, who, action, document FROM learning_history WHERE repo_id = $1 AND id = $2 ORDER BY nth", []any{r.id, id},
		func(s scanner, c *LearningChange) error {
			return s.Scan((*moment)(&c.At), &c.Who, &c.Action, document{&c.After})
		})
	return found, r.db.fail("read history of a learning", err)
}

// CountLearnings counts that a review loaded learnings, and used some of them. Ids without a
// learning are ignored.
func (r *Repo) CountLearnings(ctx context.Context, loaded, used []string, at time.Time) error {
	if len(loaded) == 0 && len(used) == 0 {
		return nil
	}
	return r.change(ctx, "count learnings", func(tx *sql.Tx) error {
		err := executeIn(ctx, tx, "UPDATE learnings SET loaded = loaded + 1 WHERE repo_id = $1 AND id IN (%s)", []any{r.id}, loaded)
		if err != nil {
			return err
		}
		return executeIn(ctx, tx, "UPDATE learnings SET used = used + 1, last_used = $2 WHERE repo_id = $1 AND id IN (%s)",
			[]any{r.id, millis(at)}, used)
	})
}

// OwnerAlone tells whether all repositories in the database belong to the owner.
func (r *Repo) OwnerAlone(ctx context.Context, owner precedent.Repo) (bool, error) {
	var others int
	err := row(ctx, r.db.read, `SELECT COUNT(*) FROM identities
		WHERE repo_id <> $1 AND repo_id NOT IN (SELECT i.repo_id FROM identities i WHERE i.host = $2 AND i.owner = $3)`,
		[]any{r.id, owner.Host, owner.Owner}, into(&others))
	return others == 0 && owner.HasOwner(), r.db.fail("count owners", err)
}
