package eval

import (
	"cmp"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// noiseSums adds up the reviews of ranges.
type noiseSums struct {
	rules     map[RuleNoise]*RuleNoise // by analyzer, rule and severity
	ends      map[AnalyzerEnds]int
	skipped   map[string]int
	truncated map[string]int
	coverage  NoiseCoverage
}

func newNoiseSums() *noiseSums {
	return &noiseSums{rules: map[RuleNoise]*RuleNoise{}, ends: map[AnalyzerEnds]int{}, skipped: map[string]int{}, truncated: map[string]int{}}
}

func (s *noiseSums) add(r *precedent.Review) {
	seen := map[*RuleNoise]bool{}
	for i := range r.Findings {
		f := &r.Findings[i]
		key := RuleNoise{Analyzer: f.Finder, Rule: f.Rule, Severity: f.Severity}
		sum := s.rules[key]
		if sum == nil {
			sum = &key
			s.rules[key] = sum
		}
		sum.Found++
		if !f.Live() {
			continue
		}
		sum.Shown++
		if !seen[sum] {
			seen[sum] = true
			sum.Ranges++
		}
	}
	for _, run := range r.Finders {
		if run.Engine == precedent.AnalyzerEngine && run.Status != precedent.StatusOff && run.Error != "" {
			s.ends[AnalyzerEnds{Analyzer: run.Name, Status: run.Status, Reason: withoutNames(run.Error)}]++
		}
	}
	c := r.Coverage
	s.coverage.Files += c.Files
	s.coverage.Hunks += c.Hunks
	s.coverage.HunksRead += c.HunksRead
	for _, f := range c.Skipped {
		s.skipped[f.Reason]++
	}
	for _, h := range c.Truncated {
		s.truncated[h.Reason]++
	}
}

// into completes the result.
func (s *noiseSums) into(n *Noise) {
	per := func(count int) float64 { return 1000 * float64(count) / float64(max(n.Added, 1)) }
	for _, r := range s.rules {
		r.FoundRate, r.ShownRate = per(r.Found), per(r.Shown)
		if r.Severity.AtLeast(precedent.High) {
			n.Serious += r.Shown
		}
		n.Rules = append(n.Rules, *r)
	}
	slices.SortFunc(n.Rules, func(a, b RuleNoise) int {
		return cmp.Or(b.Shown-a.Shown, b.Found-a.Found, cmp.Compare(a.Analyzer, b.Analyzer), cmp.Compare(a.Rule, b.Rule), a.Severity.Rank()-b.Severity.Rank())
	})
	for end, count := range s.ends {
		end.Ranges = count
		n.Analyzers = append(n.Analyzers, end)
	}
	slices.SortFunc(n.Analyzers, func(a, b AnalyzerEnds) int {
		return cmp.Or(cmp.Compare(a.Analyzer, b.Analyzer), b.Ranges-a.Ranges, cmp.Compare(a.Status, b.Status), cmp.Compare(a.Reason, b.Reason))
	})
	n.Coverage = s.coverage
	n.Coverage.Skipped, n.Coverage.Truncated = byCount(s.skipped), byCount(s.truncated)
}

// byCount lists reasons, the most frequent first.
func byCount(counts map[string]int) []ReasonCount {
	list := []ReasonCount{}
	for reason, count := range counts {
		list = append(list, ReasonCount{reason, count})
	}
	slices.SortFunc(list, func(a, b ReasonCount) int { return cmp.Or(b.Count-a.Count, strings.Compare(a.Reason, b.Reason)) })
	return list
}

// maxReason is the length of a reason in a result, in characters.
const maxReason = 200

// withoutNames replaces the words of a reason that contain digits, dots, slashes or
// underscores, so that the same reason is counted as one whatever file it is about.
func withoutNames(reason string) string {
	const name = "…"
	var words []string
	for _, w := range strings.Fields(reason) {
		core := strings.Trim(w, "().,:;\"'`")
		if strings.ContainsAny(core, "0123456789./_@") {
			w = strings.Replace(w, core, name, 1)
		}
		if strings.Trim(w, ",") == name && len(words) > 0 && strings.Trim(words[len(words)-1], ",") == name {
			words[len(words)-1] = w
			continue
		}
		words = append(words, w)
	}
	return text.Cut(strings.Join(words, " "), maxReason)
}
