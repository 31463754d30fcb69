package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/text"
)

// Consolidation says how patterns are looked for.
type Consolidation struct {
	Settings *settings.Settings
	Engine   EngineSetup
	// Pull is the pull request whose budget pays for it; 0 for none. USD and Tokens are what its
	// review has used of the budget of a review.
	Pull     int
	USD      float64
	Tokens   int
	Patience time.Duration // how long the engine may take; DefaultPatience if it is not positive
	// Begun is called when this run has its turn. It may be nil.
	Begun func()
}

// DefaultPatience is how long the engine may take to name patterns in the background.
const DefaultPatience = 90 * time.Second

// Consolidated is the result of a consolidation.
type Consolidated struct {
	memory.Consolidated
	Named int `json:"named"` // by the engine
	// Refused says why names of the engine were not used, and why it named none.
	Refused []string      `json:"refused"`
	Pruned  memory.Counts `json:"pruned"`
}

// ConsolidationDue tells whether it is time to look for patterns in the memory: see
// memory.ConsolidationDue. It never is in one that is gone when the process ends.
func (w *Workspace) ConsolidationDue(ctx context.Context) (bool, error) {
	if !w.Memory.DB.Kept() {
		return false, nil
	}
	return w.Memory.ConsolidationDue(ctx)
}

// Consolidate looks for patterns in the memory, has the engine name them, and prunes the
// memory. The engine sees titles, paths and what people decided, never code. If it fails or
// answers badly, the text of a pattern is made from counts.
func (r *Env) Consolidate(ctx context.Context, w *Workspace, c Consolidation) (Consolidated, error) {
	ctx, cancel := context.WithTimeout(ctx, memory.ConsolidationLimit-10*time.Second) // before its turn is over
	defer cancel()
	out := Consolidated{Refused: []string{}}
	var err error
	out.Consolidated, err = w.Memory.Consolidate(ctx, r.NewID(), func(ctx context.Context, unnamed []*memory.Pattern) {
		out.Named, out.Refused = r.namePatterns(ctx, w, c, unnamed[:min(len(unnamed), prompt.MostPatterns)])
	}, c.Begun)
	if err != nil || out.Busy {
		return out, err
	}
	out.Pruned, err = w.Memory.Prune(ctx)
	return out, err
}

// namePatterns asks the engine once about the patterns.
func (r *Env) namePatterns(
	ctx context.Context, w *Workspace, c Consolidation, patterns []*memory.Pattern,
) (named int, refused []string) {
	refused = []string{}
	if !c.Engine.Enabled() {
		return 0, refused
	}
	answer, err := r.askForNames(ctx, w, c, patterns)
	if err != nil {
		return 0, append(refused, text.VisibleLine(err.Error()))
	}
	names, err := memory.ReadInsightNames(answer)
	if err != nil {
		return 0, append(refused, err.Error())
	}
	for i, p := range patterns {
		if n, ok := names[patternID(i)]; !ok {
			continue
		} else if err := p.Rename(n); err != nil {
			refused = append(refused, fmt.Sprintf("the name of insight %s: %v", p.ID, err))
		} else {
			named++
		}
	}
	return named, refused
}

func patternID(i int) string { return fmt.Sprintf("i%d", i+1) }

