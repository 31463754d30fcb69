package lint

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// goMod is what is used of a go.mod or go.work file.
type goMod struct {
	module, goVersion string
	require, exclude  []module.Version
	replace           []goReplace
	use               []string // folders, relative to the file
}

// goReplace is a replacement. Without a version, the new path is a folder.
type goReplace struct{ old, new module.Version }

// goModules are the module files that the go command gets for one module, instead of
// those of the head. They require what the base requires, and name no folder outside
// of the tree, so that a change cannot choose what is read.
type goModules struct {
	files    map[string]string // contents by path in the tree
	withheld []string          // paths of modules that the head requires in other versions than the base
	sums     []byte            // go.sum of the base, of all modules together
}

// moduleReader makes goModules.
type moduleReader struct {
	in    *Input
	tree  string // folder of the head
	out   goModules
	queue []string // folders of modules that are still to be read
	local map[string]bool
	head  map[string]goMod // by folder
}

// mostModules limits how many modules of the tree are read for one.
const mostModules = 200

var errModules = errors.New("too many modules")

// readModules returns the module files for the module in the folder root, and for the
// workspace in the folder work, if it is not empty.
func (v *vetting) readModules(root, work string) (*goModules, error) {
	r := &moduleReader{
		in: v.in, tree: v.tree, queue: []string{root}, out: goModules{files: map[string]string{}}, local: map[string]bool{}, head: map[string]goMod{},
	}
	vendored := r.has(path.Join(root, "vendor/modules.txt"))
	if work != "" {
		if err := r.readWork(work); err != nil {
			return nil, err
		}
		vendored = vendored || r.has(path.Join(work, "vendor/modules.txt"))
	}
	for len(r.queue) > 0 {
		if len(r.head) > mostModules {
			return nil, errModules
		}
		next := r.queue[0]
		r.queue = r.queue[1:]
		if err := r.readModule(next); err != nil {
			return nil, err
		}
	}
	for dir := range r.head {
		if err := r.write(dir, vendored); err != nil {
			return nil, err
		}
	}
	slices.Sort(r.out.withheld)
	r.out.withheld = slices.Compact(r.out.withheld)
	return &r.out, nil
}

// readModule reads the head's go.mod in a folder of the tree, and queues the modules of
// the tree that replace others in it.
func (r *moduleReader) readModule(dir string) error {
	if _, ok := r.head[dir]; ok || !r.has(path.Join(dir, "go.mod")) {
		return nil
	}
	m, err := parseMod(readInTree(r.tree, path.Join(dir, "go.mod")))
	if err != nil {
		return err
	}
	r.head[dir] = m
	for _, re := range m.replace {
		if to, ok := inTree(dir, re.new); ok {
			r.queue = append(r.queue, to)
			r.local[re.old.Path] = true
		}
	}
	return nil
}

// readWork reads the workspace of the head, and writes one that only uses folders of
// the tree.
func (r *moduleReader) readWork(dir string) error {
	name := path.Join(dir, "go.work")
	m, err := parseWork(readInTree(r.tree, name))
	if err != nil {
		return err
	}
	base, err := r.atBase(name, parseWork)
	if err != nil {
		return err
	}
	var b strings.Builder
	writeLine(&b, "go", m.goVersion)
	for _, folder := range m.use {
		if to, ok := inTree(dir, module.Version{Path: folder}); ok {
			r.queue = append(r.queue, to)
			writeLine(&b, "use", folder)
		}
	}
	writeReplaces(&b, dir, m, base)
	r.out.files[name] = b.String()
	return r.writeSum(name + ".sum")
}

// write writes the go.mod and go.sum files of a module. If the modules are vendored,
// they are in the tree, and the file may require all that the head requires.
func (r *moduleReader) write(dir string, vendored bool) error {
	name := path.Join(dir, "go.mod")
	head := r.head[dir]
	base, err := r.atBase(name, parseMod)
	if err != nil {
		return err
	}
	versions := map[string]string{}
	if vendored {
		base.require = head.require
	}
	for _, m := range base.require {
		versions[m.Path] = m.Version
	}
	for _, m := range head.require {
		switch version, ok := versions[m.Path]; {
		case !ok && r.local[m.Path]:
			versions[m.Path] = m.Version
		case version != m.Version:
			r.out.withheld = append(r.out.withheld, m.Path)
		}
	}
	for _, re := range head.replace {
		if _, ok := inTree(dir, re.new); !ok && !slices.Contains(base.replace, re) {
			r.out.withheld = append(r.out.withheld, re.old.Path)
		}
	}
	var b strings.Builder
	writeLine(&b, "module", head.module)
	writeLine(&b, "go", head.goVersion)
	for _, p := range slices.Sorted(maps.Keys(versions)) {
		writeLine(&b, "require", p, versions[p])
	}
	for _, m := range base.exclude {
		writeLine(&b, "exclude", m.Path, m.Version)
	}
	writeReplaces(&b, dir, head, base)
	r.out.files[name] = b.String()
	return r.writeSum(path.Join(dir, "go.sum"))
}

