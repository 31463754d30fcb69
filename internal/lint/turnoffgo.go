package lint

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// goTools are the linters that a bare //nolint counts for.
var goTools = []string{"govet", "staticcheck", "golangci-lint", "gosec", "revive", "errcheck"}

var (
	// noLint is golangci-lint's comment.
	noLint = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^//\s*nolint(?::([^/]*))?(?:\s|/|$)`) })
	// ignoreLine and ignoreFile are staticcheck's comments. They count only with a
	// reason.
	ignoreLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^//lint:ignore\s+(\S+)\s+\S`) })
	ignoreFile = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^//lint:file-ignore\s+(\S+)\s+\S`) })
	// nosec is gosec's comment.
	nosec = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?://|/\*)\s*#nosec\b((?:\s+G\d{3})*)`) })
)

// goTurnOffs finds the comments that turn rules off in a Go file. //nolint and #nosec on
// a line of their own count for the declaration or the statement below that begins in
// the same column, or for the file above the package clause.
func goTurnOffs(data []byte) []turnOff {
	if !slices.ContainsFunc([]string{"nolint", "//lint:", "#nosec"}, func(s string) bool { return bytes.Contains(data, []byte(s)) }) {
		return nil
	}
	fset := token.NewFileSet()
	file, _ := parser.ParseFile(fset, "", data, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil {
		return nil
	}
	g := goComments{fset: fset, ends: map[[2]int]int{}, code: map[int]bool{}}
	g.read(file)
	var all []turnOff
	for _, group := range file.Comments {
		for _, c := range group.List {
			if len(all) == maxTurnOffs {
				return all
			}
			if t, ok := g.turnOff(c, fset.PositionFor(group.End(), false).Line); ok {
				all = append(all, t)
			}
		}
	}
	return all
}

// goComments knows where the nodes of a file are.
type goComments struct {
	fset  *token.FileSet
	ends  map[[2]int]int // last line of the longest node that begins at a line and column
	code  map[int]bool   // lines on which a node begins or ends
	lines int
}

func (g *goComments) read(file *ast.File) {
	g.lines = g.fset.PositionFor(file.FileEnd, false).Line
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.Comment, *ast.CommentGroup:
			return false
		}
		from, to := g.fset.PositionFor(n.Pos(), false), g.fset.PositionFor(n.End(), false)
		if _, whole := n.(*ast.File); whole {
			to.Line = g.lines
		} else {
			g.code[from.Line], g.code[to.Line] = true, true
		}
		at := [2]int{from.Line, from.Column}
		g.ends[at] = max(g.ends[at], to.Line)
		return true
	})
}

// turnOff parses a comment. end is the last line of its group.
func (g *goComments) turnOff(c *ast.Comment, end int) (turnOff, bool) {
	at := g.fset.PositionFor(c.Pos(), false)
	t := turnOff{line: at.Line, from: at.Line, to: at.Line, text: oneLine(firstWords(c.Text), maxTurnOffText)}
	next := end + 1
	switch {
	case ignoreFile().MatchString(c.Text):
		t.names, t.from, t.to = strings.Split(ignoreFile().FindStringSubmatch(c.Text)[1], ","), 1, g.lines
		return t, true
	case ignoreLine().MatchString(c.Text):
		t.names = strings.Split(ignoreLine().FindStringSubmatch(c.Text)[1], ",")
		if !g.code[at.Line] {
			t.to = next
		}
		return t, true
	case noLint().MatchString(c.Text):
		t.tools = goTools
		t.names = splitNames(noLint().FindStringSubmatch(c.Text)[1])
	case nosec().MatchString(c.Text):
		t.tools = []string{"gosec"}
		if t.names = splitNames(nosec().FindStringSubmatch(c.Text)[1]); len(t.names) == 0 {
			t.names = []string{"gosec"} // also as a linter of golangci-lint
		}
	default:
		return t, false
	}
	if !g.code[at.Line] {
		t.to = max(t.to, next, g.ends[[2]int{next, at.Column}])
	}
	return t, true
}

// firstWords returns the directive of a comment without the explanation.
func firstWords(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	words := strings.Fields(s)
	return strings.TrimRight(strings.Join(words[:min(len(words), 2)], " "), " /")
}
