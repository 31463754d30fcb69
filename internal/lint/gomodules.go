package lint

import (
	"bytes"
	"context"
	"encoding/json"
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

	"github.com/precedent-dev/precedent/internal/child"
)

// goMod is a go.mod or go.work file, as the go command prints it in JSON.
type goMod struct {
	Module  struct{ Path string }
	Go      string
	Require []goVersion
	Exclude []goVersion
	Replace []goReplace
	Use     []struct{ DiskPath string }
}

// goVersion is a module. Without a version, Path may be a folder.
type goVersion struct{ Path, Version string }

type goReplace struct{ Old, New goVersion }

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
	in      *Input
	tree    string // folder of the head
	program string // the go command
	scratch string // folder for temporary files
	out     goModules
	queue   []string // folders of modules that are still to be read
	local   map[string]bool
	head    map[string]goMod // by folder
}

// mostModules limits how many modules of the tree are read for one: each takes the go
// command two times 10 ms.
const mostModules = 200

var errModules = errors.New("too many modules")

// readModules returns the module files for the module in the folder root, and for the
// workspace in the folder work, if it is not empty.
func (v *vetting) readModules(ctx context.Context, root, work string) (*goModules, error) {
	r := &moduleReader{
		in: v.in, tree: v.tree, program: goProgram(v.env.Path), scratch: v.scratch, queue: []string{root},
		out: goModules{files: map[string]string{}}, local: map[string]bool{}, head: map[string]goMod{},
	}
	vendored := r.has(path.Join(root, "vendor/modules.txt"))
	if work != "" {
		if err := r.readWork(ctx, work); err != nil {
			return nil, err
		}
		vendored = vendored || r.has(path.Join(work, "vendor/modules.txt"))
	}
	for n := 0; len(r.queue) > 0; n++ {
		if n == mostModules {
			return nil, errModules
		}
		next := r.queue[0]
		r.queue = r.queue[1:]
		if err := r.readModule(ctx, next); err != nil {
			return nil, err
		}
	}
	for dir := range r.head {
		if err := r.write(ctx, dir, vendored); err != nil {
			return nil, err
		}
	}
	slices.Sort(r.out.withheld)
	r.out.withheld = slices.Compact(r.out.withheld)
	return &r.out, nil
}

// readModule reads the head's go.mod in a folder of the tree, and queues the modules of
// the tree that replace others in it.
func (r *moduleReader) readModule(ctx context.Context, dir string) error {
	if _, ok := r.head[dir]; ok || !r.has(path.Join(dir, "go.mod")) {
		return nil
	}
	m, err := r.parse(ctx, "mod", readInTree(r.tree, path.Join(dir, "go.mod")))
	if err != nil {
		return err
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

// readWork reads the workspace of the head, and writes one that only uses folders of
// the tree.
func (r *moduleReader) readWork(ctx context.Context, dir string) error {
	name := path.Join(dir, "go.work")
	m, err := r.parse(ctx, "work", readInTree(r.tree, name))
	if err != nil {
		return err
	}
	base, err := r.atBase(ctx, "work", name)
	if err != nil {
		return err
	}
	var b strings.Builder
	writeLine(&b, "go", m.Go)
	for _, u := range m.Use {
		if to, ok := inTree(dir, goVersion{Path: u.DiskPath}); ok {
			r.queue = append(r.queue, to)
			writeLine(&b, "use", u.DiskPath)
		}
	}
	writeReplaces(&b, dir, m, base)
	r.out.files[name] = b.String()
	return r.writeSum(name + ".sum")
}

// write writes the go.mod and go.sum files of a module. If the modules are vendored,
// they are in the tree, and the file may require all that the head requires.
func (r *moduleReader) write(ctx context.Context, dir string, vendored bool) error {
	name := path.Join(dir, "go.mod")
	head := r.head[dir]
	base, err := r.atBase(ctx, "mod", name)
	if err != nil {
		return err
	}
	versions := map[string]string{}
	if vendored {
		base.Require = head.Require
	}
	for _, m := range base.Require {
		versions[m.Path] = m.Version
	}
	for _, m := range head.Require {
		switch version, ok := versions[m.Path]; {
		case !ok && r.local[m.Path]:
			versions[m.Path] = m.Version
		case version != m.Version:
			r.out.withheld = append(r.out.withheld, m.Path)
		}
	}
	for _, re := range head.Replace {
		if _, ok := inTree(dir, re.New); !ok && !slices.Contains(base.Replace, re) {
			r.out.withheld = append(r.out.withheld, re.Old.Path)
		}
	}
	var b strings.Builder
	writeLine(&b, "module", head.Module.Path)
	writeLine(&b, "go", head.Go)
	for _, p := range slices.Sorted(maps.Keys(versions)) {
		writeLine(&b, "require", p, versions[p])
	}
	for _, m := range base.Exclude {
		writeLine(&b, "exclude", m.Path, m.Version)
	}
	writeReplaces(&b, dir, head, base)
	r.out.files[name] = b.String()
	return r.writeSum(path.Join(dir, "go.sum"))
}

// writeReplaces writes the head's replacements by folders of the tree, and the base's
// by folders of the tree and by other modules.
func writeReplaces(b *strings.Builder, dir string, head, base goMod) {
	written := map[goVersion]bool{}
	write := func(re goReplace) {
		if !written[re.Old] {
			written[re.Old] = true
			args := []string{"replace", re.Old.Path, re.Old.Version, "=>", re.New.Path, re.New.Version}
			writeLine(b, slices.DeleteFunc(args, func(s string) bool { return s == "" })...)
		}
	}
	for _, re := range head.Replace {
		if _, ok := inTree(dir, re.New); ok {
			write(re)
		}
	}
	for _, re := range base.Replace {
		if _, ok := inTree(dir, re.New); ok || re.New.Version != "" {
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
func inTree(dir string, to goVersion) (folder string, ok bool) {
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

func (r *moduleReader) atBase(ctx context.Context, kind, name string) (goMod, error) {
	data, err := r.readBase(name)
	if err != nil || data == nil {
		return goMod{}, err
	}
	return r.parse(ctx, kind, data)
}

// parse lets the go command parse a file, so that both read the same. It reads nothing
// else.
func (r *moduleReader) parse(ctx context.Context, kind string, data []byte) (goMod, error) {
	var m goMod
	file := filepath.Join(r.scratch, "go."+kind)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return m, err
	}
	defer os.Remove(file)
	env := append(goSettings(r.scratch, r.scratch), "PATH="+absolute(r.in.Go.Path), "HOME="+r.scratch, "GOWORK=off")
	const most = 16 << 20
	res, err := child.Run(ctx, child.Program{Path: r.program, Args: []string{kind, "edit", "-json", file}, Dir: r.scratch, Env: env, Most: most})
	if err == nil {
		err = res.Err
	}
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(res.Output)).Decode(&m)
	}
	if err != nil {
		return m, fmt.Errorf("parse go.%s: %w", kind, err)
	}
	return m, nil
}
