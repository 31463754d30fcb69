package memory

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/intent"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/store"
)

// Proposal is a directive that a person gives, or that was inferred from what a person said.
type Proposal struct {
	// Kind is what the directive means by its words if it is empty; so is Glob then.
	Kind      precedent.LearningKind
	Directive string
	Rationale string
	// Glob, Category, About, PullRequest and ExpiresAt are those of the learning.
	Glob        string
	Category    precedent.Category
	About       *precedent.LearningAbout
	Scope       precedent.LearningScope // RepositoryScope if empty
	PullRequest int
	// Public tells that the repository is known to be public. Else the learning is private.
	Public    bool
	ExpiresAt time.Time
	// From says who said what where. From.MayWrite must be asked of the forge at the time.
	From precedent.LearningSource
	// Inferred tells that a model put it into words: it stays pending, even if the person may write.
	Inferred bool
}

// Captured is what became of a proposal, an approval or a change.
type Captured struct {
	precedent.Learning
	// Known tells that there was such a learning before, which is returned.
	Known bool
	// Contradicts is the active learning that says the opposite; nil if there is none. The new
	// one is pending: approving it supersedes that one.
	Contradicts *precedent.Learning
	// Refused is why nothing was stored or changed, for the person; empty if something was.
	Refused string
	// Note is what else the person should know; empty for nothing.
	Note string
}

// Active reports whether the learning influences reviews from now on.
func (c *Captured) Active() bool {
	return c.Refused == "" && c.State == precedent.LearningActive
}

func refuse(l precedent.Learning, format string, args ...any) Captured {
	return Captured{Learning: l, Refused: fmt.Sprintf(format, args...)}
}

// Propose stores a directive: active if the person may write and it was not inferred, else
// pending until ApproveLearning. What it cannot store is refused with the reason, and nothing
// is changed to make it fit. The error is that of the database.
func (m *Memory) Propose(ctx context.Context, p Proposal) (Captured, error) {
	if p.Kind == "" {
		p.Kind = intent.Of(p.Directive).Kind
		if p.Glob == "" {
			var ok bool
			if p.Glob, ok = intent.Glob(p.Directive, !p.Kind.Quieter()); !ok {
				return refuse(m.newLearning(p), "a path in it leaves the repository, or the paths are too many"), nil
			}
		}
	}
	l := m.newLearning(p)
	if why := m.unfit(l, p); why != "" {
		return Captured{Learning: l, Refused: why}, nil
	}
	note := ""
	if l.Scope == precedent.OwnerScope {
		var err error
		if note, err = m.limitScope(ctx, &l); err != nil {
			return Captured{}, err
		}
	}
	known, err := m.learnings(ctx)
	if err != nil {
		return Captured{}, err
	}
	switch old := sameAs(known, l); {
	case old == nil:
	case l.State != precedent.LearningActive || old.State != precedent.LearningPending:
		return Captured{Learning: *old, Known: true, Note: note}, nil
	case saysAll(&l, old):
		c, err := m.ApproveLearning(ctx, old.ID, l.From.Who)
		c.Known = true
		return c, err
	}
	c, err := m.check(ctx, known, l)
	if err != nil || c.Refused != "" {
		return c, err
	}
	saved, added, err := m.Rows.AddLearning(ctx, c.Learning, c.From.Who)
	c.Learning, c.Known, c.Note = saved, !added, note
	return c, err
}

// newLearning returns the learning of a proposal, clean.
func (m *Memory) newLearning(p Proposal) precedent.Learning {
	now := m.Now()
	l := precedent.Learning{
		Kind: p.Kind, State: precedent.LearningPending, Scope: cmp.Or(p.Scope, precedent.RepositoryScope),
		Directive: p.Directive, Rationale: p.Rationale, Glob: cleanGlob(p.Glob), Category: p.Category, About: p.About,
		From: p.From, PullRequest: p.PullRequest, Private: !p.Public, CreatedAt: now, UpdatedAt: now, ExpiresAt: p.ExpiresAt,
		Version: 1,
	}
	l = store.CleanLearning(l)
	if l.From.MayWrite && !p.Inferred {
		l.State, l.Approver = precedent.LearningActive, l.From.Who
	}
	// The same words in the same comment are learned once. A command has no address, so that
	// who forgot something can add it again.
	source := cmp.Or(l.From.URL, l.From.Thread+"/"+string(l.From.Comment))
	if l.From.By == precedent.FromCommand {
		source = now.UTC().Format(time.RFC3339Nano)
	}
	l.ID = precedent.LearningID(source, strings.Join([]string{cmp.Or(l.From.Words, l.Directive), string(l.Kind), l.Glob},
		"\x00"))
	return l
}

// unfit says what is wrong with a proposal, regardless of what is stored; empty for nothing.
func (m *Memory) unfit(l precedent.Learning, p Proposal) string {
	if m.LearningsOff {
		m.log().Info("a learning was not saved: learnings are turned off")
		return "learnings are turned off here"
	}
	for what, s := range map[string]string{"directive": p.Directive, "reason": p.Rationale} {
		if n := utf8.RuneCountInString(s); n > precedent.MaxLearningField {
			return fmt.Sprintf("the %s has %d characters, more than %d", what, n, precedent.MaxLearningField)
		}
	}
	switch {
	case !l.ExpiresAt.IsZero() && !l.ExpiresAt.After(m.Now()):
		return "it would have expired already"
	case l.PullRequest < 0:
		return "there is no such pull request"
	}
	return UnfitLearning(l)
}

