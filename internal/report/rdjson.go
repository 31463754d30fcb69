package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/precedent-dev/precedent"
)

// The Reviewdog Diagnostic Format: messages of its proto/rdf, as JSON.
type (
	rdResult struct {
		Source      rdSource       `json:"source"`
		Severity    string         `json:"severity"`
		Diagnostics []rdDiagnostic `json:"diagnostics"`
	}
	rdSource struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	}
	rdDiagnostic struct {
		Message     string         `json:"message"`
		Location    *rdLocation    `json:"location,omitempty"`
		Severity    string         `json:"severity"`
		Code        *rdCode        `json:"code,omitempty"`
		Suggestions []rdSuggestion `json:"suggestions,omitempty"`
	}
	rdLocation struct {
		Path  string   `json:"path"`
		Range *rdRange `json:"range,omitempty"`
	}
	// Without columns a range holds its last line whole.
	rdRange struct {
		Start rdPosition `json:"start"`
		End   rdPosition `json:"end"`
	}
	rdPosition struct {
		Line int `json:"line"`
	}
	rdCode struct {
		Value string `json:"value"`
	}
	rdSuggestion struct {
		Range rdRange `json:"range"`
		Text  string  `json:"text"`
	}
)

var rdSeverities = map[level]string{levelError: "ERROR", levelWarning: "WARNING", levelNote: "INFO"}

// RDJSON writes the live findings for reviewdog. The format has no field for an incomplete
// review, so a diagnostic says so, on the first file that was not read: reviewdog shows no
// diagnostic without a place.
func RDJSON(w io.Writer, r *precedent.Review, s Style) error {
	out := rdResult{Source: rdSource{"precedent", homepage}, Severity: "INFO", Diagnostics: []rdDiagnostic{}}
	remark := func(severity, code, message string) {
		if message != "" {
			out.Diagnostics = append(out.Diagnostics, rdDiagnostic{Message: message, Location: reviewLocation(r, s), Severity: severity, Code: &rdCode{code}})
		}
	}
	if !complete(r) {
		out.Severity = "ERROR"
	}
	remark("ERROR", "precedent/incomplete", incomplete(r))
	remark("INFO", "precedent/analyzers-only", analyzersOnly(r))
	for _, f := range r.Live() {
		out.Diagnostics = append(out.Diagnostics, rdFinding(f, s))
	}
	return Value(w, out)
}

func rdFinding(f precedent.Finding, s Style) rdDiagnostic {
	d := rdDiagnostic{
		Message:  message(f) + s.saidBefore(f) + fmt.Sprintf("\n\n%s, confidence %d (%s)", f.Severity, f.Confidence, f.ID),
		Severity: rdSeverities[levelOf(f.Severity)],
		Code:     &rdCode{ruleOf(f)},
	}
	if f.Path == "" {
		return d
	}
	d.Location = &rdLocation{Path: f.Path}
	switch {
	case f.Side == precedent.Left:
		// Reviewdog counts lines of the new side only.
		d.Message = visible(f.String()) + " (before the change): " + d.Message
	case f.Start > 0:
		lines := rdRange{rdPosition{f.Start}, rdPosition{max(f.Start, f.End)}}
		d.Location.Range = &lines
		if f.Suggestion != "" {
			d.Suggestions = []rdSuggestion{{lines, strings.TrimRight(f.Suggestion, "\n")}}
		}
	}
	return d
}

// reviewLocation is the location of a remark on the whole review: a file that was not read,
// else one with a finding, else one of the change.
func reviewLocation(r *precedent.Review, s Style) *rdLocation {
	var paths []string
	for _, t := range r.Coverage.Truncated {
		paths = append(paths, t.Path)
	}
	for _, f := range r.Live() {
		paths = append(paths, f.Path)
	}
	if s.Change != nil {
		for _, f := range s.Change.Files {
			paths = append(paths, f.Path)
		}
	}
	for _, p := range paths {
		if p != "" {
			return &rdLocation{Path: p}
		}
	}
	return nil
}
