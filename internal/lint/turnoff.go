package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/text"
)

// turnOff is a comment of golangci-lint in Go code that turns rules of go vet off. Other linters read the
// comments for them themselves.
type turnOff struct {
	line     int // of the comment
	from, to int // the lines that it counts for
	text     string
	names    []string // of linters or analyzers; none for all
}

// counts reports whether the comment is meant for a finding of an analyzer of go vet.
func (c *turnOff) counts(analyzer string, line int) bool {
	if line < c.from || line > c.to {
		return false
	}
	return len(c.names) == 0 || slices.ContainsFunc(c.names, func(name string) bool {
		return slices.Contains([]string{"all", "govet", "vet", analyzer}, strings.ToLower(name))
	})
}

// turnOffs finds the comments in the files of a tree. It reads each file once.
type turnOffs struct {
	dir   string
	files map[string][]turnOff
}

// of returns why a finding about a line of a file is turned off, "" if it is not.
func (t *turnOffs) of(f *diff.File, analyzer string, line int) string {
	all, ok := t.files[f.Path]
	if !ok {
		if t.files == nil {
			t.files = map[string][]turnOff{}
		}
		all = turnOffsIn(readInTree(t.dir, f.Path))
		t.files[f.Path] = all
	}
	i := slices.IndexFunc(all, func(c turnOff) bool { return c.counts(analyzer, line) })
	if i < 0 {
		return ""
	}
	why := fmt.Sprintf("the comment %q on line %d turns it off", all[i].text, all[i].line)
	if f.Adds(all[i].line, all[i].line) {
		why += ", and the change adds this comment"
	}
	return why
}

// dropTurnedOff drops a finding of go vet or of a linter if there is a reason. The finding stays in the result.
func dropTurnedOff(f *precedent.Finding, why string) {
	if why != "" {
		f.Drop("find", precedent.TurnedOff, "", "%s", why)
	}
}

const (
	maxTurnOffs    = 2000 // comments of one file that count
	maxTurnOffText = 80   // characters of a comment that a reason quotes
)

// noLint matches golangci-lint's comment.
var noLint = text.Pattern(`^//\s*nolint(?::([^/]*))?(?:\s|/|$)`)

// turnOffsIn finds the comments in a Go file. One on a line of its own counts for the declaration or the
// statement below that begins in the same column, or for the file above the package clause.
func turnOffsIn(data []byte) []turnOff {
	if !bytes.Contains(data, []byte("nolint")) {
		return nil
	}
	fset := token.NewFileSet()
	file, _ := parser.ParseFile(fset, "", data, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil {
		return nil
	}
	at := func(pos token.Pos) token.Position { return fset.PositionFor(pos, false) }
	ends := map[[2]int]int{} // last line of the longest node that begins at a line and column
	code := map[int]bool{}   // lines on which a node begins or ends
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil, *ast.Comment, *ast.CommentGroup:
			return false
		case *ast.File:
			from := at(n.Pos())
			ends[[2]int{from.Line, from.Column}] = at(n.FileEnd).Line
		default:
			from, to := at(n.Pos()), at(n.End())
			code[from.Line], code[to.Line] = true, true
			key := [2]int{from.Line, from.Column}
			ends[key] = max(ends[key], to.Line)
		}
		return true
	})
	var all []turnOff
	for _, group := range file.Comments {
		next := at(group.End()).Line + 1
		for _, c := range group.List {
			m := noLint().FindStringSubmatch(c.Text)
			if m == nil || len(all) == maxTurnOffs {
				continue
			}
			from := at(c.Pos())
			words := strings.Fields(c.Text)
			t := turnOff{
				line: from.Line, from: from.Line, to: from.Line,
				text:  oneLine(strings.TrimRight(strings.Join(words[:min(len(words), 2)], " "), " /"), maxTurnOffText),
				names: strings.FieldsFunc(m[1], func(r rune) bool { return strings.ContainsRune(", \t", r) }),
			}
			if !code[from.Line] {
				t.to = max(next, ends[[2]int{next, from.Column}])
			}
			all = append(all, t)
		}
	}
	return all
}
