package memory

import (
	"context"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/store"
)

// maxAcceptances bounds the accepted findings that weaken dismissals, the newest ones.
const maxAcceptances = 5_000

// dismissals returns the dismissals that hold, newest first, with the number of similar
// findings that people accepted since. Text alone decides what is similar, as without a judge.
func (m *Memory) dismissals(ctx context.Context, rows *store.Repo) ([]precedent.Dismissal, error) {
	all, err := rows.Dismissals(ctx, m.Now(), maxDismissals)
	if err != nil || len(all) == 0 {
		return all, err
	}
	oldest := all[len(all)-1].At
	accepted, err := rows.AcceptedSince(ctx, oldest, maxAcceptances)
	if err != nil {
		return all, err
	}
	weaken(all, accepted)
	return all, nil
}

// weaken counts for each dismissal the accepted findings that it covers as a pattern.
func weaken(dismissals []precedent.Dismissal, accepted []store.Known) {
	byPlace, bySymbol := map[string][]*pattern{}, map[string][]*pattern{}
	counted := map[*pattern]*precedent.Dismissal{}
	for i := range dismissals {
		j := &dismissals[i]
		if j.Rule != "" {
			continue
		}
		p := newPattern(*j)
		counted[p] = j
		if j.Place != "" {
			byPlace[j.Place] = append(byPlace[j.Place], p)
		}
		if j.Symbol != "" {
			bySymbol[j.Symbol] = append(bySymbol[j.Symbol], p)
		}
	}
	for i := range accepted {
		f := &accepted[i]
		var claim *match.Claim
		seen := map[*pattern]bool{}
		for _, list := range [][]*pattern{byPlace[f.Place], bySymbol[f.Symbol]} {
			for _, p := range list {
				if seen[p] || !f.Last.After(p.At) {
					continue
				}
				seen[p] = true
				if match.Covers(&p.Dismissal, &f.Finding, p.appliesTo(&f.Finding), func() float64 {
					if claim == nil {
						c := match.NewClaim(f.Title)
						claim = &c
					}
					return claim.Similarity(p.claim)
				}) {
					counted[p].Accepted++
				}
			}
		}
	}
}
