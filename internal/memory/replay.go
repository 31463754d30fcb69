package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
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

// newTrial returns a function that tells what a learning could have hidden: the findings of the
// past 90 days that it may speak of, and that are of high or critical severity or that people
// accepted. A severe one that people dismissed and did not accept does not count. The findings
// are read once.
func (m *Memory) newTrial(ctx context.Context) func(precedent.Learning) ([]precedent.Finding, error) {
	read := sync.OnceValues(func() ([]store.JudgedFinding, error) {
		judged, err := m.Rows.Judged(ctx, m.Now().Add(-replayed), maxReplayed)
		return slices.DeleteFunc(judged, func(j store.JudgedFinding) bool { return j.Declined && !j.Accepted }), err
	})
	return func(l precedent.Learning) (hidden []precedent.Finding, err error) {
		judged, err := read()
		d := newDirective(l)
		for i := range judged {
			if f := &judged[i].Finding; Concerns(&l, f) && d.couldHide(f, match.NewClaim(f.Title)) {
				hidden = append(hidden, *f)
			}
		}
		return hidden, err
	}
}

// couldHide is why a learning is refused that could hide findings.
func couldHide(findings []precedent.Finding) string {
	return fmt.Sprintf("it could hide findings that are severe or that people accepted in the past %d days: %s",
		int(replayed.Hours()/24), namesOf(findings))
}

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
