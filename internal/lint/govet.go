package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/child"
	"github.com/precedent-dev/precedent/internal/diff"
)

// vetTime is the time limit for all Go analyzers together. Type-checking a large module takes 10 s on two cores.
const vetTime = 2 * time.Minute

// maxHeap is the memory limit of the child process, in bytes. A package that imports
// SQLite needs 200 MB.
const maxHeap = 3 << 30

// govet runs the analyzers of go vet, and sqlrowserr, on the packages that the change touches, in a
// child process (see VetMain). Nothing in the exported tree is executed or compiled. The child reads the
// tree, the Go toolchain and the modules that the base requires, and nothing else; it runs in the sandbox
// if there is one. Packages that cannot be loaded are skipped, with the reason.
//
// Only added lines are reported. A defect that the change causes on an unchanged line is missed: to tell
// it from an old one, the base would have to be analyzed too.
func govet(ctx context.Context, in *Input) Result {
	files := goFiles(in.Change)
	switch {
	case len(files) == 0:
		return skipped("the change touches no Go file")
	case child.Find("go", in.Go.Path) == "":
		return skipped("no Go toolchain on PATH")
	case in.Tree == nil || in.Go.Tool == "":
		return skipped("the head was not exported, so no package can be loaded")
	}
	dir, err := in.Tree(ctx)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir) // Go reports paths without links
	}
	if err == nil {
		err = refuseLinks(dir)
	}
	if err != nil {
		return Result{Status: precedent.StatusError, Error: fmt.Sprintf("export the head: %v", err)}
	}
	scratch, err := os.MkdirTemp("", "precedent-vet-")
	if err != nil {
		return Result{Status: precedent.StatusError, Error: string(notStarted)}
	}
	defer os.RemoveAll(scratch)
	bounded, cancel := context.WithTimeout(ctx, vetTime)
	defer cancel()
	v := &vetting{
		in: in, tree: dir, files: files, starter: newStarter(bounded, in, dir, scratch), turnOffs: turnOffs{dir: dir},
		collect: collect{name: "govet"}, checked: map[string]bool{}, reasons: map[string]reason{},
	}
	modules := v.modules()
	for _, root := range slices.Sorted(maps.Keys(modules)) {
		v.check(bounded, root, modules[root])
	}
	return v.result(bounded)
}

func skipped(why string) Result { return Result{Status: precedent.StatusSkipped, Error: why} }

// goFiles returns the changed Go files that go vet would check, by path.
func goFiles(c *diff.Change) map[string]*diff.File {
	files := map[string]*diff.File{}
	for i := range c.Files {
		f := &c.Files[i]
		if path.Ext(f.Path) != ".go" || f.Skip != "" || f.Status == diff.Deleted ||
			strings.HasPrefix(path.Base(f.Path), "_") || ignoredByGo(path.Dir(f.Path)) {
			continue
		}
		if _, ok := firstLine(f, diff.Add); ok {
			files[f.Path] = f
		}
	}
	return files
}

// ignoredByGo reports whether patterns such as ./... skip a folder.
func ignoredByGo(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool {
		return part == "testdata" || part == "vendor" || part != "." && strings.HasPrefix(part, ".") ||
			strings.HasPrefix(part, "_")
	})
}

// refuseLinks returns an error if a tree has a link: what it points to would be read. An
// export has none.
func refuseLinks(tree string) error {
	return filepath.WalkDir(tree, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !d.Type().IsRegular() {
			err = errors.New("it has links")
		}
		return err
	})
}

// vetting is one run of the Go analyzers.
type vetting struct {
	in      *Input
	tree    string // folder of the exported head
	starter *vetStarter
	files   map[string]*diff.File
	collect
	turnOffs turnOffs
	checked  map[string]bool   // files
	reasons  map[string]reason // why a file was not checked
	failed   bool              // the run ended badly
}

// leaveOut records why files were not checked.
func (v *vetting) leaveOut(names []string, why reason) {
	v.failed = v.failed || why.isFailure()
	for _, name := range names {
		v.reasons[name] = why
	}
}

// modules groups the files by their module's folder. Both are relative to the tree.
func (v *vetting) modules() map[string][]string {
	modules := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(v.files)) {
		if root, ok := v.findUp(path.Dir(name), "go.mod"); ok {
			modules[root] = append(modules[root], name)
		} else {
			v.leaveOut([]string{name}, noModule)
		}
	}
	return modules
}

// findUp returns the nearest folder that holds a file of the given name, from dir
// upwards within the tree.
func (v *vetting) findUp(dir, name string) (string, bool) {
	for {
		if hasFile(v.tree, path.Join(dir, name)) {
			return dir, true
		}
		if dir == "." {
			return "", false
		}
		dir = path.Dir(dir)
	}
}

