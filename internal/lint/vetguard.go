package lint

import (
	"go/ast"
	"go/constant"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
)

// isOutside reports whether a package is neither in the tree, nor in the module cache
// that was made for the run, nor in the Go toolchain. The module files name no other
// folder; this does not rely on them.
func (w *typeChecker) isOutside(p *packages.Package) bool {
	return slices.ContainsFunc(slices.Concat(p.GoFiles, p.OtherFiles, p.IgnoredFiles), func(file string) bool {
		return p.Module != nil && !isBelow(w.request.Tree, file) && !isBelow(w.request.Modules, file)
	})
}

func isBelow(dir, file string) bool {
	rel, err := filepath.Rel(dir, file)
	return err == nil && filepath.IsLocal(rel)
}

// atHead returns withheld where it explains the reason: the package imports a module of
// which the head requires another version than the base.
func (w *typeChecker) atHead(p *packages.Package, why reason) reason {
	if why != notRequired && why != notFetched && why != notCompiling && why != badImport {
		return why
	}
	for path := range p.Imports {
		if slices.ContainsFunc(w.request.Withheld, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") }) {
			return withheld
		}
	}
	return why
}

// messageWords are the words of a message that could show a value: what is shorter says
// nothing about it.
var messageWords = lazily(`[\pL_][\pL\pN_]{2,}|\pN{2,}`)

// ownWords returns the message of an analyzer, or "" if it could show the value of a
// constant that is not in the tree: analyzers quote formats, regular expressions and
// numbers, and a module can be more private than the repository.
func (w *typeChecker) ownWords(p *packages.Package, message string) string {
	values, numbers := w.foreignConstants(p)
	if values == "" && !numbers {
		return message
	}
	for _, word := range messageWords().FindAllString(message, -1) {
		isNumber := word[0] >= '0' && word[0] <= '9'
		if (isNumber && numbers || strings.Contains(values, word)) && !vocabulary()[word] && !isInSource(p, word) {
			return ""
		}
	}
	return message
}

// vocabulary are the words of the analyzers' documentation.
var vocabulary = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for _, s := range []suite{vetSuite, staticSuite} {
		for _, a := range s.analyzers() {
			for _, word := range messageWords().FindAllString(a.Doc, -1) {
				words[word] = word[0] > '9'
			}
		}
	}
	return words
})

// foreignConstants returns the strings among the constants of other packages, except
// for the toolchain's, that a package uses, and whether it uses numbers.
func (w *typeChecker) foreignConstants(p *packages.Package) (values string, numbers bool) {
	var b strings.Builder
	for _, o := range p.TypesInfo.Uses {
		c, ok := o.(*types.Const)
		if !ok || c.Pkg() == nil || c.Pkg() == p.Types || w.toolchain[c.Pkg().Path()] {
			continue
		}
		if c.Val().Kind() == constant.String {
			b.WriteString(constant.StringVal(c.Val()) + "\n")
		} else if c.Val().Kind() != constant.Bool {
			numbers = true
		}
	}
	return b.String(), numbers
}

// isInSource reports whether a word is in the files of a package.
func isInSource(p *packages.Package, word string) bool {
	return slices.ContainsFunc(p.Syntax, func(file *ast.File) bool {
		found := false
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				found = found || strings.Contains(n.Value, word)
			case *ast.Ident:
				found = found || n.Name == word
			}
			return !found
		})
		return found
	})
}
