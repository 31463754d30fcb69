package review

import (
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/lint"
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

// isSevere reports whether a finding of a severity ends only by a proof that code checks.
func isSevere(s precedent.Severity) bool { return s.AtLeast(precedent.High) }

// bears reports whether evidence, which must be in its file, is about the finding's own
// code: its flagged lines, lines beside them that name anything, lines of the same file
// that name what the flagged ones name, lines anywhere that name the finding's symbol or
// the function around the flagged lines, or lines near such a one that name what the
// flagged ones name. Names in comments and strings do not count.
func (s *sources) bears(f *precedent.Finding, e precedent.Evidence) bool {
	at, side := s.file(sideOf(e), e.Path), sideOf(e)
	last := e.Line + max(len(quoteTexts(e.Quote)), 1) - 1
	names := namesIn(e.Path, at.between(e.Line, last))
	symbols, words := namesIn(f.Path, []string{f.Symbol}), namesIn(f.Path, strings.Split(f.Quote, "\n"))
	for _, span := range flaggedBy(f) {
		beside := besideLines
		if len(names) == 0 {
			beside = 0 // the flagged lines themselves
		}
		if span.Path == e.Path && span.Side == side && span.Start > 0 && e.Line <= span.End+beside &&
			last >= span.Start-beside {
			return true
		}
		source := s.file(span.Side, span.Path)
		enclosing, _, _ := source.function(span.Path, span.Start)
		symbols = append(symbols, enclosing...)
		words = append(words, namesIn(span.Path, source.between(span.Start, span.End))...)
	}
	if shares(names, symbols) {
		return true
	}
	near := e.Path == f.Path || e.Path == f.Breaks.Path ||
		shares(namesIn(e.Path, at.between(e.Line-guardLines, last+guardLines)), symbols)
	return near && shares(names, words)
}

// flaggedBy returns the lines that a finding is about.
func flaggedBy(f *precedent.Finding) []precedent.Span {
	all := []precedent.Span{f.Span}
	if f.Breaks.Path != "" {
		all = append(all, precedent.Span{
			Path: f.Breaks.Path, Side: precedent.Right, Start: f.Breaks.Line,
			End: f.Breaks.Line,
		})
	}
	return all
}

// shares reports whether two lists share a name that is not too short.
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

// function returns the name of the function that a line is in, and its first and last line: it begins
// at the nearest line before that is indented less and does not merely control what runs, and ends
// before the next one that is indented as little. A line in no function is in the whole file.
func (f *source) function(path string, number int) (name []string, from, to int) {
	i, ok := slices.BinarySearch(f.numbers, number)
	if !ok {
		return nil, 0, -1
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
			last := i
			for last+1 < len(f.lines) && (f.lines[last+1] == "" || f.indents[last+1] > indent) {
				last++
			}
			return []string{calledIn(head, names)}, f.numbers[j], f.numbers[last]
		}
	}
	return nil, f.numbers[0], f.numbers[len(f.numbers)-1]
}

// guards matches code that decides whether what follows runs.
var guards = text.Pattern(`(?i)\b(if|unless|guard|when|while|switch|match|case|assert\w*|require\w*|ensure\w*|check\w*` +
	`|valid\w*|verify\w*|return|throw|raise|panic|abort|exit)\b|&&|\|\||\?`)

// declares matches lines that declare what a file is or uses, and heads of functions and types.
var declares = text.Pattern(`^\s*(package|import|from|using|#\s*include|include|require|use|module|namespace|export` +
	`|(pub |public |private |protected |static |async |abstract |final )*(func|fn|def|function|class|interface` +
	`|struct|enum|trait|impl|type)\b)`)

// disproves reports whether evidence, which must be in its file, may end a severe finding: code that
// the change does not touch, and that is in the function of the flagged lines, or a guard near a call
// of it. A line that the author of the change wrote proves nothing, nor does a mention.
func (s *sources) disproves(f *precedent.Finding, e precedent.Evidence) bool {
	last := e.Line + max(len(quoteTexts(e.Quote)), 1) - 1
	at := s.file(precedent.Right, e.Path)
	lines := at.between(e.Line, last)
	if sideOf(e) == precedent.Left || lint.IsProse(e.Path) || s.touches(e.Path, e.Line, last) ||
		len(namesIn(e.Path, lines)) == 0 {
		return false
	}
	if !slices.ContainsFunc(lines, func(l string) bool { return !declares().MatchString(l) && !onlyComment(l) }) {
		return false
	}
	symbols, words := namesIn(f.Path, []string{f.Symbol}), namesIn(f.Path, strings.Split(f.Quote, "\n"))
	for _, span := range flaggedBy(f) {
		source := s.file(span.Side, span.Path)
		name, from, to := source.function(span.Path, span.Start)
		if span.Path == e.Path && span.Side != precedent.Left {
			if e.Line <= span.End && last >= span.Start {
				return false
			}
			if from <= e.Line && last <= to {
				return true
			}
		}
		symbols = append(symbols, name...)
		words = append(words, namesIn(span.Path, source.between(span.Start, span.End))...)
	}
	if !slices.ContainsFunc(lines, guards().MatchString) {
		return false
	}
	for n := e.Line; n <= last+guardLines; n++ { // the call that it guards is older than the change, too
		if call := at.between(n, n); !s.touches(e.Path, n, n) && shares(namesIn(e.Path, call), symbols) &&
			!slices.ContainsFunc(call, declares().MatchString) {
			return shares(namesIn(e.Path, lines), slices.Concat(words, namesIn(e.Path, call)))
		}
	}
	return false
}

// touches reports whether the change adds one of the lines of a file at the head.
func (s *sources) touches(path string, from, to int) bool {
	changed := s.change[path]
	return changed != nil && changed.Adds(from, to)
}

// beforeBracket matches a name that a bracket follows.
var beforeBracket = text.Pattern(`[\pL_][\pL\pN_]*\(`)

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
	"": true, "if": true, "else": true, "elif": true, "for": true, "while": true, "switch": true, "case": true,
	"default": true, "do": true,
	"try": true, "catch": true, "except": true, "finally": true, "with": true, "select": true, "match": true, "loop": true,
	"unless":       true,
	"synchronized": true, "using": true, "lock": true, "begin": true, "rescue": true, "ensure": true, "when": true,
	"go": true, "defer": true,
}
