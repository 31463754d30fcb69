package lint

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// goModules are the module files that the go command gets for one module, instead of
// those of the head. They require what the base requires, unless the change is a local one, and name no folder
// outside of the tree, so that a stranger's change cannot choose what is read.
type goModules struct {
	files    map[string]string // contents by path in the tree
	withheld []string          // paths of modules that the head requires in other versions than the base
	sums     []byte            // go.sum of the base, of all modules together
}

// moduleReader makes goModules. Files are parsed with the parser of the go command, so that both read the same.
type moduleReader struct {
	in    *Input
	tree  string // folder of the head
	out   goModules
	queue []string // folders of modules that are still to be read
	local map[string]bool
	head  map[string]*modfile.File // by folder
}

// mostModules limits how many modules of the tree are read for one.
const mostModules = 200

var errModules = errors.New("too many modules")

// readModules returns the module files for the module in the folder root, and for the
// workspace in the folder work, if it is not empty.
func (v *vetting) readModules(root, work string) (*goModules, error) {
	r := &moduleReader{
		in: v.in, tree: v.tree, queue: []string{root}, out: goModules{files: map[string]string{}}, local: map[string]bool{},
		head: map[string]*modfile.File{},
	}
	vendored := hasFile(r.tree, path.Join(root, "vendor/modules.txt"))
	if work != "" {
		if err := r.readWork(work); err != nil {
			return nil, err
		}
		vendored = vendored || hasFile(r.tree, path.Join(work, "vendor/modules.txt"))
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
	if _, ok := r.head[dir]; ok || !hasFile(r.tree, path.Join(dir, "go.mod")) {
		return nil
	}
	m, err := modfile.Parse("go.mod", readInTree(r.tree, path.Join(dir, "go.mod")), nil)
	if err != nil {
		return fmt.Errorf("parse go.mod: %w", err)
	}
	r.head[dir] = m
	for _, re := range m.Replace {
		if to, ok := inTree(dir, re.New); ok {
			r.queue = append(r.queue, to)
			r.local[re.Old.Path] = true
		}
	}
	return nil
}

// readWork reads the workspace of the head, and writes one that only uses folders of the tree.
func (r *moduleReader) readWork(dir string) error {
	name := path.Join(dir, "go.work")
	head, err := modfile.ParseWork("go.work", readInTree(r.tree, name), nil)
	if err != nil {
		return fmt.Errorf("parse go.work: %w", err)
	}
	data, err := r.readBase(name)
	if err != nil {
		return err
	}
	base, err := modfile.ParseWork("go.work", data, nil)
	if err != nil {
		return fmt.Errorf("parse go.work: %w", err)
	}
	out := &modfile.WorkFile{Syntax: new(modfile.FileSyntax)}
	if head.Go != nil {
		err = out.AddGoStmt(head.Go.Version)
	}
	for _, u := range head.Use {
		if to, ok := inTree(dir, module.Version{Path: u.Path}); ok {
			r.queue = append(r.queue, to)
			err = errors.Join(err, out.AddUse(u.Path, ""))
		}
	}
	err = errors.Join(err, addReplaces(out.AddReplace, dir, head.Replace, base.Replace))
	r.out.files[name] = string(modfile.Format(out.Syntax))
	return errors.Join(err, r.writeSum(name+".sum"))
}

// write writes the go.mod and go.sum files of a module. If the modules are vendored, they are in the tree, and the
// file may require all that the head requires. So it may in a local change.
func (r *moduleReader) write(dir string, vendored bool) error {
	name := path.Join(dir, "go.mod")
	data, err := r.readBase(name)
	if err != nil {
		return err
	}
	base, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return fmt.Errorf("parse go.mod: %w", err)
	}
	head := r.head[dir]
	if vendored || r.in.Trusted.OwnModules {
		base.Require = head.Require
	}
	versions := map[string]string{}
	for _, m := range base.Require {
		versions[m.Mod.Path] = m.Mod.Version
	}
	for _, m := range head.Require {
		switch version, ok := versions[m.Mod.Path]; {
		case !ok && r.local[m.Mod.Path]:
			versions[m.Mod.Path] = m.Mod.Version
		case version != m.Mod.Version:
			r.out.withheld = append(r.out.withheld, m.Mod.Path)
		}
	}
	for _, re := range head.Replace {
		same := func(b *modfile.Replace) bool { return b.Old == re.Old && b.New == re.New }
		if _, ok := inTree(dir, re.New); !ok && !slices.ContainsFunc(base.Replace, same) {
			r.out.withheld = append(r.out.withheld, re.Old.Path)
		}
	}
	out := &modfile.File{Syntax: new(modfile.FileSyntax)}
	if head.Module != nil {
		err = out.AddModuleStmt(head.Module.Mod.Path)
	}
	if head.Go != nil {
		err = errors.Join(err, out.AddGoStmt(head.Go.Version))
	}
	for _, p := range slices.Sorted(maps.Keys(versions)) {
		out.AddNewRequire(p, versions[p], false)
	}
	for _, x := range base.Exclude {
		err = errors.Join(err, out.AddExclude(x.Mod.Path, x.Mod.Version))
	}
	err = errors.Join(err, addReplaces(out.AddReplace, dir, head.Replace, base.Replace))
	r.out.files[name] = string(modfile.Format(out.Syntax))
	return errors.Join(err, r.writeSum(path.Join(dir, "go.sum")))
}

// addReplaces adds the head's replacements by folders of the tree, and the base's by folders of the tree and by other
// modules.
func addReplaces(
	add func(oldPath, oldVersion, newPath, newVersion string) error, dir string, head, base []*modfile.Replace,
) error {
	added := map[module.Version]bool{}
	var err error
	for i, re := range slices.Concat(head, base) {
		_, ok := inTree(dir, re.New)
		if ofBase := i >= len(head); (ok || ofBase && re.New.Version != "") && !added[re.Old] {
			added[re.Old] = true
			err = errors.Join(err, add(re.Old.Path, re.Old.Version, re.New.Path, re.New.Version))
		}
	}
	return err
}

// writeSum writes the base's version of a go.sum file, or the head's if it chooses the modules.
func (r *moduleReader) writeSum(name string) error {
	data, err := r.readBase(name)
	if err != nil {
		return err
	}
	if r.in.Trusted.OwnModules {
		data = readInTree(r.tree, name)
	}
	r.out.files[name] = string(data)
	r.out.sums = append(append(r.out.sums, data...), '\n')
	return nil
}

// inTree returns the folder in the tree that a module file in the folder dir names;
// ok is false if it names a version of a module, or a folder outside of the tree.
func inTree(dir string, to module.Version) (folder string, ok bool) {
	local := filepath.FromSlash(to.Path)
	if to.Version != "" || to.Path == "" || path.IsAbs(to.Path) || filepath.IsAbs(local) ||
		strings.ContainsAny(to.Path, "\\:") {
		return "", false
	}
	folder = path.Join(dir, to.Path)
	return folder, filepath.IsLocal(filepath.FromSlash(folder))
}

// hasFile reports whether a tree has a regular file.
func hasFile(tree, name string) bool {
	info, err := os.Lstat(filepath.Join(tree, filepath.FromSlash(name)))
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
