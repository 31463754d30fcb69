package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Limits of what an analyzer reports. None of them means that lines were not read.
const (
	// maxApart is the number of findings of one rule in one file that are reported one by one. People compare three
	// places at a glance; from the fourth on, they need the rule and the number.
	maxApart = 3
	// maxPlaces is the number of places that the text of a flood lists, and maxEvidence that of its evidence.
	// Of secrets there is more, because redaction knows them by it.
	maxPlaces   = 10
	maxEvidence = 20
	maxSecrets  = 500
	// maxFindings is the number of findings of one analyzer. A change with more has one problem, not a thousand.
	// The worst are kept.
	maxFindings = 500
)

// collect gathers the findings of an analyzer. More than maxApart findings of a rule in a file are a flood: one
// finding at the first place, with the number of places. The place decides its id, so the id does not change with
// the number.
type collect struct {
	name  string
	kinds map[kindOfFinding]*gathered
	order []*gathered
	kept  map[precedent.Severity]int // kinds
	added int                        // findings
	left  int                        // findings beyond the limit
}

// kindOfFinding is what the findings of a flood have in common.
type kindOfFinding struct {
	path     string
	side     precedent.Side
	rule     string // or the message, of a linter that names no rule
	severity precedent.Severity
	category precedent.Category
	dropped  precedent.Dropped
	alone    int // number of a finding that is never part of a flood, from 1
}

// gathered is the findings of one kind, in order.
type gathered struct {
	all   []precedent.Finding // at most maxEvidence, or maxSecrets
	count int
}

func (c *collect) add(f precedent.Finding) { c.addAs(f, f.Rule) }

// addAs adds a finding. Findings of one kind in a file can be a flood, but not those about several lines, whose
// text is needed for redaction, or about a whole file.
func (c *collect) addAs(f precedent.Finding, kind string) {
	c.added++
	f.Finder = c.name
	k := kindOfFinding{
		path: f.Path, side: f.Side, rule: kind, severity: f.Severity, category: f.Category, dropped: f.Dropped,
	}
	if f.Start == 0 || f.End > f.Start {
		k.alone = c.added
	}
	g := c.kinds[k]
	if g == nil {
		if c.kinds == nil {
			c.kinds, c.kept = map[kindOfFinding]*gathered{}, map[precedent.Severity]int{}
		}
		if c.kept[f.Severity] == maxFindings {
			c.left++
			return
		}
		c.kept[f.Severity]++
		g = &gathered{}
		c.kinds[k] = g
		c.order = append(c.order, g)
	}
	most := maxEvidence
	if f.Category == precedent.Secrets {
		most = maxSecrets
	}
	if g.count++; g.count <= most {
		g.all = append(g.all, f)
	}
}

// findings returns what to report of one kind.
func (g *gathered) findings() []precedent.Finding {
	if g.count <= maxApart {
		return g.all
	}
	f := g.all[0]
	f.Evidence, f.Secrets = nil, nil
	for _, one := range g.all {
		f.Secrets = append(f.Secrets, one.Secrets...)
		f.Evidence = append(f.Evidence, one.Evidence...)
	}
	suffix := fmt.Sprintf(" (%d places in this file)", g.count)
	f.Title = text.Cut(f.Title, maxTitle-len(suffix)) + suffix
	f.Body += "\n\n" + g.list()
	return []precedent.Finding{f}
}

// list says how many places there are, and lists the first of them, with their titles if they differ.
func (g *gathered) list() string {
	first := g.all[:min(len(g.all), maxPlaces)]
	differ := slices.ContainsFunc(first, func(f precedent.Finding) bool { return f.Title != first[0].Title })
	said := fmt.Sprintf("The same rule found %d places in this file", g.count)
	if g.count > len(first) {
		said += fmt.Sprintf(", of which these are the first %d", len(first))
	}
	var places []string
	for _, f := range first {
		where := text.VisibleLine(f.String())
		if differ {
			where = "\n- " + where + ": " + f.Title
		}
		places = append(places, where)
	}
	if differ {
		return said + ":" + strings.Join(places, "")
	}
	return said + ": " + strings.Join(places, ", ") + "."
}

// list returns the findings, those of a kind together: the worst if there are too many.
func (c *collect) list() (all []precedent.Finding) {
	for _, g := range c.order {
		all = append(all, g.findings()...)
	}
	if len(all) > maxFindings {
		slices.SortStableFunc(all, func(a, b precedent.Finding) int { return cmp.Compare(a.Severity.Rank(), b.Severity.Rank()) })
		c.left += len(all) - maxFindings
		all = all[:maxFindings]
	}
	return all
}

// result returns the analyzer's result. err is what stopped it, or nil.
func (c *collect) result(ctx context.Context, err error) Result {
	r := Result{Findings: c.list(), Status: precedent.StatusOK}
	switch {
	case ctx.Err() != nil:
		r.Status, r.Error = precedent.StatusTimeout, "stopped before the end of the change"
	case err != nil:
		r.Status, r.Error = precedent.StatusTruncated, err.Error()
	case c.left > 0:
		r.Error = fmt.Sprintf("everything was read; %d more findings are not listed", c.left)
	case len(r.Findings) == 0:
		r.Status = precedent.StatusEmpty
	}
	return r
}

// resultOf is result for an analyzer that runs programs for as long as the context lets it, with notes for Error.
func (c *collect) resultOf(ctx context.Context, tooLong string) (r Result, notes []string) {
	r = c.result(context.WithoutCancel(ctx), nil)
	if r.Error != "" {
		notes = append(notes, r.Error)
	}
	if ctx.Err() != nil {
		r.Status = precedent.StatusTimeout
		if errors.Is(ctx.Err(), context.Canceled) {
			tooLong = "stopped before the end of the change"
		}
		notes = append(notes, tooLong)
	}
	return r, notes
}
