package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/store"
)

// What a learning that lowers findings is tried on before it is active.
const (
	replayed    = 90 * 24 * time.Hour // as long as findings are kept
	maxReplayed = 10_000
	maxNamed    = 3 // findings that a refusal names; all are returned
)

// wouldHide returns the findings of the past 90 days that the learning may speak of, and that
// are of high or critical severity or that people accepted. A severe one that people dismissed
// and did not accept does not count.
func (m *Memory) wouldHide(ctx context.Context, rows *store.Repo, l precedent.Learning) ([]precedent.Finding, error) {
	judged, err := rows.Judged(ctx, m.Now().Add(-replayed), maxReplayed)
	if err != nil {
		return nil, err
	}
	d := newDirective(l)
	var hidden []precedent.Finding
	for i := range judged {
		j := &judged[i]
		if (!j.Declined || j.Accepted) && d.reaches(&j.Finding) && d.couldHide(&j.Finding, match.NewClaim(j.Title)) {
			hidden = append(hidden, j.Finding)
		}
	}
	return hidden, nil
}

// namesOf names some findings for a person.
func namesOf(findings []precedent.Finding) string {
	var names []string
	for _, f := range findings[:min(len(findings), maxNamed)] {
		names = append(names, fmt.Sprintf("%s (%s, %s: %s)", f.ID, f.Severity, pathInLine(f.Path), wordsInLine(f.Title)))
	}
	if n := len(findings) - maxNamed; n > 0 {
		names = append(names, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(slices.Clip(names), "; ")
}
