package report

import (
	"cmp"
	"io"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Format is a way to print a review.
type Format struct {
	Name  string
	For   string // its readers
	Write func(w io.Writer, r *precedent.Review, s Style) error
}

// Formats lists all formats, the default first. Each of them shows that a review is
// incomplete.
var Formats = []Format{
	{"text", "people at a terminal", Text},
	{"json", "programs: the stable contract of docs/result.schema.json", func(w io.Writer, r *precedent.Review,
		_ Style,
	) error {
		return JSON(w, r)
	}},
	{"markdown", "people on a pull request", Markdown},
	{"sarif", "code scanning: SARIF 2.1.0", SARIF},
	{"agent", "coding agents: few tokens, one line a finding", Agent},
	{"github", "the log of a GitHub workflow, as annotations", Annotations},
}

// FormatNamed finds a format.
func FormatNamed(name string) (Format, bool) {
	for _, f := range Formats {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// FormatNames lists the names for a message: "text, json or github".
func FormatNames() string {
	var names []string
	for _, f := range Formats {
		names = append(names, f.Name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// maxTitle limits a title, in bytes: a finding's has at most 90 characters.
const maxTitle = 400

// homepage is where people learn about the tool that a report names.
const homepage = "https://github.com/precedent-dev/precedent"

// level is how bad a finding is in the three steps that other tools know, as SARIF names them.
type level string

const (
	levelNote    level = "note"
	levelWarning level = "warning"
	levelError   level = "error"
)

func levelOf(s precedent.Severity) level {
	switch s {
	case precedent.Critical, precedent.High:
		return levelError
	case precedent.Low, precedent.Nit:
		return levelNote
	}
	return levelWarning
}

// ruleOf names the rule of a finding: the finder, and the analyzer's rule or else the
// category.
func ruleOf(f precedent.Finding) string {
	rule := cmp.Or(f.Rule, string(f.Category))
	return visible(text.Head(strings.Trim(f.Finder+"/"+rule, "/"), maxTitle))
}

// message is a finding as plain text: its title, then its body. Line ends stay.
func message(f precedent.Finding) string {
	title, why := visible(text.Head(f.Title, maxTitle)), strings.TrimSpace(visibleText(text.Head(f.Body, maxBody)))
	switch {
	case why == "":
		return title
	case title == "":
		return why
	}
	return title + "\n\n" + why
}

// incomplete says in one line that the review is incomplete, and why; empty if it is complete.
func incomplete(r *precedent.Review) string {
	if complete(r) {
		return ""
	}
	const reasons = 10
	return visible(text.Head("This review is incomplete ("+string(r.Verdict)+"), code that it does not mention may not "+
		"have been read: "+strings.Join(gaps(r, reasons), "; "), maxBody))
}

// analyzersOnly says that no model read the change; empty if one did.
func analyzersOnly(r *precedent.Review) string {
	if r.Scope == precedent.AnalyzersScope {
		return "No model read this change: only the analyzers did."
	}
	return ""
}
