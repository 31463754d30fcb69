package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// asks are the functions of internal/needs by which a test does less with the race detector.
var asks = map[string]bool{"Rounds": true, "WithoutRace": true, "Self": true}

// againPattern is a pattern for go test -run: the tests of packages that do less with the race
// detector than without it. It is an error if a package has none.
func againPattern(packages []string) (string, error) {
	out, err := exec.Command("go", append([]string{"list", "-f", "{{.Dir}}"}, packages...)...).Output() //nolint:noctx,gosec // it ends by itself, and gets what the developer typed
	if err != nil {
		return "", fmt.Errorf("list packages: %w", err)
	}
	var all []string
	for dir := range strings.Lines(string(out)) {
		dir = strings.TrimSpace(dir)
		names, err := doLess(dir)
		if err != nil {
			return "", err
		}
		if len(names) == 0 {
			return "", fmt.Errorf("all tests of %s do the same with the race detector", dir)
		}
		all = append(all, names...)
	}
	slices.Sort(all)
	return "^(" + strings.Join(slices.Compact(all), "|") + ")$", nil
}

// doLess returns the tests in a folder that call one of asks, also through other functions of the
// tests. Functions and methods of one name count as one.
func doLess(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	uses := map[string]map[string]bool{} // names that a function has in it
	less := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for name, node := range named(parsed) {
			if uses[name] == nil {
				uses[name] = map[string]bool{}
			}
			ast.Inspect(node, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Ident:
					uses[name][n.Name] = true
				case *ast.SelectorExpr:
					if p, ok := n.X.(*ast.Ident); ok && p.Name == "needs" && asks[n.Sel.Name] {
						less[name] = true
					}
				}
				return true
			})
		}
	}
	if less["init"] {
		return nil, fmt.Errorf("%s: init asks needs, so it is unknown for which tests", dir)
	}
	for again := true; again; {
		again = false
		for name, of := range uses {
			if !less[name] && slices.ContainsFunc(slices.Collect(maps.Keys(of)), func(n string) bool { return less[n] }) {
				less[name], again = true, true
			}
		}
	}
	var tests []string
	for name := range less {
		if strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") {
			tests = append(tests, name)
		}
	}
	return tests, nil
}

// named yields the functions, methods and variables of a file by their names.
func named(file *ast.File) iter.Seq2[string, ast.Node] {
	return func(yield func(string, ast.Node) bool) {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if !yield(d.Name.Name, d) {
					return
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, ok := s.(*ast.ValueSpec); ok && !yieldAll(yield, v) {
						return
					}
				}
			}
		}
	}
}

func yieldAll(yield func(string, ast.Node) bool, v *ast.ValueSpec) bool {
	for _, name := range v.Names {
		if !yield(name.Name, v) {
			return false
		}
	}
	return true
}
