// Package lint finds what can be computed without a model: committed secrets,
// hidden Unicode, conflict markers, edits of what steers reviews, what go vet
// and staticcheck know about Go, and what other linters say in a sandbox.
//
// An analyzer reads the change and says what it found and how its work ended.
// It speaks about lines that the change adds, never about old ones, and it
// takes no excuse from the change: no remark in the code silences it. The lines
// are hostile, so the work is bounded; an analyzer that stops early says so in
// its status.
package lint

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/text"
)

// Input is what analyzers read.
type Input struct {
	Change *diff.Change // classified
	// Tree returns a folder with a read-only export of the head, without .git
	// and links, made on first use. Nil means that there is none.
	Tree func(ctx context.Context) (dir string, err error)
	// IsPolicyPath tells which files steer reviews.
	IsPolicyPath func(path string) bool
	// Enabled tells which analyzers will be asked; nil means all. Those that
	// share work leave out what nobody asks for.
	Enabled func(name string) bool
	Go      GoEnv
	// Base reads a file of the base; fs.ErrNotExist if there is none.
	Base     func(path string) ([]byte, error)
	External External
}

// GoEnv says where Go is. Analyzers read no environment: this is all that a Go
// command they start gets to know of it.
type GoEnv struct {
	Path     string // value of PATH, in which the go command is looked for
	Home     string // value of HOME; may be empty
	Cache    string // value of GOCACHE; empty for Go's default below Home
	ModCache string // value of GOMODCACHE; empty for Go's default below Home
	// Tool is a program that calls VetMain at once when its environment has
	// VetEnv set to 1: os.Executable of the main that is running.
	Tool string
	// Timeout bounds the Go analyzers together; 0 means 2 minutes.
	Timeout time.Duration
}

// Result is what an analyzer found.
type Result struct {
	Findings []precedent.Finding
	// Status is ok or empty when everything was read; skipped when there was
	// nothing to read or none of it could be loaded; off when nobody set up what
	// it needs; truncated, timeout or error when the work stopped early, with what was found until then.
	Status precedent.Status
	// Error says why the status is what it is, and what was not read although
	// the rest was; empty when there is nothing to say.
	Error string
}

// Analyzer is one analyzer.
type Analyzer struct {
	Name string // as policies and findings name it
	Doc  string // what it finds, in one sentence
	Run  func(ctx context.Context, in *Input) Result
}

// All returns the analyzers for one review, in the order in which their
// findings are listed. Those of Go share their work, so that the analyzers of
// another review are to be had by another call.
func All() []Analyzer {
	pass := new(goPass)
	return []Analyzer{
		{"secrets", "Credentials and private keys that the change commits.", secrets},
		{"unicode", "Characters that make code read differently from what it does.", hidden},
		{"conflict-markers", "Merge conflicts that were committed unresolved.", conflicts},
		{"policy-edit", "Edits of files that steer how changes are reviewed.", policyEdit},
		{"govet", "What go vet's analyzers find in the changed Go packages.", pass.of(vetSuite)},
		{"staticcheck", "What staticcheck's analyzers for correctness find in the changed Go packages.", pass.of(staticSuite)},
		{"linters", "What the linters find that operator and policy name, run in the sandbox.", linters},
	}
}

// Confidence of findings, in percent: how often the rules are right.
const (
	secretConfidence = 95 // the line holds it or does not
	vetSure          = 90

	staticSure = 85
	linterSure = 80
)

// maxFindings bounds what one analyzer reports. A change with more of one kind
// has one problem, not a thousand.
const maxFindings = 500

// at makes a finding about one line of a file.
func at(f *diff.File, side precedent.Side, l diff.Line) precedent.Finding {
	n := l.New
	if side == precedent.Left {
		n = l.Old
	}
	return precedent.Finding{
		Analyzer: true, Confidence: secretConfidence, Votes: 1, Verifier: precedent.Unchecked,
		Span:     precedent.Span{Path: f.Path, Side: side, Start: n, End: n},
		Quote:    l.Text,
		Evidence: []precedent.Evidence{{Path: f.Path, Line: n, Quote: l.Text}},
	}
}

// collect gathers an analyzer's findings up to maxFindings.
type collect struct {
	name     string
	findings []precedent.Finding
	left     int // findings that were not taken
}

func (c *collect) add(f precedent.Finding) {
	if len(c.findings) >= maxFindings {
		c.left++
		return
	}
	f.Finder = c.name
	c.findings = append(c.findings, f)
}

// result ends the analyzer's work. err says what stopped it, nil for nothing.
func (c *collect) result(ctx context.Context, err error) Result {
	r := Result{Findings: c.findings, Status: precedent.StatusOK}
	switch {
	case ctx.Err() != nil:
		r.Status, r.Error = precedent.StatusTimeout, "stopped before the end of the change"
	case err != nil:
		r.Status, r.Error = precedent.StatusTruncated, err.Error()
	case c.left > 0:
		r.Status = precedent.StatusTruncated
		r.Error = fmt.Sprintf("%d more findings of this kind are not listed", c.left)
	case len(c.findings) == 0:
		r.Status = precedent.StatusEmpty
	}
	return r
}

// sentence makes a sentence of a phrase: with a capital and a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return s
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	first, _, _ := strings.Cut(s, " ")
	if strings.ContainsFunc(first, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return s // a name, such as fmt.Printf, is written as it is
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// title cuts text to what fits a finding's title: 90 characters.
func title(s string) string { return text.Cut(s, 90) }