// UnfitLearning says what is wrong with a learning, wherever it comes from; empty for nothing.
// A glob that is not safe is never corrected.
func UnfitLearning(l precedent.Learning) string {
	switch {
	case l.Directive == "":
		return "it says nothing"
	case !slices.Contains(precedent.LearningKinds, l.Kind):
		return fmt.Sprintf("%q is not a kind of learning", l.Kind)
	case l.Scope != precedent.RepositoryScope && l.Scope != precedent.OwnerScope && l.Scope != precedent.MeScope:
		return fmt.Sprintf("%q is not a scope", l.Scope)
	case l.Category != "" && !slices.Contains(precedent.Categories, l.Category):
		return fmt.Sprintf("%q is not a category", l.Category)
	}
	return unfitGlob(l)
}

// limitScope makes a learning for all of the owner's repositories one of this repository if
// others than the owner are served by the memory, and says so.
func (m *Memory) limitScope(ctx context.Context, l *precedent.Learning) (string, error) {
	alone, err := m.Rows.OwnerAlone(ctx, m.Repo)
	if err != nil || alone {
		return "", err
	}
	l.Scope = precedent.RepositoryScope
	return "it holds for this repository only: this memory does not serve one owner alone", nil
}

// check checks a learning against what is stored. If it contradicts an active one, it is
// pending in the result.
func (m *Memory) check(ctx context.Context, known []precedent.Learning, l precedent.Learning) (Captured, error) {
	c := Captured{Learning: l}
	if l.Kind.Quieter() {
		hidden, err := m.newTrial(ctx)(l)
		if err != nil {
			return Captured{}, err
		}
		if len(hidden) > 0 {
			c.Refused = couldHide(hidden)
			return c, nil
		}
	}
	if c.Contradicts = Contradicted(known, l); c.Contradicts != nil {
		c.State, c.Approver, c.Learning.Contradicts = precedent.LearningPending, "", c.Contradicts.ID
	}
	return c, nil
}

// learnings returns those that are active or pending, the last changed first.
func (m *Memory) learnings(ctx context.Context) ([]precedent.Learning, error) {
	found, err := m.Rows.Learnings(ctx, precedent.LearningActive, precedent.LearningPending)
	return slices.DeleteFunc(found, func(l precedent.Learning) bool { return expired(&l, m.Now()) }), err
}

func expired(l *precedent.Learning, now time.Time) bool {
	return !l.ExpiresAt.IsZero() && !now.Before(l.ExpiresAt)
}

// sameAs returns the learning that says the same of the same files, an active one first; nil
// if there is none.
func sameAs(known []precedent.Learning, l precedent.Learning) *precedent.Learning {
	words := match.NewClaim(l.Directive)
	var found *precedent.Learning
	for i := range known {
		o := &known[i]
		if o.ID == l.ID {
			return o
		}
		if o.Glob != l.Glob || o.Category != l.Category || o.PullRequest != l.PullRequest || o.Scope != l.Scope {
			continue
		}
		if (found == nil || o.State == precedent.LearningActive && found.State != precedent.LearningActive) &&
			match.SameDirective(&l, o, words.Similarity(match.NewClaim(o.Directive))) {
			found = o
		}
	}
	return found
}

// saysAll reports whether a learning has all that finders would read of a pending one: who says so approves it.
func saysAll(l, pending *precedent.Learning) bool {
	return l.Kind == pending.Kind && strings.EqualFold(l.Directive, pending.Directive) &&
		(pending.Rationale == "" || strings.EqualFold(l.Rationale, pending.Rationale))
}

// Contradicted returns the active learning that says most clearly the opposite; nil if none
// does.
func Contradicted(known []precedent.Learning, l precedent.Learning) *precedent.Learning {
	return contradicted(known, l, match.NewClaim)
}

func contradicted(known []precedent.Learning, l precedent.Learning, claim func(string) match.Claim) *precedent.Learning {
	words := claim(l.Directive)
	var found *precedent.Learning
	most := 0.0
	for i := range known {
		o := &known[i]
		if o.ID == l.ID || o.State != precedent.LearningActive || o.PullRequest != l.PullRequest || !mayOverlap(o.Glob,
			l.Glob) ||
			o.Category != "" && l.Category != "" && o.Category != l.Category {
			continue
		}
		if s := words.Similarity(claim(o.Directive)); s > most && match.Contradict(&l, o, s) {
			found, most = o, s
		}
	}
	return found
}

// Opposed returns the active learnings that say the opposite of one that is older, with the id of that one.
func Opposed(all []precedent.Learning, now time.Time) []precedent.Learning {
	slices.SortFunc(all, func(a, b precedent.Learning) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	claims := map[string]match.Claim{} // each is compared with all others
	claim := func(directive string) match.Claim {
		if _, ok := claims[directive]; !ok {
			claims[directive] = match.NewClaim(directive)
		}
		return claims[directive]
	}
	var hold, opposed []precedent.Learning
	for _, l := range all {
		if l.State != precedent.LearningActive || expired(&l, now) {
			continue
		}
		if o := contradicted(hold, l, claim); o != nil {
			l.Contradicts = o.ID
			opposed = append(opposed, l)
		} else {
			hold = append(hold, l)
		}
	}
	return opposed
}

func (m *Memory) log() *slog.Logger {
	if m.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return m.Log
}
