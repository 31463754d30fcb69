package server

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestLogFields: everything that the packages of a server log is in the list of fields, so that
// nothing that they say is dropped, and the list has nothing else.
func TestLogFields(t *testing.T) {
	used := map[string]bool{"hint": true} // workflow.HintKey
	for _, name := range needs.Value(filepath.Glob("../*/*.go"))(t) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := needs.Value(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				for _, key := range loggedKeys(call) {
					used[key] = true
				}
			}
			return true
		})
	}
	needs.Equal(t, logFields, slices.Sorted(maps.Keys(used)))
}

// loggedKeys are the names of the attributes of a call of a logger, or of a function of slog that makes one: its texts
// that are constant, after the message.
func loggedKeys(call *ast.CallExpr) (keys []string) {
	of, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	var on string
	switch x := of.X.(type) {
	case *ast.Ident:
		on = x.Name
	case *ast.SelectorExpr:
		on = x.Sel.Name
	}
	args := call.Args
	name, hasContext := strings.CutSuffix(of.Sel.Name, "Context")
	switch {
	case on == "slog":
		args = args[:min(len(args), 1)]
	case on != "Log" && on != "log" || !slices.Contains([]string{"Debug", "Info", "Warn", "Error"}, name):
		return nil
	case hasContext:
		args = args[2:]
	default:
		args = args[1:]
	}
	for _, arg := range args {
		if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			keys = append(keys, strings.Trim(lit.Value, `"`))
		}
	}
	return keys
}
