package memory

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
)

// Dismissals holds the current rejections, indexed for look-up. Drop and Lower must get the
// same slice of findings.
type Dismissals struct {
	exact    map[string]precedent.Rejection // by fingerprint
	byPlace  map[string][]*pattern
	bySymbol map[string][]*pattern
	byRule   map[string][]*pattern
	all      []*pattern // newest first
	judged   map[*precedent.Finding]map[*pattern]bool
	covering map[*precedent.Finding][]*pattern // set by Drop
	// recorded are the patterns by id, if the basis of each finding says what covers it.
	recorded map[string]*pattern
}

// pattern is a rejection, applied to similar findings.
type pattern struct {
	precedent.Rejection
	scope Scope
	never bool
	claim match.Claim
}

// appliesTo tells whether the finding is in the scope of the pattern: in the files that the
// person named, else in what the reason asks for.
func (p *pattern) appliesTo(f *precedent.Finding) bool {
	if p.Glob != "" {
		return inFiles(p.Glob, f.Path)
	}
	return p.scope.includes(p.Path, p.Symbol, f)
}

// NewDismissals returns the rejections that hold at a time.
func NewDismissals(rejections []precedent.Rejection, now time.Time) *Dismissals {
	holding := slices.DeleteFunc(slices.Clone(rejections), func(j precedent.Rejection) bool { return !now.Before(j.ExpiresAt) })
	// Newest first, whatever order they came in.
	slices.SortFunc(holding, func(a, b precedent.Rejection) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID))
	})
	r := &Dismissals{exact: map[string]precedent.Rejection{}, byPlace: map[string][]*pattern{}, bySymbol: map[string][]*pattern{}, byRule: map[string][]*pattern{}}
	for _, j := range holding {
		if _, newer := r.exact[j.Fingerprint]; newer {
			continue
		}
		r.exact[j.Fingerprint] = j
		p := newPattern(j)
		if j.Rule != "" {
			r.byRule[j.Rule] = append(r.byRule[j.Rule], p)
			continue
		}
		r.all = append(r.all, p)
		if j.Place != "" {
			r.byPlace[j.Place] = append(r.byPlace[j.Place], p)
		}
		if j.Symbol != "" {
			r.bySymbol[j.Symbol] = append(r.bySymbol[j.Symbol], p)
		}
	}
	return r
}

// newPattern returns the pattern of a rejection. An explicit rule needs no second dismissal,
// and no judge.
func newPattern(j precedent.Rejection) *pattern {
	if j.Rule != "" {
		return &pattern{Rejection: j, never: true}
	}
	return &pattern{Rejection: j, scope: ScopeOf(j.Reason), never: Never(j.Reason), claim: match.NewClaim(j.Claim)}
}

// RecordedDismissals returns dismissals that cover a finding if its basis says so.
func RecordedDismissals(rejections []precedent.Rejection) *Dismissals {
	r := &Dismissals{recorded: map[string]*pattern{}}
	for _, j := range rejections {
		r.recorded[j.ID] = newPattern(j)
	}
	return r
}

// cover returns the rejection of exactly this finding, or nil, and the patterns that cover it,
// newest first. It records them in the basis of the finding, or reads them from there.
func (r *Dismissals) cover(f *precedent.Finding) (exact *precedent.Rejection, patterns []*pattern) {
	if r.recorded != nil {
		if f.Basis == nil {
			return nil, nil
		}
		if p := r.recorded[f.Basis.Exact]; p != nil {
			exact = &p.Rejection
		}
		for _, id := range f.Basis.Patterns {
			if p := r.recorded[id]; p != nil {
				patterns = append(patterns, p)
			}
		}
		return exact, patterns
	}
	patterns = r.matching(f)
	if f.Basis != nil { // what a judge found the last time
		for _, p := range r.all {
			if slices.Contains(f.Basis.Patterns, p.ID) && !slices.Contains(patterns, p) {
				patterns = append(patterns, p)
			}
		}
		slices.SortFunc(patterns, newestFirst)
	}
	if j, ok := r.exact[f.Fingerprint]; ok && f.Fingerprint != "" {
		exact = &j
	}
	if b := f.Basis; b != nil {
		b.Exact, b.Patterns = "", nil
		if exact != nil {
			b.Exact = exact.ID
		}
		for _, p := range patterns {
			b.Patterns = append(b.Patterns, p.ID)
		}
	}
	return exact, patterns
}

// askJudge has the judge decide which patterns cover which findings: the most similar pairs
// first, up to maxQuestions.
func (r *Dismissals) askJudge(findings []precedent.Finding, judge Judge) {
	r.judged = map[*precedent.Finding]map[*pattern]bool{}
	if judge == nil || len(r.all) == 0 {
		return
	}
	type candidate struct {
		finding    *precedent.Finding
		pattern    *pattern
		similarity float64
	}
	var found []candidate
	for i := range findings {
		f := &findings[i]
		if _, dismissed := r.exact[f.Fingerprint]; !f.Live() || dismissed {
			continue
		}
		claim := match.NewClaim(f.Title)
		for _, p := range r.all {
			similarity := func() float64 { return claim.Similarity(p.claim) }
			if match.Asks(&p.Rejection, f, p.appliesTo(f), similarity) {
				found = append(found, candidate{f, p, similarity()})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.similarity, a.similarity) })
	found = found[:min(len(found), maxQuestions)]
	if len(found) == 0 {
		return
	}
	var questions []Question
	for _, c := range found {
		questions = append(questions, Question{c.finding, c.pattern.Rejection})
	}
	for i, covered := range judge(questions) {
		c := found[i]
		if r.judged[c.finding] == nil {
			r.judged[c.finding] = map[*pattern]bool{}
		}
		r.judged[c.finding][c.pattern] = covered
	}
}

// matching returns the patterns that cover the finding, newest first.
func (r *Dismissals) matching(f *precedent.Finding) []*pattern {
	var covering []*pattern
	for p, covered := range r.judged[f] {
		if covered {
			covering = append(covering, p)
		}
	}
	claim := sync.OnceValue(func() match.Claim { return match.NewClaim(f.Title) })
	for _, p := range slices.Concat(r.byPlace[f.Place], r.bySymbol[f.Symbol]) {
		if _, judged := r.judged[f][p]; judged || slices.Contains(covering, p) {
			continue
		}
		if match.Covers(&p.Rejection, f, p.appliesTo(f), func() float64 { return claim().Similarity(p.claim) }) {
			covering = append(covering, p)
		}
	}
	if f.Analyzer {
		for _, name := range ruleNames(f) {
			covering = append(covering, slices.DeleteFunc(slices.Clone(r.byRule[name]), func(p *pattern) bool { return !inFiles(p.Glob, f.Path) })...)
		}
	}
	slices.SortFunc(covering, newestFirst)
	return covering
}

func newestFirst(a, b *pattern) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID)) }

// About returns up to most rejections that say what the team thinks of claims like the
// findings': of the same file, or in scope with a similar claim. The newest come first.
func (r *Dismissals) About(findings []*precedent.Finding, most int) []precedent.Rejection {
	var about []precedent.Rejection
	claims := make([]match.Claim, len(findings))
	for i, f := range findings {
		claims[i] = match.NewClaim(f.Title)
	}
	for _, p := range r.all {
		for i, f := range findings {
			if len(about) < most && (p.Path == f.Path || p.appliesTo(f) && claims[i].Similarity(p.claim) >= match.LikeClaim) {
				about = append(about, p.Rejection)
				break
			}
		}
	}
	return about
}
