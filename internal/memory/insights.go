package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
)

// When patterns are looked for: after an attempt there is time for people to work, unless much
// is new.
const (
	consolidationPause = 30 * time.Minute
	manyNewFindings    = 10
)

// ConsolidationLimit is how long a run may look for patterns. The turn of one that was killed
// ends then.
const ConsolidationLimit = 3 * time.Minute

// ConsolidationDue reports whether it is time to look for patterns: the first time that there are
// findings, when findings are new and the last attempt is half an hour ago, and when ten
// findings are new.
func (m *Memory) ConsolidationDue(ctx context.Context) (bool, error) {
	c, err := m.Rows.Consolidation(ctx)
	if err != nil {
		return false, err
	}
	pause := m.Now().Sub(c.AttemptedAt) // long, if there was none
	return c.NewSinceAttempt >= manyNewFindings || c.NewSinceCompleted > 0 && pause >= consolidationPause, nil
}

// Consolidated is the result of looking for patterns.
type Consolidated struct {
	// Busy tells that another process is at it, so that nothing was done.
	Busy     bool `json:"busy"`
	Findings int  `json:"findings"` // that were compared
	Insights int  `json:"insights"`
	Active   int  `json:"active"` // of them
	Changed  int  `json:"changed"`
}

// Consolidate looks for patterns in the last findings, and saves them as insights, all or
// nothing. Holder identifies this run; while another one is at it, nothing is done. Name, which
// may be nil, names patterns that are new or have new findings; it calls Rename. Begun, which
// may be nil, is called when this run has its turn.
func (m *Memory) Consolidate(ctx context.Context, holder string, name func(context.Context, []*Pattern),
	begun func(),
) (Consolidated, error) {
	taken, err := m.Rows.BeginConsolidation(ctx, holder, ConsolidationLimit)
	if err != nil || !taken {
		return Consolidated{Busy: err == nil}, err
	}
	if begun != nil {
		begun()
	}
	c, found, err := m.patterns(ctx, name)
	held, saveErr := m.Rows.EndConsolidation(context.WithoutCancel(ctx), holder, found, err != nil)
	if err := errors.Join(err, saveErr); err != nil {
		return Consolidated{}, err
	}
	if !held {
		return Consolidated{}, fmt.Errorf("save insights: it took longer than %s, and another process may have begun",
			ConsolidationLimit)
	}
	return c, nil
}

// patterns returns the insights that changed.
func (m *Memory) patterns(ctx context.Context,
	name func(context.Context, []*Pattern),
) (Consolidated, []precedent.Insight, error) {
	stored, err := m.Rows.Insights(ctx)
	if err != nil {
		return Consolidated{}, nil, err
	}
	shown, err := m.Rows.Appearances(ctx, maxConsidered)
	if err != nil {
		return Consolidated{}, nil, err
	}
	dismissals, err := m.Rows.Dismissals(ctx, m.Now(), maxDismissals)
	if err != nil {
		return Consolidated{}, nil, err
	}
	patterns := Patterns(shown, dismissals, stored, m.Now())
	var unnamed []*Pattern
	for i := range patterns {
		if p := &patterns[i]; p.Dismissed == nil && len(p.Members) > 0 && (p.News || !p.Engine) {
			unnamed = append(unnamed, p)
		}
	}
	if name != nil && len(unnamed) > 0 {
		name(ctx, unnamed)
	}
	c := Consolidated{Findings: min(len(shown), maxConsidered), Insights: len(patterns)}
	var changed []precedent.Insight
	for _, p := range patterns {
		if p.State == precedent.InsightActive {
			c.Active++
		}
		at := slices.IndexFunc(stored, func(i precedent.Insight) bool { return i.ID == p.ID })
		if at >= 0 && sameInsight(stored[at], p.Insight) {
			continue
		}
		p.UpdatedAt = m.Now()
		changed = append(changed, p.Insight)
	}
	c.Changed = len(changed)
	return c, changed, ctx.Err()
}

// DismissInsight pauses the insight whose id starts with the prefix in a person's name, until
// RestoreInsight. The error wraps ErrUnknownID or ErrAmbiguous if the prefix matches none or
// several, and ErrDismissed if it is dismissed already.
func (m *Memory) DismissInsight(ctx context.Context, idPrefix, who, reason string) (precedent.Insight, error) {
	if err := checkWords(reason, who); err != nil {
		return precedent.Insight{}, err
	}
	return m.changeInsight(ctx, idPrefix, func(i *precedent.Insight) error {
		if i.Dismissed != nil {
			return &Error{Err: ErrDismissed, Msg: fmt.Sprintf("insight %s was already dismissed by %s on %s", i.ID,
				i.Dismissed.Who, i.Dismissed.At.UTC().Format(time.DateOnly)), Hint: "undo: precedent insights dismiss --undo " + i.ID}
		}
		i.Dismissed = &precedent.InsightDismissal{Who: strings.TrimSpace(who), Reason: withoutSecrets(reason), At: m.Now()}
		return nil
	})
}

// RestoreInsight undoes DismissInsight. The next consolidation decides about the state. The
// error wraps ErrUnknownID if it is not dismissed.
func (m *Memory) RestoreInsight(ctx context.Context, idPrefix string) (precedent.Insight, error) {
	return m.changeInsight(ctx, idPrefix, func(i *precedent.Insight) error {
		if i.Dismissed == nil {
			return &Error{
				Err: ErrUnknownID, Msg: fmt.Sprintf("insight %s is not dismissed", i.ID),
				Hint: "precedent insights lists them",
			}
		}
		i.Dismissed = nil
		return nil
	})
}

func (m *Memory) changeInsight(ctx context.Context, idPrefix string,
	change func(*precedent.Insight) error,
) (precedent.Insight, error) {
	i, err := exactlyOne(ctx, idPrefix, m.Rows.InsightsByID, func(i precedent.Insight) string {
		return i.ID + "  " + i.Text
	}, "no insight", "precedent insights lists them")
	if err != nil {
		return precedent.Insight{}, err
	}
	if err := change(&i); err != nil {
		return i, err
	}
	return i, m.Rows.DismissInsight(ctx, i.ID, i.Dismissed)
}
