package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
)

// focusGain is what a finding gains that a learning asks for, in percent points: as much as by
// the policy's focus.
const focusGain = 10

// Heed adds learnings, which Drop, Lower and Raise then apply as well.
//
// The judge decides whether a learning speaks of a finding in its files with similar words, or
// at the place where it was learned. Without its answer, only that place, nearly the same words
// about the same symbol, and the name of an analyzer's rule count. Then one that says not to
// flag something, for some files, hides what a pattern may hide, unless another one asks for
// more there. Without a glob, and where it may not hide, it lowers the confidence as patterns
// do, and a lenient one always. One that asks to be stricter, or to look there first, raises
// it. Whatever learnings do is in the trail with their id.
func (r *Dismissals) Heed(learnings []Recalled) {
	for _, l := range learnings {
		switch l.Kind {
		case precedent.LearnDontFlag, precedent.LearnException, precedent.LearnLenient, precedent.LearnStricter, precedent.LearnFocus:
			r.directives = append(r.directives, newDirective(l.Learning))
		}
	}
}

// Raise lets learnings raise confidences, after Drop. most returns the highest confidence, at
// most n, that a finding can have.
func (r *Dismissals) Raise(findings []precedent.Finding, most func(f *precedent.Finding, n int) int) {
	for i := range findings {
		f := &findings[i]
		if d := first(r.meant[f], false); f.Live() && !f.Analyzer && d != nil {
			f.Weigh(max(f.Confidence, most(f, f.Confidence+focusGain)),
				precedent.Decision{Step: "suppress", Text: d.describe(), By: d.ID})
		}
	}
}

// meaning returns the learnings that speak of a finding, in their order.
func (r *Dismissals) meaning(f *precedent.Finding) []*directive {
	if len(r.directives) == 0 {
		return nil
	}
	var speaking []*directive
	claim := match.NewClaim(f.Title)
	for _, d := range r.directives {
		means, ruled := r.ruled[f][d]
		if !ruled {
			means = Concerns(&d.Learning, f) && d.means(f, claim)
		}
		if means {
			speaking = append(speaking, d)
		}
	}
	return speaking
}

// first returns the first learning that lowers findings, or the first that raises them.
func first(all []*directive, quieter bool) *directive {
	if i := slices.IndexFunc(all, func(d *directive) bool { return d.Kind.Quieter() == quieter }); i >= 0 {
		return all[i]
	}
	return nil
}

func dropByLearning(f *precedent.Finding, all []*directive) {
	i := slices.IndexFunc(all, func(d *directive) bool {
		return d.Glob != "" && (d.Kind == precedent.LearnDontFlag || d.Kind == precedent.LearnException)
	})
	if i < 0 || !f.Live() || !mayDrop(f) || first(all, false) != nil {
		return
	}
	hide(f, precedent.ByLearning, all[i].ID, all[i].describe())
}

func (d *directive) describe() string {
	what := map[precedent.LearningKind]string{
		precedent.LearnDontFlag: "not to flag it", precedent.LearnException: "for an exception",
		precedent.LearnLenient:  "to be more lenient",
		precedent.LearnStricter: "to be stricter", precedent.LearnFocus: "to look at it first",
	}[d.Kind]
	return fmt.Sprintf("%s asked %s on %s: %s", cmp.Or(d.From.Who, "someone"), what,
		d.CreatedAt.UTC().Format(time.DateOnly), d.Directive)
}

// LearningsUsed lists the learnings that the findings cite, or that dropped one or changed its
// confidence, in their order.
func (r Recall) LearningsUsed(findings []precedent.Finding) []precedent.LearningUse {
	of := map[string][]string{} // ids of findings, by learning
	use := func(id string, f *precedent.Finding) {
		if !slices.Contains(of[id], f.ID) {
			of[id] = append(of[id], f.ID)
		}
	}
	for i := range findings {
		f := &findings[i]
		for _, c := range f.Cites {
			if c.Kind == learningCite {
				use(c.ID, f)
			}
		}
		for _, d := range f.Trail {
			if d.Delta != 0 || d.By == f.DroppedBy {
				use(d.By, f)
			}
		}
	}
	var used []precedent.LearningUse
	for _, l := range r.Learnings {
		if len(of[l.ID]) > 0 {
			used = append(used, l.use(of[l.ID]))
		}
	}
	return used
}

// use describes the learning, with the ids of the findings that it influenced.
func (l *Recalled) use(findings []string) precedent.LearningUse {
	return precedent.LearningUse{
		Cite: l.Cite(), Does: l.Kind, Why: l.Rationale, Who: l.From.Who, Scope: l.Scope, Glob: l.Glob, At: l.CreatedAt,
		Findings: findings,
	}
}

// PendingOn returns the learnings that were proposed on a pull request and wait for approval, the last changed first.
func (m *Memory) PendingOn(ctx context.Context, pull int) ([]precedent.LearningUse, error) {
	all, err := m.Learnings(ctx, precedent.LearningPending)
	var waiting []precedent.LearningUse
	for _, l := range all {
		if l.From.PullRequest == pull {
			waiting = append(waiting, (&Recalled{Learning: l}).use([]string{}))
		}
	}
	return waiting, err
}

const learningCite = "learning"

// Cite returns how a finding names the learning.
func (l *Recalled) Cite() precedent.Cite {
	return precedent.Cite{Kind: learningCite, ID: l.ID, Text: l.Directive, URL: l.From.URL}
}

// Concerns reports whether a finding is in the files and the category of a learning.
func Concerns(l *precedent.Learning, f *precedent.Finding) bool {
	return inFiles(l.Glob, f.Path) && (l.Category == "" || l.Category == f.Category)
}
