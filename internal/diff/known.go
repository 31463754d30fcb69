package diff

import (
	"path"
	"slices"
	"strings"
)

// Limits of the search for files of the base that are like a new one.
const (
	maxAlike     = 20  // files whose start is read for one new file
	maxAlikeRead = 500 // and for all
)

// known answers what the base already had.
type known struct {
	read  func(path string) ([]byte, error)
	list  func() ([]string, error)
	byDir map[string][]string // made on first use
	reads int
	// installed are the folders to which the installer of Python copies packages, as its records in the base and in the
	// change say.
	installed map[string]bool
}

// setInstalled sets the folders to which the change installs packages of Python, as the base did.
func (k *known) setInstalled(c *Change) {
	changed := map[string]bool{}
	for i := range c.Files {
		for _, name := range []string{c.Files[i].OldPath, c.Files[i].Path} {
			if record := path.Dir(name); path.Ext(record) == ".dist-info" {
				changed[path.Dir(record)] = true
			}
		}
	}
	k.installed = map[string]bool{}
	if len(changed) == 0 {
		return // the files of the base need not be listed
	}
	k.dir(".")
	for record := range k.byDir {
		if folder := path.Dir(record); path.Ext(record) == ".dist-info" && changed[folder] {
			k.installed[folder] = true
		}
	}
}

// isInstalled reports whether a file is in such a folder, other than the root.
func (k *known) isInstalled(name string) bool {
	for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if k.installed[dir] {
			return true
		}
	}
	return false
}

// dir returns the names of the base's files in a folder, of the folder "." at the root.
func (k *known) dir(name string) []string {
	if k.byDir == nil {
		k.byDir = map[string][]string{}
		if k.list != nil {
			paths, _ := k.list() // else nothing is known, so nothing is skipped for being like it
			for _, p := range paths {
				k.byDir[path.Dir(p)] = append(k.byDir[path.Dir(p)], p)
			}
		}
	}
	return k.byDir[name]
}

// vendored tells whether the base has third-party code in the folder of a file, or beside that folder.
func (k *known) vendored(name string) bool {
	dir := path.Dir(name)
	for _, there := range [][]string{k.dir(dir), k.dir(path.Dir(dir))} {
		if slices.ContainsFunc(there, isVendored) {
			return true
		}
	}
	return false
}

// alike tells whether the folder of a file has another of the same kind of name in the
// base for which says is true. It gets the first lines of that file.
func (k *known) alike(name string, says func(name string, top []string) bool) bool {
	n := 0
	for _, p := range k.dir(path.Dir(name)) {
		if path.Ext(p) != path.Ext(name) {
			continue
		}
		if n++; n > maxAlike || k.reads >= maxAlikeRead {
			return false
		}
		k.reads++
		b, err := k.read(p)
		if err == nil && says(p, strings.SplitAfter(string(b[:min(len(b), maxSniff)]), "\n")) {
			return true
		}
	}
	return false
}

// generator returns the name of the program that a header says wrote the file, or the
// header without digits if it names none.
func generator(header string) string {
	header = strings.ToLower(strings.TrimSpace(header))
	if m := generatedBy().FindStringSubmatch(header); m != nil {
		return m[1]
	}
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, header)
}

var generatedBy = pattern(`generated (?:automatically )?(?:by|with|using|from)(?: the)? ` +
	`["'` + "`" + `]?([a-z][a-z_./+-]*[a-z])`)
