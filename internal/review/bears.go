package review

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

const (
	// besideLines is how many lines a quote may be from the flagged ones to bear on them, and
	// guardLines how many a guard may be from what it guards: a use of the symbol.
	besideLines = 3
	guardLines  = 12
	// leastName is the minimum length of a name that ties a quote to a claim, in bytes:
	// shorter ones are in all code.
	leastName = 3
	// maxOutwards bounds the lines between a flagged line and the start of its function.
	maxOutwards = 2_000
)

// isSevere tells whether a finding of a severity ends only by a proof that code checks.
func isSevere(s precedent.Severity) bool { return s.AtLeast(precedent.High) }

// bears tells whether evidence, which must be in its file, is about the finding's own
// code: its flagged lines, lines beside them that name anything, lines of the same file
// that name what the flagged ones name, lines anywhere that name the finding's symbol or
// the function around the flagged lines, or lines near such a one that name what the
// flagged ones name. Names in comments and strings do not count.
func (s *sources) bears(f *precedent.Finding, e precedent.Evidence) bool {
	at, side := s.file(sideOf(e), e.Path), sideOf(e)
	last := e.Line + max(len(quoteTexts(e.Quote)), 1) - 1
	names := namesIn(e.Path, at.between(e.Line, last))
	flagged := []precedent.Span{f.Span}
	if f.Breaks.Path != "" {
		flagged = append(flagged, precedent.Span{Path: f.Breaks.Path, Side: precedent.Right, Start: f.Breaks.Line, End: f.Breaks.Line})
	}
	symbols, words := namesIn(f.Path, []string{f.Symbol}), namesIn(f.Path, strings.Split(f.Quote, "\n"))
	for _, span := range flagged {
		beside := besideLines
		if len(names) == 0 {
			beside = 0 // the flagged lines themselves
		}
		if span.Path == e.Path && span.Side == side && span.Start > 0 && e.Line <= span.End+beside && last >= span.Start-beside {
			return true
		}
		source := s.file(span.Side, span.Path)
		symbols = append(symbols, source.enclosing(span.Path, span.Start)...)
		words = append(words, namesIn(span.Path, source.between(span.Start, span.End))...)
	}
	if shares(names, symbols) {
		return true
	}
	near := e.Path == f.Path || e.Path == f.Breaks.Path || shares(namesIn(e.Path, at.between(e.Line-guardLines, last+guardLines)), symbols)
	return near && shares(names, words)
}

// shares tells whether two lists share a name that is not too short.
func shares(a, b []string) bool {
	return slices.ContainsFunc(a, func(n string) bool { return len(n) >= leastName && slices.Contains(b, n) })
}

func sideOf(e precedent.Evidence) precedent.Side {
	if e.Side == precedent.Left {
		return precedent.Left
	}
	return precedent.Right
}

// namesIn returns the names in the code of lines, each read alone.
func namesIn(path string, lines []string) []string {
	var names []string
	for _, l := range lines {
		names = append(names, text.Names(text.CodeLines(path, []string{l})[0])...)
	}
	return names
}

// enclosing returns the name of the function that a line is in: of the nearest line
// before it that is indented less and does not merely control what runs.
func (f *source) enclosing(path string, number int) []string {
	i, ok := slices.BinarySearch(f.numbers, number)
	if !ok {
		return nil
	}
	indent := f.indents[i]
	for j := i - 1; j >= max(0, i-maxOutwards) && indent > 0; j-- {
		if f.lines[j] == "" || f.indents[j] >= indent {
			continue
		}
		indent = f.indents[j]
		first, _, _ := strings.Cut(strings.TrimLeft(f.lines[j], "})] "), " ")
		if controls[strings.TrimRight(first, "({:")] {
			continue
		}
		head, _, _ := strings.Cut(f.lines[j], "=")
		if names := text.Names(text.CodeLines(path, []string{head})[0]); len(names) > 0 {
			return []string{calledIn(head, names)}
		}
	}
	return nil
}

// beforeBracket matches a name that a bracket follows.
var beforeBracket = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\pL_][\pL\pN_]*\(`) })

// calledIn returns the first of the names that a bracket follows, else the first.
func calledIn(head string, names []string) string {
	for _, called := range beforeBracket().FindAllString(head, -1) {
		if n := strings.TrimSuffix(called, "("); slices.Contains(names, n) {
			return n
		}
	}
	return names[0]
}

// controls begin lines that are indented less than what they control.
var controls = map[string]bool{
	"": true, "if": true, "else": true, "elif": true, "for": true, "while": true, "switch": true, "case": true, "default": true, "do": true,
	"try": true, "catch": true, "except": true, "finally": true, "with": true, "select": true, "match": true, "loop": true, "unless": true,
	"synchronized": true, "using": true, "lock": true, "begin": true, "rescue": true, "ensure": true, "when": true, "go": true, "defer": true,
}
