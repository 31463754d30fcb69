package lint

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
)

// typeChecker type-checks the packages to analyze and everything they import.
type typeChecker struct {
	request vetRequest
	fset    *token.FileSet
	sizes   types.Sizes
	roots   []*packages.Package
	// readable are the roots that the go command could list with their imports.
	readable []*packages.Package
	order    []*packages.Package       // imports first
	rank     map[*packages.Package]int // index in order
	// whole are the packages whose function bodies are read: the roots and near
	// imports. What a function does with its arguments, such as passing them to
	// fmt.Sprintf, matters to its callers.
	whole map[*packages.Package]bool
	// cycles are the paths of packages in import cycles: the go command reports each cycle at one of its packages.
	cycles  map[string]bool
	mu      sync.Mutex
	reasons map[*packages.Package]reason // why a package has errors
}

func newTypeChecker(req vetRequest, roots []*packages.Package) *typeChecker {
	w := &typeChecker{
		request: req, fset: token.NewFileSet(), sizes: types.SizesFor("gc", runtime.GOARCH), roots: roots,
		rank: map[*packages.Package]int{}, whole: map[*packages.Package]bool{}, reasons: map[*packages.Package]reason{},
		cycles: map[string]bool{},
	}
	packages.Visit(roots, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			if reasonFor(e.Msg) == importCycle { // "import cycle not allowed: import stack: [a b a]"
				for path := range strings.FieldsSeq(e.Msg) {
					w.cycles[strings.Trim(path, "[]")] = true
				}
			}
		}
	})
	seen := map[*packages.Package]bool{}
	var visit func(p *packages.Package)
	visit = func(p *packages.Package) {
		if seen[p] {
			return
		}
		seen[p] = true
		for _, path := range slices.Sorted(maps.Keys(p.Imports)) {
			visit(p.Imports[path])
		}
		w.rank[p] = len(w.order)
		w.order = append(w.order, p)
	}
	for _, p := range roots {
		if why := w.unusable(p); why != "" {
			w.fail(p, why) // what only this root imports need not be read
			continue
		}
		w.readable = append(w.readable, p)
		visit(p)
	}
	w.chooseWhole()
	return w
}

// unusable returns why a root cannot be checked by what the go command says of it and of
// its imports; empty if it may be.
func (w *typeChecker) unusable(p *packages.Package) reason {
	if w.cycles[p.PkgPath] {
		return importCycle
	}
	if why := listReason(p); why != "" {
		return w.atHead(p, why)
	}
	for _, path := range slices.Sorted(maps.Keys(p.Imports)) {
		if why := importReason(p.Imports[path]); path != "unsafe" && why != "" {
			return w.atHead(p, why)
		}
	}
	return ""
}

// atHead returns withheld where it explains the reason: the package imports a module of
// which the head requires another version than the base.
func (w *typeChecker) atHead(p *packages.Package, why reason) reason {
	if why != notRequired && why != notFetched && why != notCompiling && why != badImport {
		return why
	}
	for path := range p.Imports {
		if slices.ContainsFunc(w.request.Withheld, func(m string) bool {
			return path == m ||
				strings.HasPrefix(path, m+"/")
		}) {
			return withheld
		}
	}
	return why
}

// importReason returns why an imported package cannot be loaded; empty if it can, or if
// the reason shows up where it is used.
func importReason(d *packages.Package) reason {
	if why := listReason(d); d.Name == "" && why != notListed {
		return why
	}
	return ""
}

// Limits on the imports that are read with function bodies: two steps from a root,
// and this many bytes of source in total. The analyzers know the standard library.
const (
	wholeSteps = 2
	wholeBytes = 2 << 20
)

func (w *typeChecker) chooseWhole() {
	ring := w.readable
	for _, p := range ring {
		w.whole[p] = true
	}
	left := int64(wholeBytes)
	for range wholeSteps {
		var next []*packages.Package
		for _, p := range ring {
			for _, path := range slices.Sorted(maps.Keys(p.Imports)) {
				d := p.Imports[path]
				if w.whole[d] || d.Module == nil {
					continue
				}
				size := sourceSize(d)
				if size > left {
					continue
				}
				left -= size
				w.whole[d] = true
				next = append(next, d)
			}
		}
		ring = next
	}
}

func sourceSize(p *packages.Package) (n int64) {
	for _, file := range p.GoFiles {
		if info, err := os.Stat(file); err == nil {
			n += info.Size()
		}
	}
	return n
}

// typeCheck type-checks all packages, as many at a time as there are processors. A
// package waits for its imports. In an import cycle, which is an error, it waits for
// those earlier in the order.
func (w *typeChecker) typeCheck() {
	done := make(map[*packages.Package]chan struct{}, len(w.order))
	for _, p := range w.order {
		done[p] = make(chan struct{})
	}
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, p := range w.order {
		go func() {
			defer close(done[p])
			for _, d := range p.Imports {
				if w.rank[d] < w.rank[p] {
					<-done[d]
				}
			}
			slots <- struct{}{}
			defer func() { <-slots }()
			w.check(p)
		}()
	}
	for _, p := range w.order {
		<-done[p]
	}
}

