package memory

import (
	"context"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// maxAcceptances bounds the accepted findings that weaken dismissals, the newest ones.
const maxAcceptances = 5_000

// Dismissals returns the dismissals that hold, newest first, with the number of similar
// findings that people accepted since. Text alone decides what is similar, as without a judge.
func (m *Memory) Dismissals(ctx context.Context) ([]precedent.Dismissal, error) {
	all, err := m.Rows.Dismissals(ctx, m.Now(), maxDismissals)
	if err != nil || len(all) == 0 {
		return all, err
	}
	oldest := all[len(all)-1].At
	accepted, err := m.Rows.AcceptedSince(ctx, oldest, maxAcceptances)
	if err != nil {
		return all, err
	}
	weaken(all, accepted)
	return all, nil
}

// weaken counts for each dismissal the accepted findings that it covers as a pattern.
func weaken(dismissals []precedent.Dismissal, accepted []store.Known) {
	of := NewDismissals(dismissals, time.Time{})
	counts := map[string]int{} // by id
	for i := range accepted {
		f := &accepted[i]
		for _, p := range of.matching(&f.Finding) {
			if p.Rule == "" && f.Last.After(p.At) {
				counts[p.ID]++
			}
		}
	}
	for i := range dismissals {
		dismissals[i].Accepted += counts[dismissals[i].ID]
	}
}
