package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
)

// Learnings returns the learnings of the repository in one of the states, all if none is
// given, the last changed first. One whose time is over is expired.
func (m *Memory) Learnings(ctx context.Context, states ...precedent.LearningState) ([]precedent.Learning, error) {
	found, err := m.Rows.Learnings(ctx)
	for i := range found {
		m.expire(&found[i])
	}
	if len(states) > 0 {
		found = slices.DeleteFunc(found, func(l precedent.Learning) bool { return !slices.Contains(states, l.State) })
	}
	return found, err
}

// expire gives a learning whose time is over that state. It is not stored, because the time is.
func (m *Memory) expire(l *precedent.Learning) {
	if (l.State == precedent.LearningActive || l.State == precedent.LearningPending) && expired(l, m.Now()) {
		l.State = precedent.LearningExpired
	}
}

// Learning returns the learning whose id starts with the prefix. Its errors are those of
// Dismiss.
func (m *Memory) Learning(ctx context.Context, idPrefix string) (precedent.Learning, error) {
	l, err := exactlyOne(ctx, idPrefix, m.Rows.LearningsByID, lineOf, "no learning", listLearnings)
	m.expire(&l)
	return l, err
}

const listLearnings = "precedent learn list lists learnings"

func lineOf(l precedent.Learning) string {
	return fmt.Sprintf("%s  %s  %s", l.ID, l.State, text.Cut(l.Directive, maxBlockWords))
}

// LearningChange is an entry of a learning's history.
type LearningChange = store.LearningChange

// LearningHistory returns the changes of the learning whose id starts with the prefix, oldest
// first.
func (m *Memory) LearningHistory(ctx context.Context, idPrefix string) ([]LearningChange, error) {
	l, err := m.Learning(ctx, idPrefix)
	if err != nil {
		return nil, err
	}
	return m.Rows.LearningHistory(ctx, l.ID)
}

// ApproveLearning makes a pending learning active in the name of a person who may write, if the
// checks of Propose pass now. One that contradicts an active learning supersedes it, if
// the person could know: the first approval after a new contradiction only says so.
func (m *Memory) ApproveLearning(ctx context.Context, idPrefix, who string) (Captured, error) {
	l, err := m.Learning(ctx, idPrefix)
	switch {
	case err != nil:
		return Captured{}, err
	case m.LearningsOff:
		return refuse(l, "learnings are turned off here"), nil
	case l.State == precedent.LearningActive:
		return Captured{Learning: l, Known: true}, nil
	case l.State != precedent.LearningPending:
		return refuse(l, "it is %s", l.State), nil
	}
	known, err := m.learnings(ctx)
	if err != nil {
		return Captured{}, err
	}
	told := l.Contradicts
	c, err := m.check(ctx, known, l)
	if err != nil || c.Refused != "" {
		return c, err
	}
	if c.Contradicts != nil && c.Contradicts.ID != told {
		saved, err := m.Rows.ChangeLearning(ctx, l.ID, who, "contradicts "+c.Contradicts.ID, m.Now(),
			func(l *precedent.Learning) error {
				l.Contradicts = c.Contradicts.ID
				return nil
			})
		c.Learning = saved
		return c, err
	}
	return m.activate(ctx, l.ID, who, c.Contradicts)
}

// activate makes a learning active, and supersedes the one that it contradicts. If somebody
// forgot it meanwhile, it stays forgotten.
func (m *Memory) activate(ctx context.Context, id, who string,
	instead *precedent.Learning,
) (Captured, error) {
	c, superseded := Captured{}, ""
	if instead != nil {
		superseded, c.Note = instead.ID, "it supersedes "+lineOf(*instead)
	}
	var err error
	c.Learning, err = m.Rows.ActivateLearning(ctx, id, superseded, who, m.Now())
	if err != nil {
		return Captured{}, err
	}
	if c.State != precedent.LearningActive {
		return refuse(c.Learning, "it is %s", c.State), nil
	}
	return c, nil
}

