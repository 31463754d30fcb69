// Package lint has the analyzers that work without a model; All lists them.
//
// An analyzer reads the change and returns findings and a status. It reports only
// what the change causes, never what was there before. Comments in the code turn off rules
// of go vet and of linters, as they do for the team, and no other analyzer. The lines are
// untrusted, so the work is limited; an analyzer that stops early says so in its status.
package lint

import (
	"context"
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/text"
)

// Input is what analyzers read.
type Input struct {
	Change *diff.Change // after Classify
	// Tree returns a folder with a read-only export of the head, without .git and
	// without links. It is created on first use. Nil if nothing was exported.
	Tree func(ctx context.Context) (dir string, err error)
	// Read reads a file of the head. It returns fs.ErrNotExist if there is none.
	Read func(path string) ([]byte, error)
	// IsPolicyPath reports whether a file configures reviews.
	IsPolicyPath func(path string) bool
	// Secrets returns what ScanSecrets returns for Change.
	Secrets func() *Secrets
	// OwnPolicy tells that the review uses the policy file of the work tree.
	OwnPolicy bool
	Go        GoEnv
	Trusted   Trusted
	External  External
}

// headHunks returns the head's version of a file as one hunk, with what the change adds: an entry or a script can begin
// far above its changed lines. If the file cannot be read, it returns the hunks.
func (in *Input) headHunks(f *diff.File) []diff.Hunk {
	data, err := in.Read(f.Path)
	if err != nil || len(data) > maxSource {
		return f.Hunks
	}
	lines := linesOf(data, diff.Context)
	for l := range f.AddedLines() {
		if l.New <= len(lines) {
			lines[l.New-1] = l
		}
	}
	return []diff.Hunk{{Lines: lines}}
}

// linesOf returns the lines of a file as those of a hunk.
func linesOf(data []byte, op diff.Op) (lines []diff.Line) {
	for line := range strings.Lines(string(data)) {
		lines = append(lines, diff.Line{Op: op, New: len(lines) + 1, Text: strings.TrimRight(line, "\r\n")})
	}
	return lines
}

// Trusted is the commit that configuration and required modules are taken from, which the
// author of the change did not choose. It need not be the one that the change is compared
// with.
type Trusted struct {
	// Read reads a file there. It returns fs.ErrNotExist if there is none.
	Read func(path string) ([]byte, error)
	// Has reports whether there is a file or a folder at a path.
	Has func(path string) (bool, error)
	// Differing lists the paths that are not the same there and in the head.
	Differing func(ctx context.Context) ([]string, error)
	// OwnModules lets the change choose modules of the cache, as far as its go.sum has their hashes: it is a local
	// change, and what checks tell about it goes to the person who has the cache.
	OwnModules bool
}

// GoEnv says where Go is. Analyzers do not read the environment.
type GoEnv struct {
	Path     string // value of PATH, which has the go command
	Home     string // value of HOME; may be empty
	ModCache string // value of GOMODCACHE; empty for Go's default below Home
	// Tool is a program that calls VetMain first if VetEnv is 1 in its environment:
	// usually os.Executable of the running program.
	Tool string
}

// Result is what an analyzer found, and how it ended.
type Result struct {
	Findings []precedent.Finding
	// Status is ok or empty if everything was read; skipped if there was nothing to
	// read or nothing could be loaded; off if it is not configured; truncated,
	// timeout or error if it stopped early, with the findings so far.
	Status precedent.Status
	// Error is the reason for the status, and lists what was not read. Empty if there
	// is nothing to report.
	Error string
	// Files are the files that the analyzer had to read, with whether it did. Nil
	// means all files of the change, which were read if the status is ok or empty.
	Files map[string]bool
	// NotChecked lists what could not be loaded, sorted by reason, kind and path.
	NotChecked []precedent.NotChecked
}

// Analyzer is one analyzer.
type Analyzer struct {
	Name string // the name in policies and findings
	Doc  string // what it finds, in one sentence
	Run  func(ctx context.Context, in *Input) Result
}

// All returns the analyzers, in the order in which findings are listed.
func All() []Analyzer {
	return []Analyzer{
		{"secrets", "Committed credentials and private keys.", secrets},
		{"unicode", "Hidden and look-alike characters that make code look different from what it does.", hiddenUnicode},
		{"conflict-markers", "Committed merge conflicts, except in documents and tests.", conflicts},
		{"leftovers", "Focused tests, breakpoints and stray files that were committed by mistake.", leftovers},
		{"workflows", "Untrusted text in the scripts of GitHub, Gitea and Forgejo Actions.", workflows},
		{"translations", "Placeholders in translations that the source text does not have, or has for another type.", translations},
		{"policy-edit", "Changes to files that configure reviews.", policyEdit},
		{"govet", "Findings of go vet and of `sqlrowserr` in the changed Go packages.", govet},
		{LintersName, "Findings of the configured linters, which run in the sandbox.", linters},
	}
}

// Confidence of findings, in percent: how often the rule is right.
const (
	lineConfidence = 95 // the line holds it or does not
	linterSure     = 80
)

// newFinding returns a finding about one line of a file.
func newFinding(f *diff.File, side precedent.Side, l diff.Line) precedent.Finding {
	n := l.On(side)
	return precedent.Finding{
		Analyzer: true, Confidence: lineConfidence, Votes: 1, Verifier: precedent.Unchecked,
		Span:     precedent.Span{Path: f.Path, Side: side, Start: n, End: n},
		Quote:    l.Text,
		Evidence: []precedent.Evidence{{Path: f.Path, Line: n, Quote: l.Text}},
	}
}

// newFileFinding returns a finding about the first line that the change adds to a file, or about the file as a whole.
func newFileFinding(f *diff.File) precedent.Finding {
	if l, ok := firstLine(f, diff.Add); ok {
		return newFinding(f, precedent.Right, l)
	}
	return precedent.Finding{
		Analyzer: true, Confidence: lineConfidence, Votes: 1, Verifier: precedent.Unchecked,
		Span: precedent.Span{Path: f.Path, Side: precedent.Right},
	}
}

// listed joins the first names of a list, and says how many more there are.
func listed(names []string) string {
	list := strings.Join(names[:min(len(names), maxPlaces)], ", ")
	if n := len(names) - maxPlaces; n > 0 {
		list += fmt.Sprintf(" and %d more", n)
	}
	return list
}

// sentence turns a phrase into a sentence, with a capital letter and a full stop.
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
		return s // a name, such as fmt.Printf, keeps its case
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// maxTitle is the length of a finding's title, in characters.
const maxTitle = 90

// title cuts text to the length of a title.
func title(s string) string { return text.CutTitle(s, maxTitle) }
