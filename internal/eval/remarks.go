package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/store"
)

// dismissals are the negative marks of a case as memory would store them if a review had made these remarks
// and people had dismissed them. They go through a review, so that their place and fingerprint are made as
// for findings. Marks that are not in the diff are ignored: no review could have made them.
func dismissals(ctx context.Context, s *scored) ([]precedent.Dismissal, error) {
	remarks := scriptedEngine{findings: s.remarks()}
	if len(remarks.findings) == 0 {
		return nil, nil
	}
	v := Reviewer{Engine: &remarks, Now: func() time.Time { return rejectedAt }, NewID: func() string { return s.Name }}
	r, err := review.Run(ctx, v.input(s.Case))
	if err != nil {
		return nil, err
	}
	var made []precedent.Dismissal
	for _, f := range r.Findings {
		i, err := strconv.Atoi(f.Body)
		if err != nil || f.Analyzer || f.Place == "" {
			continue
		}
		made = append(made, precedent.Dismissal{
			ID: fmt.Sprintf("%s/%d", s.Name, i), Finding: f.ID,
			Fingerprint: f.Fingerprint, Place: f.Place, Claim: f.Title, Path: f.Path, Symbol: f.Symbol,
			Category: f.Category, Severity: f.Severity, Reason: s.Negative[i].Reason, Who: "experts", At: rejectedAt,
			ExpiresAt: rejectedAt.Add(store.DismissalLife),
		})
	}
	return made, nil
}

// remark is a mark in the form of a finder's answer.
type remark struct {
	Path       string             `json:"path"`
	Side       precedent.Side     `json:"side"`
	Start      int                `json:"start"`
	End        int                `json:"end"`
	Quote      string             `json:"quote"`
	Symbol     string             `json:"symbol"`
	Category   precedent.Category `json:"category"`
	Severity   precedent.Severity `json:"severity"`
	Confidence int                `json:"confidence"`
	Title      string             `json:"title"`
	Body       string             `json:"body"` // the mark's index: dismissals keep no body
}

// remarks are the negative marks that are in the diff. Missing values are filled in: the symbol from a
// candidate in the same place, the severity as medium, the category from its class.
func (s *scored) remarks() []remark {
	symbol := map[int]string{}
	for k, mark := range s.byLocation(BenchmarkDistance).negative {
		if mark >= 0 {
			symbol[mark] = s.cs.Findings[s.counts[k]].Symbol
		}
	}
	var made []remark
	for i := range s.Negative {
		m := &s.Negative[i]
		span := m.span()
		lines := firstLines(s.Change, span)
		if len(lines) == 0 {
			continue
		}
		r := remark{
			Path: span.Path, Side: span.Side, Start: span.Start, End: span.End, Quote: lines[0],
			Symbol: m.Symbol, Category: categoryOf(m.Category), Severity: m.Severity, Confidence: 100,
			Title: claim(m.Note), Body: strconv.Itoa(i),
		}
		if r.Symbol == "" {
			r.Symbol = symbol[i]
		}
		if r.Severity == "" {
			r.Severity = precedent.Medium
		}
		made = append(made, r)
	}
	return made
}

// categoryOf is the category in which a finder would report a mark.
func categoryOf(category string) precedent.Category {
	if c := precedent.Category(strings.ToLower(category)); slices.Contains(precedent.Categories, c) {
		return c
	}
	switch classOf(category) {
	case security:
		return precedent.Security
	case performance:
		return precedent.Performance
	case maintainability:
		return precedent.Architecture
	}
	return precedent.Bugs
}

// minClaim is how many words a sentence of a note needs to count as a claim.
const minClaim = 4

// claim returns what a finding would have as title: the first sentence of a note that is long enough, outside of
// fenced code, or else all that is outside of it. People often begin with "nit:" or with a block of suggested code.
func claim(note string) string {
	var own []string
	fenced := false
	for line := range strings.Lines(strings.ReplaceAll(note, "**", "")) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		} else if !fenced {
			own = append(own, strings.TrimSpace(line))
		}
	}
	for _, line := range own {
		for sentence := range strings.SplitSeq(line, ". ") {
			if len(strings.Fields(sentence)) >= minClaim {
				return sentence
			}
		}
	}
	return strings.TrimSpace(cmp.Or(strings.Join(own, "\n"), note))
}

// scriptedEngine is an engine that returns the given remarks once, on its first request.
type scriptedEngine struct {
	findings []remark
	said     sync.Once
}

func (*scriptedEngine) Info() engine.Info { return engine.Info{Name: "recital", Who: "the data set"} }

func (r *scriptedEngine) Run(_ context.Context, t engine.Task) (engine.Answer, error) {
	if t.FirstByte != nil {
		t.FirstByte()
	}
	answer := map[string]any{"findings": []remark{}, "verdicts": []string{}, "pairs": []string{}}
	if t.Role == engine.Finder {
		r.said.Do(func() { answer["findings"] = r.findings })
	}
	raw, err := json.Marshal(answer)
	return engine.Answer{Status: precedent.StatusOK, JSON: raw}, err
}