// EditLearning changes directive, rationale, kind, glob, category and expiry of a learning, as
// change does, and makes that a new version, in the name of a person who may write. The checks of
// Propose apply. A version that contradicts another learning is refused.
func (m *Memory) EditLearning(ctx context.Context, idPrefix, who string, change func(*precedent.Learning)) (Captured, error) {
	l, err := m.Learning(ctx, idPrefix)
	if err != nil {
		return Captured{}, err
	}
	edited := l
	change(&edited)
	p := Proposal{Directive: edited.Directive, Rationale: edited.Rationale}
	edited.Glob = cleanGlob(edited.Glob)
	edited = store.CleanLearning(edited)
	switch why := m.unfit(edited, p); {
	case l.State != precedent.LearningActive && l.State != precedent.LearningPending:
		return refuse(l, "it is %s", l.State), nil
	case why != "":
		return refuse(l, "%s", why), nil
	}
	known, err := m.learnings(ctx)
	if err != nil {
		return Captured{}, err
	}
	known = slices.DeleteFunc(known, func(o precedent.Learning) bool { return o.ID == l.ID })
	if old := sameAs(known, edited); old != nil {
		return refuse(*old, "already known as %s", lineOf(*old)), nil
	}
	c, err := m.check(ctx, known, edited)
	if err == nil && c.Refused == "" && c.Contradicts != nil {
		c.Refused = "it contradicts " + lineOf(*c.Contradicts)
	}
	if err != nil || c.Refused != "" {
		return c, err
	}
	saved, err := m.Rows.ChangeLearning(ctx, l.ID, who, "edited", m.Now(), func(l *precedent.Learning) error {
		l.Directive, l.Rationale, l.Kind = edited.Directive, edited.Rationale, edited.Kind
		l.Glob, l.Category, l.ExpiresAt = edited.Glob, edited.Category, edited.ExpiresAt
		l.Version++
		return nil
	})
	return Captured{Learning: saved}, err
}

// ForgetLearning forgets the learning whose id starts with what a person wrote, or whose
// directive contains it or nearly says it. That is final. If several have these words, it
// forgets none, and the error wraps ErrAmbiguous and lists them; if none has, ErrUnknownID.
func (m *Memory) ForgetLearning(ctx context.Context, which, who string) (precedent.Learning, error) {
	l, err := m.FindLearning(ctx, which)
	if err != nil {
		return precedent.Learning{}, err
	}
	return m.Rows.ChangeLearning(ctx, l.ID, who, "forgotten", m.Now(), func(l *precedent.Learning) error {
		l.State = precedent.LearningForgotten
		return nil
	})
}

// FindLearning returns the learning that ForgetLearning would forget. Its errors are the same.
func (m *Memory) FindLearning(ctx context.Context, which string) (precedent.Learning, error) {
	l, err := m.Learning(ctx, which)
	if err == nil || !errors.Is(err, ErrUnknownID) && !errors.Is(err, ErrAmbiguous) {
		return l, err
	}
	byWords, other := m.findByWords(ctx, which)
	if other != nil && errors.Is(other, ErrUnknownID) && errors.Is(err, ErrAmbiguous) {
		return l, err
	}
	return byWords, other
}

// What findByWords takes for a learning that is meant: how well its words fit, and how much better than
// those of the next one. Both are chosen, not measured.
const (
	minFit   = 0.6
	clearFit = 0.1
)

// findByWords returns the learning, active or pending, whose words fit best.
func (m *Memory) findByWords(ctx context.Context, words string) (precedent.Learning, error) {
	all, err := m.Rows.Learnings(ctx, precedent.LearningActive, precedent.LearningPending)
	if err != nil {
		return precedent.Learning{}, err
	}
	words = text.Collapse(text.Clean(words))
	fits := map[string]float64{}
	for _, l := range all {
		fits[l.ID] = fit(words, l.Directive)
	}
	slices.SortStableFunc(all, func(a, b precedent.Learning) int { return cmp.Compare(fits[b.ID], fits[a.ID]) })
	said := text.Cut(words, maxBlockWords)
	if len(all) == 0 || fits[all[0].ID] < minFit {
		return precedent.Learning{}, &Error{
			Err: ErrUnknownID, Msg: fmt.Sprintf("no learning fits %q", said),
			Hint: listLearnings,
		}
	}
	best := slices.DeleteFunc(slices.Clone(all),
		func(l precedent.Learning) bool { return fits[all[0].ID]-fits[l.ID] >= clearFit })
	if len(best) == 1 {
		return best[0], nil
	}
	best = best[:min(len(best), maxCandidates)]
	msg := fmt.Sprintf("several learnings fit %q:", said)
	for _, l := range best {
		msg += "\n  " + lineOf(l)
	}
	return precedent.Learning{}, &Error{Err: ErrAmbiguous, Msg: msg, Hint: "name one by its id", Learnings: best}
}

// fit tells how well words name a directive, 0 to 2: by the share of them that it has, and by its similarity. 2
// is for the directive itself.
func fit(words, directive string) float64 {
	lower := strings.ToLower(directive)
	if words == "" || strings.EqualFold(words, directive) {
		return 2 * float64(min(len(words), 1))
	}
	parts, has := strings.Fields(strings.ToLower(words)), 0
	for _, w := range parts {
		if strings.Contains(lower, w) {
			has++
		}
	}
	return (2*float64(has)/float64(len(parts)) + match.NewClaim(words).Similarity(match.NewClaim(directive))) / 3
}