// check parses and type-checks one package. If only the declarations of a package are
// read, its errors are ignored here: they show up where it is used.
func (w *typeChecker) check(p *packages.Package) {
	p.Fset, p.TypesSizes = w.fset, w.sizes
	if p.PkgPath == "unsafe" {
		p.Types = types.Unsafe
		return
	}
	whole := w.whole[p]
	if why := listReason(p); why != "" {
		w.fail(p, w.atHead(p, why))
	}
	mode := parser.SkipObjectResolution
	if whole {
		mode = parser.ParseComments // some analyzers ask for the parser's objects
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(w.fset, name, nil, mode)
		if err != nil {
			w.fail(p, notCompiling)
		}
		if file != nil {
			files = append(files, file)
		}
	}
	conf := &types.Config{
		Importer: importer(func(path string) (*types.Package, error) { return w.imported(p, path) }),
		Sizes:    w.sizes, IgnoreFuncBodies: !whole, FakeImportC: true,
		Error: func(error) { w.fail(p, w.atHead(p, notCompiling)) },
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	p.Types = types.NewPackage(p.PkgPath, p.Name)
	var info *types.Info
	if whole {
		info = newInfo()
		p.Syntax, p.TypesInfo = files, info
	}
	_ = types.NewChecker(conf, w.fset, p.Types, info).Files(files) // conf.Error notes the errors
	if whole && lacksTypes(info) {
		w.fail(p, w.atHead(p, w.reasonOfImports(p)))
	}
	p.IllTyped = w.reasonOf(p) != ""
}

func newInfo() *types.Info {
	return &types.Info{
		Types:        map[ast.Expr]types.TypeAndValue{},
		Defs:         map[*ast.Ident]types.Object{},
		Uses:         map[*ast.Ident]types.Object{},
		Implicits:    map[ast.Node]types.Object{},
		Instances:    map[*ast.Ident]types.Instance{},
		Scopes:       map[ast.Node]*types.Scope{},
		Selections:   map[*ast.SelectorExpr]*types.Selection{},
		FileVersions: map[*ast.File]string{},
	}
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }

var errImport = errors.New("could not be loaded")

// imported returns the types of an imported package.
func (w *typeChecker) imported(p *packages.Package, path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	d := p.Imports[path]
	switch {
	case d == nil || w.rank[d] > w.rank[p]:
		return nil, errImport
	case d.Name == "" || d.Types == nil:
		if why := importReason(d); why != "" {
			w.fail(p, w.atHead(p, why))
		}
		return nil, errImport
	}
	return d.Types, nil
}

// fail records why a package cannot be checked. The first reason counts: type errors
// follow from imports that are missing.
func (w *typeChecker) fail(p *packages.Package, why reason) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reasons[p] == "" {
		w.reasons[p] = why
	}
}

// reasonOf returns why a package cannot be analyzed; empty if it can.
func (w *typeChecker) reasonOf(p *packages.Package) reason {
	w.mu.Lock()
	defer w.mu.Unlock()
	if why := w.reasons[p]; why != "" || len(p.GoFiles) > 0 {
		return why
	}
	return noGoFiles
}

// reasonOfImports returns why types of imported packages are not known.
func (w *typeChecker) reasonOfImports(p *packages.Package) reason {
	seen := map[*packages.Package]bool{p: true}
	for next := []*packages.Package{p}; len(next) > 0; next = next[1:] {
		for _, path := range slices.Sorted(maps.Keys(next[0].Imports)) {
			d := next[0].Imports[path]
			if seen[d] || w.rank[d] > w.rank[next[0]] {
				continue
			}
			seen[d] = true
			if why := w.reasonOf(d); why == notFetched || why == notRequired || why == withheld {
				return why
			}
			next = append(next, d)
		}
	}
	return badImport
}

// analyzable returns the roots that can be analyzed: a package with its tests, or
// without them if only the tests have errors. Facts come from packages that were read
// as a whole. Other imports are removed from the graph, because the analyzers cannot
// run on them.
func (w *typeChecker) analyzable() []*packages.Package {
	good := func(p *packages.Package) bool { return w.whole[p] && w.reasonOf(p) == "" }
	tested := map[string]bool{}
	for _, p := range w.roots {
		if p.ForTest == p.PkgPath && good(p) {
			tested[p.PkgPath] = true
		}
	}
	var all []*packages.Package
	for _, p := range w.roots {
		if good(p) && (p.ForTest != "" || !tested[p.PkgPath]) {
			all = append(all, p)
		}
	}
	for _, p := range w.order {
		for path, d := range p.Imports {
			if !good(d) || w.rank[d] > w.rank[p] {
				delete(p.Imports, path)
			}
		}
	}
	return all
}
