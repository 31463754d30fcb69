package server

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestLogFields: everything that the packages of a server log is in the list of fields, so that
// nothing that they say is dropped, and the list has nothing else.
func TestLogFields(t *testing.T) {
	files := needs.Value(filepath.Glob("../*/*.go"))(t)
	used := map[string]bool{"hint": true} // workflow.HintKey
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := needs.Value(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			for _, key := range loggedKeys(call) {
				used[key] = true
				if !slices.Contains(logFields, key) {
					t.Errorf("%s logs %q, which is dropped", name, key)
				}
			}
			return true
		})
	}
	for _, key := range logFields {
		if !used[key] {
			t.Errorf("nothing logs %q", key)
		}
	}
}

// loggedKeys are the names of the attributes of a call of a logger, or of a function of slog that makes one.
func loggedKeys(call *ast.CallExpr) []string {
	of, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	var on string
	var first int
	switch x := of.X.(type) {
	case *ast.Ident:
		on = x.Name
	case *ast.SelectorExpr:
		on = x.Sel.Name
	}
	switch {
	case on == "slog" && slices.Contains([]string{"String", "Int", "Int64", "Bool", "Duration", "Any", "Time", "Float64"},
		of.Sel.Name):
		return literal(call.Args[:1])
	case on != "Log" && on != "log":
		return nil
	}
	switch of.Sel.Name {
	case "Debug", "Info", "Warn", "Error":
		first = 1
	case "DebugContext", "InfoContext", "WarnContext", "ErrorContext":
		first = 2
	case "Log":
		first = 3
	default:
		return nil
	}
	var keys []string
	for i := first; i < len(call.Args); i += 2 {
		key := literal(call.Args[i : i+1])
		if len(key) == 0 { // an attribute by itself
			i--
			continue
		}
		keys = append(keys, key...)
	}
	return keys
}

func literal(args []ast.Expr) []string {
	lit, ok := args[0].(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return nil
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return nil
	}
	return []string{text}
}
