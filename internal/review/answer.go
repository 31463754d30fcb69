package review

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/text"
)

// Limits of a model's finding. The schema allows more, because a finding is not
// rejected for its length.
const (
	maxTitle      = 90    // characters
	maxBody       = 4_000 // characters
	maxSuggestion = 4_000 // characters
	maxSymbol     = 200   // characters
	maxEvidence   = 10
	maxPositive   = 300 // characters
)

// finderAnswer is the wire form of an answer to the role "finder", which the engine
// has validated. Absent and null fields are zero.
type finderAnswer struct {
	Findings []struct {
		Path       string               `json:"path"`
		Side       string               `json:"side"`
		Start      int                  `json:"start"`
		End        int                  `json:"end"`
		Quote      string               `json:"quote"`
		Symbol     string               `json:"symbol"`
		Category   precedent.Category   `json:"category"`
		Severity   precedent.Severity   `json:"severity"`
		Confidence int                  `json:"confidence"`
		Title      string               `json:"title"`
		Body       string               `json:"body"`
		Suggestion string               `json:"suggestion"`
		Evidence   []precedent.Evidence `json:"evidence"`
		Rule       string               `json:"rule"`
		CausedBy   *cause               `json:"caused_by"`
	} `json:"findings"`
	Positive string `json:"positive"`
}

// cause is the changed line that causes a defect on a line outside of the change.
type cause struct {
	Path  string `json:"path"`
	Side  string `json:"side"`
	Line  int    `json:"line"`
	Quote string `json:"quote"`
}

// applyTo moves the finding to its cause. Its lines are those that break, which a
// suggestion cannot replace there.
func (c *cause) applyTo(f *precedent.Finding) {
	if c == nil || strings.TrimSpace(c.Quote) == "" {
		return
	}
	f.Breaks = precedent.Evidence{Path: f.Path, Line: f.Start, Quote: f.Quote}
	f.Quote = firstLines(c.Quote)
	f.Span = precedent.Span{Path: c.Path, Side: precedent.Right, Start: c.Line, End: c.Line + strings.Count(f.Quote, "\n")}
	if c.Side == string(precedent.Left) {
		f.Side = precedent.Left
	}
	f.Suggestion, f.Sketch = "", f.Suggestion
}

// readAnswer returns the findings of an answer, not yet placed, and its praise.
func readAnswer(raw json.RawMessage, spec prompt.Spec) (fs []precedent.Finding, positive string, err error) {
	var a finderAnswer
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, "", fmt.Errorf("read answer: %w", err)
	}
	for _, w := range a.Findings {
		f := precedent.Finding{
			Category:   w.Category,
			Severity:   w.Severity,
			Confidence: percent(w.Confidence),
			Span:       precedent.Span{Path: w.Path, Side: precedent.Right, Start: w.Start, End: w.End},
			Quote:      firstLines(w.Quote),
			Symbol:     text.Cut(oneLine(w.Symbol), maxSymbol),
			Title:      cleanTitle(w.Title),
			Body:       cleanBody(w.Body),
			Rule:       w.Rule,
			Evidence:   w.Evidence[:min(len(w.Evidence), maxEvidence)],
		}
		if w.Side == string(precedent.Left) {
			f.Side = precedent.Left
		}
		if !slices.Contains(precedent.Categories, f.Category) {
			f.Category = spec.Category
		}
		if !slices.Contains(precedent.Severities, f.Severity) {
			f.Severity = precedent.Medium
		}
		if len(w.Suggestion) <= maxSuggestion {
			f.Suggestion = w.Suggestion // a truncated replacement would be wrong
		}
		for i := range f.Evidence {
			f.Evidence[i].Quote = firstLines(f.Evidence[i].Quote)
		}
		w.CausedBy.applyTo(&f)
		fs = append(fs, f)
	}
	return fs, text.Cut(oneLine(a.Positive), maxPositive), nil
}

// cleanTitle and cleanBody return the texts of a finding as a model wrote them, within
// the limits.
func cleanTitle(s string) string { return text.CutTitle(oneLine(s), maxTitle) }
func cleanBody(s string) string  { return text.Cut(strings.TrimSpace(text.Clean(s)), maxBody) }

func oneLine(s string) string { return text.Collapse(text.Clean(s)) }

// firstLines returns the lines of a quote that are compared, unchanged.
func firstLines(quote string) string {
	var kept []string
	said := 0
	for l := range strings.Lines(quote) {
		if strings.TrimSpace(l) != "" {
			if said++; said > quoteLines {
				break
			}
		} else if said == 0 {
			continue
		}
		kept = append(kept, strings.TrimRight(l, "\r\n"))
	}
	return strings.TrimRight(strings.Join(kept, "\n"), " \t\n")
}
