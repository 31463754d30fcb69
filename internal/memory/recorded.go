package memory

import (
	"slices"

	"github.com/precedent-dev/precedent"
)

// recorded are the memories of a review that was made before, by id.
type recorded struct {
	patterns   map[string]*pattern
	directives map[string]*directive
}

// RecordedDismissals returns dismissals and learnings that speak of a finding if its basis says
// so, whatever its words.
func RecordedDismissals(dismissals []precedent.Dismissal, learnings []precedent.Learning) *Dismissals {
	r := &Dismissals{recorded: &recorded{map[string]*pattern{}, map[string]*directive{}}}
	for _, j := range dismissals {
		r.recorded.patterns[j.ID] = newPattern(j)
	}
	for _, l := range learnings {
		r.recorded.directives[l.ID] = newDirective(l)
	}
	return r
}

// said are the memories that speak of a finding.
type said struct {
	exact      *precedent.Dismissal // of exactly this finding; nil for none
	patterns   []*pattern           // newest first
	directives []*directive
}

// about returns what speaks of a finding, and records it in the finding's basis.
func (r *Dismissals) about(f *precedent.Finding) said {
	if r.recorded != nil {
		return r.recorded.about(f.Basis)
	}
	s := said{patterns: r.matching(f), directives: r.meaning(f)}
	if j, ok := r.exact[f.Fingerprint]; ok && f.Fingerprint != "" {
		s.exact = &j
	}
	b := f.Basis
	if b == nil {
		return s
	}
	// What a judge found when the decision was made before.
	for _, p := range r.all {
		if slices.Contains(b.Patterns, p.ID) && !slices.Contains(s.patterns, p) {
			s.patterns = append(s.patterns, p)
		}
	}
	slices.SortFunc(s.patterns, newestFirst)
	b.Exact, b.Patterns, b.Learnings = "", nil, nil
	if s.exact != nil {
		b.Exact = s.exact.ID
	}
	for _, p := range s.patterns {
		b.Patterns = append(b.Patterns, p.ID)
	}
	for _, d := range s.directives {
		b.Learnings = append(b.Learnings, d.ID)
	}
	return s
}

func (r *recorded) about(b *precedent.FindingBasis) said {
	var s said
	if b == nil {
		return s
	}
	if p := r.patterns[b.Exact]; p != nil {
		s.exact = &p.Dismissal
	}
	for _, id := range b.Patterns {
		if p := r.patterns[id]; p != nil {
			s.patterns = append(s.patterns, p)
		}
	}
	for _, id := range b.Learnings {
		if d := r.directives[id]; d != nil {
			s.directives = append(s.directives, d)
		}
	}
	return s
}