// check runs the analyzers on one module, first in the workspace above it, if there
// is one. The workspace need not include the module.
func (v *vetting) check(ctx context.Context, root string, names []string) {
	work, inWork := v.findUp(root, "go.work")
	modules, err := v.readModules(root, work)
	if err == nil {
		err = v.starter.choose(v.in.Go.moduleCache(), modules)
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		v.leaveOut(names, badModule)
		return
	}
	file := "off"
	if inWork {
		file = v.starter.at(path.Join(work, "go.work"))
	}
	req := vetRequest{
		Dir: v.starter.at(root), Withheld: modules.withheld, Overlay: map[string]string{}, MaxHeap: maxHeap,
	}
	for name, content := range modules.files {
		req.Overlay[v.starter.at(name)] = content
	}
	v.checkFiles(ctx, file, req, names)
}

// checkFiles runs the analyzers on files of one module. If that kills the process, it
// halves the packages until those that do are found, so that they spoil no others.
func (v *vetting) checkFiles(ctx context.Context, work string, req vetRequest, names []string) {
	if ctx.Err() != nil {
		return
	}
	req.Files = nil
	for _, name := range names {
		req.Files = append(req.Files, v.starter.at(name))
	}
	rep, err := v.run(ctx, work, req)
	why := reasonOfError(err)
	switch {
	case ctx.Err() != nil:
	case err == nil:
		v.recordReport(names, req, rep)
	case why == crashed || why == tooLarge:
		if a, b := halve(names); len(b) > 0 {
			v.checkFiles(ctx, work, req, a)
			v.checkFiles(ctx, work, req, b)
			return
		}
		fallthrough
	default:
		v.leaveOut(names, why)
	}
}

// halve divides files by their packages. The second part is empty if there is only one
// package.
func halve(names []string) (a, b []string) {
	dirs := map[string]bool{}
	for _, name := range names {
		dirs[path.Dir(name)] = true
	}
	sorted := slices.Sorted(maps.Keys(dirs))
	first := sorted[:(len(sorted)+1)/2]
	for _, name := range names {
		if slices.Contains(first, path.Dir(name)) {
			a = append(a, name)
		} else {
			b = append(b, name)
		}
	}
	return a, b
}

// run starts the child process. If nothing loads in the workspace, it runs again
// without it.
func (v *vetting) run(ctx context.Context, work string, req vetRequest) (*vetReport, error) {
	rep, err := v.starter.run(ctx, work, req)
	if err == nil && work != "off" && rep.loadedNone() {
		return v.starter.run(ctx, "off", req)
	}
	return rep, err
}

// recordReport records what a module's report says about its files.
func (v *vetting) recordReport(names []string, req vetRequest, rep *vetReport) {
	for i, name := range names {
		if why := rep.reason(req.Files[i]); why != "" {
			v.leaveOut([]string{name}, why)
		} else {
			v.checked[name] = true
		}
	}
	for _, d := range rep.Diagnostics {
		i := slices.Index(req.Files, d.File)
		if i < 0 {
			continue
		}
		f := v.files[names[i]]
		if l, ok := addedLine(f, d.Line, d.From, d.To); ok {
			found := d.finding(f, l)
			dropTurnedOff(&found, v.turnOffs.of(f, d.Analyzer, d.Line))
			v.add(found)
		}
	}
}

// longestPath is the largest number of lines of a statement that may move a finding:
// a whole function is too far.
const longestPath = 30

// addedLine returns a line if the change adds it, else the first added line of the statement around it.
func addedLine(f *diff.File, at, from, to int) (line diff.Line, ok bool) {
	near := to-from <= longestPath
	for l := range f.AddedLines() {
		if l.New == at {
			return l, true
		}
		if near && !ok && l.New >= from && l.New <= to {
			line, ok = l, true
		}
	}
	return line, ok
}

// result sums up the run. It is ok if any file was checked.
func (v *vetting) result(ctx context.Context) Result {
	r, notes := v.resultOf(ctx, "checking the Go packages took too long")
	r.Files = map[string]bool{}
	for name := range v.files {
		r.Files[name] = v.checked[name]
	}
	switch {
	case ctx.Err() != nil:
	case v.failed:
		r.Status = precedent.StatusError
		notes = append(notes, "packages could not be checked")
	case len(v.checked) == 0:
		r.Status = precedent.StatusSkipped
		notes = append(notes, "nothing could be checked")
	}
	r.NotChecked = notChecked(v.reasons)
	r.Error = strings.Join(notes, "; ")
	return r
}

// finding converts a diagnostic to a finding.
func (d vetDiagnostic) finding(f *diff.File, l diff.Line) precedent.Finding {
	w := vetTextFor(d.Analyzer)
	out := newFinding(f, precedent.Right, l)
	out.Confidence = goConfidenceOf(d.Analyzer, f.Path)
	out.Category, out.Severity, out.Rule = w.category, severityOf(w.severity, f.Path), d.Analyzer
	said := cmp.Or(d.Message, "go vet reports "+d.Analyzer)
	out.Title = title(said)
	out.Body = fmt.Sprintf("%s %s\n\nFound by the go vet analyzer %s.", sentence(said), w.why, d.Analyzer)
	return out
}
