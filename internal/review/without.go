package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/store"
)

// maxOthers bounds the other findings of a counterfactual.
const maxOthers = 20

// LeftOut is what a counterfactual leaves out of a review.
type LeftOut struct {
	memories map[string]bool
	comments map[string]bool // of people, by the ids of their cites
	// read are memories that only the prompts had.
	read []string
	// Names are the ids of what was found, and Unknown are names that nothing in the review has.
	Names, Unknown []string
}

// LeaveOut resolves names in a review: the beginning of the id of a memory or of a dismissed finding.
func LeaveOut(r *precedent.Review, names []string) LeftOut {
	out := LeftOut{memories: map[string]bool{}, comments: map[string]bool{}}
	for _, name := range names {
		prefix, found := memory.NormalizeID(name), false
		add := func(id string) {
			found = true
			if !slices.Contains(out.Names, id) {
				out.Names = append(out.Names, id)
			}
		}
		if prefix == "" {
			continue
		}
		if r.Basis != nil {
			for _, j := range r.Basis.Dismissals {
				if strings.HasPrefix(j.ID, prefix) || strings.HasPrefix(j.Finding, prefix) {
					out.memories[j.ID] = true
					add(j.ID)
				}
			}
			for _, l := range r.Basis.Learnings {
				if strings.HasPrefix(memory.NormalizeID(l.ID), prefix) {
					out.memories[l.ID] = true
					add(l.ID)
				}
			}
		}
		for _, c := range r.Memory.Precedents {
			if strings.HasPrefix(memory.NormalizeID(c.ID), prefix) {
				out.comments[c.ID] = true
				add(c.ID)
				if r.Memory.PrecedentUse.Shown > 0 {
					out.read = append(out.read, c.Kind)
				}
			}
		}
		if !found {
			for _, c := range citesOf(r) {
				if strings.HasPrefix(memory.NormalizeID(c.ID), prefix) {
					out.read = append(out.read, c.Kind)
					add(c.ID)
				}
			}
		}
		if !found {
			out.Unknown = append(out.Unknown, name)
		}
	}
	return out
}

// citesOf returns the memories that finders read: learnings and insights.
func citesOf(r *precedent.Review) []precedent.Cite {
	cites := slices.Clone(r.Memory.Insights)
	for _, l := range r.Memory.LearningsUsed {
		cites = append(cites, l.Cite)
	}
	return cites
}

// of returns a basis without what is left out.
func (out *LeftOut) of(b *precedent.Basis) *precedent.Basis {
	rest := *b
	rest.Dismissals = slices.DeleteFunc(slices.Clone(b.Dismissals),
		func(j precedent.Dismissal) bool { return out.memories[j.ID] })
	rest.Learnings = slices.DeleteFunc(slices.Clone(b.Learnings),
		func(l precedent.Learning) bool { return out.memories[l.ID] })
	return &rest
}

// review returns a review without the comments that are left out.
func (out *LeftOut) review(r *precedent.Review) *precedent.Review {
	if len(out.comments) == 0 {
		return r
	}
	rest := *r
	rest.Findings = slices.Clone(r.Findings)
	for i := range rest.Findings {
		f := &rest.Findings[i]
		if f.Basis != nil {
			own := *f.Basis
			own.Matches = slices.DeleteFunc(slices.Clone(own.Matches),
				func(m precedent.CorpusMatch) bool { return out.comments[m.ID] })
			f.Basis = &own
		}
	}
	return &rest
}

// Without returns what the review would have decided about the finding with the fingerprint
// without what is left out. The error is ErrNoBasis for a review that does not hold what its
// decisions were made from.
func Without(r *precedent.Review, fingerprint string, out LeftOut) (precedent.Counterfactual, error) {
	c := precedent.Counterfactual{
		Without: append([]string{}, out.Names...), Silent: []string{}, Removed: []precedent.Decision{},
		Added: []precedent.Decision{}, Others: []precedent.FateOf{},
	}
	if r.Basis == nil {
		return c, ErrNoBasis
	}
	d, err := DecideAgain(out.review(r), out.of(r.Basis))
	if err != nil {
		return c, err
	}
	for _, p := range Pairs(r, d) {
		f, g, before, after := p.Finding, p.Again, p.Before, p.After
		if f.Fingerprint != fingerprint {
			if (before.Placement != after.Placement || before.Dropped != after.Dropped) && len(c.Others) < maxOthers {
				c.Others = append(c.Others, precedent.FateOf{Finding: f.ID, Title: f.Title, Before: before, After: after})
			}
			continue
		}
		c.Before, c.After = before, after
		c.Removed, c.Added = differing(f.Trail, g.Trail), differing(g.Trail, f.Trail)
		if why := d.Unverified[fingerprint]; why != "" {
			c.Unknown = why + "; its confidence before that is given"
		}
		for _, name := range out.Names {
			if !saidOf(f, name) {
				c.Silent = append(c.Silent, name)
			}
		}
	}
	if len(out.read) > 0 && c.Unknown == "" {
		slices.Sort(out.read)
		c.Unknown = fmt.Sprintf("finders read the %s, and what they would have found without it only a model can tell",
			strings.Join(slices.Compact(out.read), " and the "))
	}
	return c, nil
}

// Pair is a finding of a review, and the same one decided again.
type Pair struct {
	Finding, Again *precedent.Finding
	Before, After  precedent.Fate
}

// Pairs returns the findings of a review, each fingerprint once.
func Pairs(r *precedent.Review, d Decided) []Pair {
	again := map[string]*precedent.Finding{}
	for _, f := range store.Fold(d.Findings) {
		again[f.Fingerprint] = f
	}
	var all []Pair
	for _, f := range store.Fold(r.Findings) {
		g := again[f.Fingerprint]
		all = append(all, Pair{f, g, fateOf(f, r.Basis.Threshold), fateOf(g, d.Threshold)})
	}
	return all
}

// saidOf reports whether a memory had a say about a finding.
func saidOf(f *precedent.Finding, id string) bool {
	return f.Basis != nil && (f.Basis.Exact == id || slices.Contains(f.Basis.Patterns, id) ||
		slices.Contains(f.Basis.Learnings, id)) || slices.ContainsFunc(f.Cites,
		func(c precedent.Cite) bool { return c.ID == id })
}

func fateOf(f *precedent.Finding, threshold int) precedent.Fate {
	return precedent.Fate{
		Placement: f.Placement, Confidence: f.Confidence, Threshold: threshold, Dropped: f.Dropped, DroppedBy: f.DroppedBy,
		Why: f.DroppedWhy,
	}
}

// differing returns the decisions of a that b does not have.
func differing(a, b []precedent.Decision) []precedent.Decision {
	rest := slices.Clone(b)
	only := []precedent.Decision{}
	for _, d := range a {
		if i := slices.Index(rest, d); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
			continue
		}
		only = append(only, d)
	}
	return only
}
