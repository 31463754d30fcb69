package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/text"
)

// guideDelta is what a finding gains if it names a rule of the guide, in percent points.
const guideDelta = 10

// minRuleQuote is the minimum length of a rule that counts as quoted when a finding
// repeats it, in bytes: shorter ones occur by chance.
const minRuleQuote = 24

// cite adds the rules of the repository's guide that a finding names, by id or by
// repeating them, and the learnings that it names by id, if they apply to its file. A rule
// that does not exist is removed.
func cite(fs []precedent.Finding, rules []precedent.Rule, learnings []memory.Recalled) {
	for i := range fs {
		f := &fs[i]
		if !f.Live() || f.Analyzer || f.Kept {
			continue
		}
		before := len(f.Cites)
		said := text.Collapse(f.Rule + " " + f.Title + " " + f.Body)
		for _, r := range rules {
			if !guide.AtOrBelow(cmp.Or(r.Dir, "."), f.Path) || !namesRule(f, said, r) {
				continue
			}
			f.Cites = append(f.Cites, precedent.Cite{
				Kind: "guide", ID: r.ID, Text: r.Text, URL: fmt.Sprintf("%s#L%d", r.Source, r.Line),
			})
		}
		for i := range learnings {
			l := &learnings[i]
			if memory.Concerns(&l.Learning, f) && (f.Rule == l.ID || strings.Contains(said, "["+l.ID+"]")) {
				f.Cites = append(f.Cites, l.Cite())
			}
		}
		f.Rule = ""
		if n := len(f.Cites) - before; n > 0 {
			f.Rule = f.Cites[before].ID
			c := f.Cites[before]
			f.Decide(precedent.Decision{
				Step: "cite", Text: fmt.Sprintf("names %d rules or learnings, the first: %s", n, cmp.Or(c.URL, c.ID)),
				Delta: guideDelta, By: c.ID,
			})
		}
	}
}

// citeInsights adds the insight that a finding names in place of a rule. It changes no
// confidence: that a kind of mistake was made before proves nothing about this one. It returns
// the insights that were named.
func citeInsights(fs []precedent.Finding, insights []precedent.Insight) []precedent.Cite {
	var used []precedent.Cite
	for i := range fs {
		f := &fs[i]
		if !f.Live() || f.Analyzer || f.Kept || f.Rule == "" {
			continue
		}
		at := slices.IndexFunc(insights, func(s precedent.Insight) bool { return s.ID == strings.Trim(f.Rule, "[] ") })
		if at < 0 {
			continue
		}
		c := precedent.Cite{Kind: "insight", ID: insights[at].ID, Text: insights[at].Text}
		f.Rule = ""
		f.Cites = append(f.Cites, c)
		f.Decide(precedent.Decision{Step: "cite", Text: "names a pattern of earlier findings: " + c.Text, By: c.ID})
		if !slices.Contains(used, c) {
			used = append(used, c)
		}
	}
	return used
}

func namesRule(f *precedent.Finding, said string, r precedent.Rule) bool {
	if r.ID != "" && (f.Rule == r.ID || strings.Contains(said, "["+r.ID+"]")) {
		return true
	}
	rule := text.Collapse(r.Text)
	return len(rule) >= minRuleQuote && strings.Contains(said, rule)
}
