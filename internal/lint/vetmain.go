package lint

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/packages"
)

// VetMain is the main function of the process that runs the Go analyzers. It loads
// the packages named in the request on standard input, runs the analyzers on them,
// and writes the report to standard output. It never returns.
//
// The packages are type-checked from source, which keeps untrusted code away from the compiler and the assembler: the
// go command only lists files. Decision 5 has the measurements.
func VetMain() {
	debug.SetMaxStack(256 << 20) // deeply nested expressions end here, before memory runs out
	if err := vetMain(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// needsMemory is how the message of watchMemory starts.
const needsMemory = "the packages need more than"

// watchMemory ends the process if it uses too much memory.
func watchMemory(most uint64) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for range time.Tick(50 * time.Millisecond) {
		if metrics.Read(sample); sample[0].Value.Uint64() > most {
			fmt.Fprintf(os.Stderr, needsMemory+" %d MiB of memory\n", most>>20)
			os.Exit(1)
		}
	}
}

func vetMain(in io.Reader, out io.Writer) error {
	var req vetRequest
	if err := json.NewDecoder(in).Decode(&req); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	go watchMemory(req.MaxHeap)
	rep, err := vetPackages(context.Background(), req)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(rep); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// vetPackages loads the packages of the files and analyzes those without errors.
func vetPackages(ctx context.Context, req vetRequest) (*vetReport, error) {
	patterns := map[string]bool{}
	for _, file := range req.Files {
		rel, err := filepath.Rel(req.Dir, filepath.Dir(file))
		if err != nil {
			return nil, fmt.Errorf("find package of %s: %w", file, err)
		}
		patterns["."+string(filepath.Separator)+rel] = true
	}
	overlay := map[string][]byte{}
	for name, content := range req.Overlay {
		overlay[name] = []byte(content)
	}
	roots, err := packages.Load(&packages.Config{
		Context: ctx, Dir: req.Dir, Tests: true, Overlay: overlay,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedModule | packages.NeedForTest,
	}, slices.Sorted(maps.Keys(patterns))...)
	if err != nil {
		return &vetReport{Reason: reasonFor(err.Error())}, nil
	}
	roots = slices.DeleteFunc(roots, func(p *packages.Package) bool { return strings.HasSuffix(p.ID, ".test") })
	w := newTypeChecker(req, roots)
	w.typeCheck()

	rep := &vetReport{}
	for _, p := range roots {
		rep.Packages = append(rep.Packages, vetPackage{
			Files: p.GoFiles, Ignored: p.IgnoredFiles, Dir: p.Dir, Reason: w.reasonOf(p),
		})
	}
	graph, err := checker.Analyze(vet.Suite, w.analyzable(), nil)
	if err != nil {
		return nil, fmt.Errorf("analyze packages: %w", err)
	}
	rep.addDiagnostics(req.Files, graph)
	return rep, nil
}

// maxDiagnostics limits the length of a report.
const maxDiagnostics = 5000

func (r *vetReport) addDiagnostics(files []string, graph *checker.Graph) {
	for _, act := range graph.Roots {
		for _, d := range act.Diagnostics {
			// Ignore line directives: the change could point them anywhere.
			fset := act.Package.Fset
			start := fset.PositionFor(d.Pos, false)
			if !slices.Contains(files, start.Filename) || len(r.Diagnostics) >= maxDiagnostics {
				continue
			}
			from, to := enclosingStatement(act.Package, d)
			r.Diagnostics = append(r.Diagnostics, vetDiagnostic{
				Analyzer: act.Analyzer.Name, Message: d.Message, File: start.Filename, Line: start.Line,
				From: fset.PositionFor(from, false).Line, To: fset.PositionFor(to, false).Line,
			})
		}
	}
	slices.SortFunc(r.Diagnostics, func(a, b vetDiagnostic) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, strings.Compare(a.Analyzer, b.Analyzer),
			strings.Compare(a.Message, b.Message))
	})
	r.Diagnostics = slices.Compact(r.Diagnostics)
}

// enclosingStatement is the call or simple statement that a diagnostic is about. The
// line that makes a format wrong need not be the line that holds the format.
func enclosingStatement(p *packages.Package, d analysis.Diagnostic) (from, to token.Pos) {
	from, to = d.Pos, max(d.Pos, d.End)
	for _, file := range p.Syntax {
		if file.FileStart > from || from > file.FileEnd {
			continue
		}
		nodes, _ := astutil.PathEnclosingInterval(file, from, to)
		for _, n := range nodes {
			switch n.(type) {
			case *ast.CallExpr, *ast.AssignStmt, *ast.ExprStmt, *ast.ReturnStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt,
				*ast.ValueSpec, *ast.Field:
				return n.Pos(), n.End()
			case ast.Stmt, ast.Decl:
				return from, to
			}
		}
	}
	return from, to
}