func (r *Env) askForNames(
	ctx context.Context, w *Workspace, c Consolidation, patterns []*memory.Pattern,
) ([]byte, error) {
	budget := BookedBudget(c.Settings, w.Memory.Rows, c.Pull, nil)
	if budget.USD > 0 && c.USD >= budget.USD || budget.Tokens > 0 && c.Tokens >= budget.Tokens {
		return nil, fmt.Errorf("the engine named no pattern: %w: the review used its budget", engine.ErrOverBudget)
	}
	if budget.USD > 0 {
		budget.USD -= c.USD
	}
	if budget.Tokens > 0 {
		budget.Tokens -= c.Tokens
	}
	e, end := c.Engine.New(EngineOptions{Budget: budget, Window: c.Settings.Context.Value})
	defer func() { _ = end() }() // what remains is a temporary folder
	defer func() { _ = budget.Release(ctx) }()
	p := prompt.Insights(groupsOf(patterns))
	t := engine.Task{
		Role: engine.Insight, Name: string(engine.Insight), System: p.System, Common: p.Common,
		Prefix: p.Prefix, Prompt: p.Suffix, Schema: prompt.Schema(string(engine.Insight)), Timeout: DefaultPatience,
	}
	if c.Patience > 0 {
		t.Timeout = c.Patience
	}
	a, err := e.Run(ctx, t)
	if err == nil && a.Status != precedent.StatusOK {
		err = fmt.Errorf("the engine named no pattern: %s, %s", a.Status, text.Cut(a.Message, maxEngineMessage))
	}
	return a.JSON, err
}

// maxEngineMessage bounds what is shown of an engine's message, in characters.
const maxEngineMessage = 300

// groupsOf returns what the engine is shown of patterns, without secrets.
func groupsOf(patterns []*memory.Pattern) []prompt.PatternGroup {
	var groups []prompt.PatternGroup
	for i, p := range patterns {
		g := prompt.PatternGroup{ID: patternID(i)}
		for _, m := range p.Members[:min(len(p.Members), prompt.MostMembers)] {
			f := m.Finding
			f.Title, _ = secret.Redact(f.Path, f.Title)
			g.Members = append(g.Members, prompt.PatternMember{Finding: f, Pulls: m.Pulls, Decided: decidedAbout(m.Outcomes)})
		}
		groups = append(groups, g)
	}
	return groups
}

// decidedAbout lists the outcomes of a finding.
func decidedAbout(outcomes []precedent.Outcome) string {
	var kinds []string
	for _, o := range outcomes {
		if slices.Contains(precedent.OutcomeKinds, o.Kind) && !slices.Contains(kinds, string(o.Kind)) {
			kinds = append(kinds, string(o.Kind))
		}
	}
	slices.Sort(kinds)
	return strings.Join(kinds, ", ")
}

// Pauses of KeepConsolidating.
const (
	lookEvery  = 5 * time.Minute
	pruneEvery = 24 * time.Hour
)

// KeepConsolidating looks for patterns in a memory whenever that is due, and prunes it once a
// day, until ctx ends or the memory is gone. It opens the memory each time, so that it may be
// moved or restored. tell is called after each attempt; an error does not end the work.
func (r *Env) KeepConsolidating(ctx context.Context, open func(context.Context) (*Workspace, error), c Consolidation,
	tell func(Consolidated, error),
) error {
	var pruned time.Time
	for {
		gone, err := r.lookOnce(ctx, open, c, &pruned, tell)
		if ctx.Err() != nil || gone {
			return nil //nolint:nilerr // that ctx ends is how it is stopped
		}
		if err != nil {
			tell(Consolidated{}, err)
		}
		if err := r.Sleep(ctx, lookEvery); err != nil {
			return nil //nolint:nilerr // likewise
		}
	}
}

// lookOnce consolidates if that is due, and else prunes if that is. gone tells that there is no
// memory any more.
func (r *Env) lookOnce(ctx context.Context, open func(context.Context) (*Workspace, error), c Consolidation,
	pruned *time.Time, tell func(Consolidated, error),
) (gone bool, err error) {
	w, err := open(ctx)
	if err != nil {
		return false, err
	}
	defer w.Close()
	if !w.Memory.DB.Kept() {
		return true, nil
	}
	due, err := w.ConsolidationDue(ctx)
	if err != nil {
		return false, err
	}
	now := r.Now()
	switch {
	case due:
		done, err := r.Consolidate(ctx, w, c)
		if errors.Is(err, context.Canceled) {
			return false, err
		}
		if !done.Busy && err == nil {
			*pruned = now
		}
		tell(done, err)
	case now.Sub(*pruned) >= pruneEvery:
		if _, err := w.Memory.Prune(ctx); err != nil {
			return false, err
		}
		*pruned = now
	}
	return false, nil
}
