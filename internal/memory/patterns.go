package memory

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
)

// Dismissals holds the current dismissals, indexed for look-up. Drop and Lower must get the
// same slice of findings.
type Dismissals struct {
	exact    map[string]precedent.Dismissal // by fingerprint
	byPlace  map[string][]*pattern
	bySymbol map[string][]*pattern
	byRule   map[string][]*pattern
	all      []*pattern // newest first
	judged   map[*precedent.Finding]map[*pattern]bool
	covering map[*precedent.Finding][]*pattern // set by Drop

	directives []*directive                        // set by Heed
	meant      map[*precedent.Finding][]*directive // set by Drop
	ruled      map[*precedent.Finding]map[*directive]bool

	// recorded are patterns and learnings by id, if the basis of each finding says what speaks
	// of it; else nil.
	recorded *recorded
}

// pattern is a dismissal, applied to similar findings.
type pattern struct {
	precedent.Dismissal
	scope Scope
	never bool
	claim match.Claim
}

// weight is what the pattern counts against a finding. A dismissed rule keeps its weight: a
// person asked for it by name.
func (p *pattern) weight() float64 {
	weight := 1.0
	if p.never {
		weight = dismissalsToDrop
	}
	if p.Rule != "" {
		return weight
	}
	return weight / math.Pow(2, float64(p.Accepted))
}

// appliesTo reports whether the finding is in the scope of the pattern: in the files that the
// person named, else in what the reason asks for.
func (p *pattern) appliesTo(f *precedent.Finding) bool {
	if p.Glob != "" {
		return inFiles(p.Glob, f.Path)
	}
	return p.scope.includes(p.Path, p.Symbol, f)
}

// NewDismissals returns the dismissals that hold at a time.
func NewDismissals(dismissals []precedent.Dismissal, now time.Time) *Dismissals {
	holding := slices.DeleteFunc(slices.Clone(dismissals),
		func(j precedent.Dismissal) bool { return !now.Before(j.ExpiresAt) })
	// Newest first, whatever order they came in.
	slices.SortFunc(holding, func(a, b precedent.Dismissal) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID))
	})
	r := &Dismissals{
		exact: map[string]precedent.Dismissal{}, byPlace: map[string][]*pattern{},
		bySymbol: map[string][]*pattern{}, byRule: map[string][]*pattern{},
	}
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

// newPattern returns the pattern of a dismissal. An explicit rule needs no second dismissal,
// and no judge.
func newPattern(j precedent.Dismissal) *pattern {
	if j.Rule != "" {
		return &pattern{Dismissal: j, never: true}
	}
	return &pattern{Dismissal: j, scope: ScopeOf(j.Reason), never: Never(j.Reason), claim: match.NewClaim(j.Claim)}
}

// candidate is a finding with a pattern or a learning that may speak of it.
type candidate struct {
	finding    *precedent.Finding
	pattern    *pattern
	directive  *directive
	similarity float64
}

// askJudge has the judge decide which patterns cover which findings, and of which ones
// learnings speak: the most similar pairs first, up to maxQuestions.
func (r *Dismissals) askJudge(findings []precedent.Finding, judge Judge) {
	r.judged, r.ruled = map[*precedent.Finding]map[*pattern]bool{}, map[*precedent.Finding]map[*directive]bool{}
	if judge == nil || len(r.all)+len(r.directives) == 0 {
		return
	}
	found := r.candidates(findings)
	slices.SortStableFunc(found, likelier)
	found = found[:min(len(found), maxQuestions)]
	if len(found) == 0 {
		return
	}
	var questions []Question
	for _, c := range found {
		q := Question{Finding: c.finding}
		if c.directive != nil {
			q.Learning = &c.directive.Learning
		} else {
			q.Dismissal = c.pattern.Dismissal
		}
		questions = append(questions, q)
	}
	for i, covered := range judge(questions) {
		c := found[i]
		if c.directive != nil {
			note(r.ruled, c.finding, c.directive, covered)
		} else {
			note(r.judged, c.finding, c.pattern, covered)
		}
	}
}

func likelier(a, b candidate) int { return cmp.Compare(b.similarity, a.similarity) }

func note[T comparable](said map[*precedent.Finding]map[T]bool, f *precedent.Finding, what T, covered bool) {
	if said[f] == nil {
		said[f] = map[T]bool{}
	}
	said[f][what] = covered
}

// candidates returns the pairs that a judge may be asked about: of each finding with the patterns that are most like it,
// and with learnings. A pattern has only a title's claim, which a finding may say in its body.
func (r *Dismissals) candidates(findings []precedent.Finding) []candidate {
	var found []candidate
	for i := range findings {
		f := &findings[i]
		if _, dismissed := r.exact[f.Fingerprint]; !f.Live() || dismissed {
			continue
		}
		claim, whole := match.NewClaim(f.Title), match.NewClaim(f.Title+"\n"+f.Body)
		var patterns []candidate
		for _, p := range r.all {
			if s := match.Asks(&p.Dismissal, f, p.appliesTo(f), func() float64 {
				return max(claim.Similarity(p.claim), whole.Similarity(p.claim))
			}); s > 0 {
				patterns = append(patterns, candidate{finding: f, pattern: p, similarity: s})
			}
		}
		slices.SortStableFunc(patterns, likelier)
		found = append(found, patterns[:min(len(patterns), maxPatterns)]...)
		for _, d := range r.directives {
			if Concerns(&d.Learning, f) && d.asks(f, claim) {
				found = append(found, candidate{finding: f, directive: d, similarity: d.similarity(claim)})
			}
		}
	}
	return found
}

// matching returns the patterns that cover the finding, newest first.
func (r *Dismissals) matching(f *precedent.Finding) []*pattern {
	var covering []*pattern
	for p, covered := range r.judged[f] {
		if covered {
			covering = append(covering, p)
		}
	}
	unjudged := slices.Concat(r.byPlace[f.Place], r.bySymbol[f.Symbol])
	if len(r.judged[f]) == maxPatterns {
		unjudged = nil // the judge answered about those that are more alike
	}
	claim := sync.OnceValue(func() match.Claim { return match.NewClaim(f.Title) })
	for _, p := range unjudged {
		if _, judged := r.judged[f][p]; judged || slices.Contains(covering, p) {
			continue
		}
		if match.Covers(&p.Dismissal, f, p.appliesTo(f), func() float64 { return claim().Similarity(p.claim) }) {
			covering = append(covering, p)
		}
	}
	if len(r.byRule) > 0 {
		for _, name := range names(f) {
			covering = append(covering, slices.DeleteFunc(slices.Clone(r.byRule[name]),
				func(p *pattern) bool { return !inFiles(p.Glob, f.Path) })...)
		}
	}
	slices.SortFunc(covering, newestFirst)
	return covering
}

func newestFirst(a, b *pattern) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID)) }

// About returns up to most dismissals that say what the team thinks of claims like the
// findings': of the same file, or in scope with a similar claim. The newest come first.
func (r *Dismissals) About(findings []*precedent.Finding, most int) []precedent.Dismissal {
	var about []precedent.Dismissal
	claims := make([]match.Claim, len(findings))
	for i, f := range findings {
		claims[i] = match.NewClaim(f.Title)
	}
	for _, p := range r.all {
		for i, f := range findings {
			if len(about) < most && (p.Path == f.Path || p.appliesTo(f) && claims[i].Similarity(p.claim) >= match.LikeClaim) {
				about = append(about, p.Dismissal)
				break
			}
		}
	}
	return about
}
