package eval

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/review"
)

// mostFindings limits the comments of a data set that nothing covers.
const mostFindings = 400

// commentMemories makes each pair a case with one dismissal. The findings that
// nothing covers are comments that are in no pair: comments of other pull requests
// are assumed not to cover them, though occasionally one may.
func commentMemories(dir string, links []link, seed uint64) (Memories, error) {
	comments, err := readComments(dir)
	if err != nil {
		return Memories{}, err
	}
	m := Memories{Form: commentsForm}
	linked := map[int64]bool{}
	for _, l := range links {
		linked[l.Q], linked[l.D] = true, true
	}
	from := map[string][]drawable{}
	var free []*comment
	for _, c := range inOrder(comments) {
		if c.ReplyTo != 0 || linked[c.ID] || len(strings.Fields(claim(unquoted(c.Body)))) < minClaim {
			continue
		}
		from[c.repo] = append(from[c.repo], drawable{c.dismissal(), c.change()})
		free = append(free, c)
	}
	for _, l := range links {
		if q, d := comments[l.Q], comments[l.D]; q != nil && d != nil {
			m.cases = append(m.cases, remembered{
				change: q.change(), now: rejectedAt.Add(time.Hour),
				threshold: review.DefaultThreshold, dismissals: []precedent.Dismissal{d.dismissal()},
				findings: []precedent.Finding{q.titled()}, covered: []bool{*l.Y == 1}, from: from[q.repo],
			})
		}
	}
	rng := rand.New(rand.NewPCG(seed, seed))
	rng.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	at := map[string]int{}
	for _, c := range free[:min(len(free), mostFindings)] {
		i, ok := at[c.change()]
		if !ok {
			i = len(m.pools)
			at[c.change()] = i
			m.pools = append(m.pools, pool{change: c.change(), now: rejectedAt.Add(time.Hour), threshold: review.DefaultThreshold, from: from[c.repo]})
		}
		m.pools[i].findings = append(m.pools[i].findings, c.titled())
	}
	return m, nil
}

// titled returns the comment as memory compares it, with its own claim as title.
func (c *comment) titled() precedent.Finding {
	f := c.finding()
	f.Title, f.Symbol, f.Category = claim(unquoted(c.Body)), anySymbol, precedent.Style
	return withOwnIdentity(f, f.ID)
}

func (c *comment) dismissal() precedent.Dismissal {
	return dismiss(c.titled(), fmt.Sprint(c.ID), widest)
}

// changeMemories uses the remarks that experts accepted as findings, and all remarks
// about other changes of the repository as dismissals.
func changeMemories(dir string) (Memories, error) {
	cases, err := Read(dir)
	if err != nil {
		return Memories{}, err
	}
	m := Memories{Form: changesForm}
	from := map[precedent.Repo][]drawable{}
	finding := func(mark *Mark, id string) precedent.Finding {
		f := goldFinding(mark)
		f.Title, f.Symbol, f.Severity = claim(mark.Note), cmp.Or(mark.Symbol, anySymbol), mark.Severity
		return withOwnIdentity(f, id)
	}
	for i := range cases {
		c := &cases[i]
		for list, marks := range [][]Mark{c.Gold, c.Negative} {
			for k := range marks {
				id := fmt.Sprintf("%s/%d/%d", c.Name, list, k)
				from[c.Repo] = append(from[c.Repo], drawable{dismiss(finding(&marks[k], id), id, widest), c.Name})
			}
		}
	}
	for i := range cases {
		c := &cases[i]
		p := pool{change: c.Name, now: rejectedAt.Add(time.Hour), threshold: review.DefaultThreshold, from: from[c.Repo]}
		for k := range c.Gold {
			p.findings = append(p.findings, finding(&c.Gold[k], fmt.Sprintf("%s/0/%d", c.Name, k)))
		}
		m.pools = append(m.pools, p)
	}
	return m, nil
}

// withOwnIdentity gives a finding a unique identity: its position is not known to
// memory, so only its claim counts.
func withOwnIdentity(f precedent.Finding, id string) precedent.Finding {
	f.Quote = ""
	return withIdentity(f, id)
}