// writeReplaces writes the head's replacements by folders of the tree, and the base's
// by folders of the tree and by other modules.
func writeReplaces(b *strings.Builder, dir string, head, base goMod) {
	written := map[module.Version]bool{}
	write := func(re goReplace) {
		if !written[re.old] {
			written[re.old] = true
			args := []string{"replace", re.old.Path, re.old.Version, "=>", re.new.Path, re.new.Version}
			writeLine(b, slices.DeleteFunc(args, func(s string) bool { return s == "" })...)
		}
	}
	for _, re := range head.replace {
		if _, ok := inTree(dir, re.new); ok {
			write(re)
		}
	}
	for _, re := range base.replace {
		if _, ok := inTree(dir, re.new); ok || re.new.Version != "" {
			write(re)
		}
	}
}

// writeLine writes a directive of a module file, if it has a value.
func writeLine(b *strings.Builder, words ...string) {
	if len(words) < 2 || words[1] == "" {
		return
	}
	line := words[0]
	for _, w := range words[1:] {
		if w != "=>" && line != "go" {
			w = strconv.Quote(w) // the go command has checked the version of Go
		}
		line += " " + w
	}
	b.WriteString(line + "\n")
}

// writeSum writes the base's version of a go.sum file.
func (r *moduleReader) writeSum(name string) error {
	data, err := r.readBase(name)
	if err != nil {
		return err
	}
	r.out.files[name] = string(data)
	r.out.sums = append(append(r.out.sums, data...), '\n')
	return nil
}

// inTree returns the folder in the tree that a module file in the folder dir names;
// ok is false if it names a version of a module, or a folder outside of the tree.
func inTree(dir string, to module.Version) (folder string, ok bool) {
	local := filepath.FromSlash(to.Path)
	if to.Version != "" || to.Path == "" || path.IsAbs(to.Path) || filepath.IsAbs(local) || strings.ContainsAny(to.Path, "\\:") {
		return "", false
	}
	folder = path.Join(dir, to.Path)
	return folder, filepath.IsLocal(filepath.FromSlash(folder))
}

// has reports whether the head has a regular file.
func (r *moduleReader) has(name string) bool {
	info, err := os.Lstat(filepath.Join(r.tree, filepath.FromSlash(name)))
	return err == nil && info.Mode().IsRegular()
}

// readBase reads a file of the base; nothing if there is none.
func (r *moduleReader) readBase(name string) ([]byte, error) {
	if r.in.Trusted.Read == nil {
		return nil, nil
	}
	data, err := r.in.Trusted.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// atBase reads a module file of the base; the zero goMod if there is none.
func (r *moduleReader) atBase(name string, parse func([]byte) (goMod, error)) (goMod, error) {
	data, err := r.readBase(name)
	if err != nil || data == nil {
		return goMod{}, err
	}
	return parse(data)
}

// parseMod parses a go.mod file with the parser of the go command, so that both read the
// same.
func parseMod(data []byte) (goMod, error) {
	f, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return goMod{}, fmt.Errorf("parse go.mod: %w", err)
	}
	m := goMod{module: cmp.Or(f.Module, &modfile.Module{}).Mod.Path, goVersion: cmp.Or(f.Go, &modfile.Go{}).Version, replace: replaces(f.Replace)}
	for _, r := range f.Require {
		m.require = append(m.require, r.Mod)
	}
	for _, x := range f.Exclude {
		m.exclude = append(m.exclude, x.Mod)
	}
	return m, nil
}

// parseWork does the same for a go.work file.
func parseWork(data []byte) (goMod, error) {
	f, err := modfile.ParseWork("go.work", data, nil)
	if err != nil {
		return goMod{}, fmt.Errorf("parse go.work: %w", err)
	}
	m := goMod{goVersion: cmp.Or(f.Go, &modfile.Go{}).Version, replace: replaces(f.Replace)}
	for _, u := range f.Use {
		m.use = append(m.use, u.Path)
	}
	return m, nil
}

func replaces(all []*modfile.Replace) []goReplace {
	var out []goReplace
	for _, r := range all {
		out = append(out, goReplace{r.Old, r.New})
	}
	return out
}
