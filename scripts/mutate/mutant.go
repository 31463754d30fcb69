package main

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// mutant is a file with one change.
type mutant struct {
	key       string
	pkg, file string
	function  string
	line      int
	change    string // what changes into what
	before    []byte // the file
	at, end   int    // the bytes that change
	text      string // what they become
}

// source is the changed file.
func (m mutant) source() []byte {
	return slices.Concat(m.before[:m.at], []byte(m.text), m.before[m.end:])
}

// key is the place of a mutant in the order of a seed: the nth with this description.
func key(seed uint64, what string, nth int) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%d", seed, what, nth)))[:16]
}

// swapped are the operators that a mutant exchanges.
var swapped = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD,
}

// finder collects the mutants of a file.
type finder struct {
	fset     *token.FileSet
	name     string
	source   []byte
	function string
	found    []mutant
}

// mutantsOf returns the mutants of a file: conditions negated, operators exchanged, statements dropped,
// constants changed, and functions that return at once.
func mutantsOf(name string, source []byte) ([]mutant, error) {
	f := &finder{fset: token.NewFileSet(), name: name, source: source}
	file, err := parser.ParseFile(f.fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		f.function = fn.Name.Name
		f.returnEarly(fn)
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			f.node(n)
			return true
		})
	}
	return f.found, nil
}

// add adds a mutant in which text replaces what is from one position to another.
func (f *finder) add(from, to token.Pos, text string) {
	at, end := f.fset.Position(from), f.fset.Position(to)
	was := string(f.source[at.Offset:end.Offset])
	change := fmt.Sprintf("%s → %s", line(was), line(text))
	f.found = append(f.found, mutant{file: f.name, function: f.function, line: at.Line, change: change, before: f.source, at: at.Offset, end: end.Offset, text: text})
}

// line is a text in one line, shortened.
func line(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strconv.Quote(text[:min(len(text), 60)])
}

func (f *finder) text(n ast.Node) string {
	return string(f.source[f.fset.Position(n.Pos()).Offset:f.fset.Position(n.End()).Offset])
}

// node adds the mutants of a node.
func (f *finder) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.IfStmt:
		f.add(n.Cond.Pos(), n.Cond.End(), "!("+f.text(n.Cond)+")")
	case *ast.BinaryExpr:
		if to, ok := swapped[n.Op]; ok {
			f.add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), to.String())
		}
	case *ast.ExprStmt:
		f.add(n.Pos(), n.End(), "{}")
	case *ast.IncDecStmt:
		f.add(n.Pos(), n.End(), "{}")
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			f.add(n.Pos(), n.End(), "{}")
		}
	case *ast.BasicLit:
		if i, err := strconv.Atoi(n.Value); err == nil && n.Kind == token.INT {
			f.add(n.Pos(), n.End(), strconv.Itoa(i+1))
		}
	case *ast.Ident:
		switch n.Name {
		case "true":
			f.add(n.Pos(), n.End(), "false")
		case "false":
			f.add(n.Pos(), n.End(), "true")
		}
	}
}

// returnEarly adds the mutant whose function returns zero values at once.
func (f *finder) returnEarly(fn *ast.FuncDecl) {
	var zeros []string
	if fn.Type.Results != nil {
		for _, field := range fn.Type.Results.List {
			for range max(len(field.Names), 1) {
				zeros = append(zeros, "*new("+f.text(field.Type)+")")
			}
		}
	}
	f.add(fn.Body.Lbrace+1, fn.Body.Lbrace+1, "return "+strings.Join(zeros, ", ")+";")
}
