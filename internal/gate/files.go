package gate

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of what is looked at for dependencies.
const (
	maxManifest = 16 << 20 // bytes of one file
	maxProjects = 8        // folders of one language that are fetched for
	maxVisited  = 100_000  // files of a tree
)

// elsewhereDirs are folders whose files are not about the tree's own build.
var elsewhereDirs = []string{"vendor", "testdata", "node_modules", "fixtures", "examples", "example", "third_party", "target", "docs", "doc"}

// find returns the folders that have regular files of the names, the outermost first.
func (s *session) find(names []string) map[string][]string {
	if s.folders == nil {
		s.folders = map[string][]string{}
		var all []string
		for _, l := range languages() {
			all = append(all, l.files...)
		}
		walkTree(s.Tree, func(dir, base string) {
			if slices.Contains(all, base) && len(s.folders[base]) < maxMembers {
				s.folders[base] = append(s.folders[base], dir)
			}
		})
	}
	found := map[string][]string{}
	for _, name := range names {
		if dirs := s.folders[name]; dirs != nil {
			found[name] = dirs
		}
	}
	return found
}

// walkTree visits the regular files of a tree which may belong to its build.
func walkTree(tree string, visit func(dir, base string)) {
	visited := 0
	_ = filepath.WalkDir(tree, func(name string, d fs.DirEntry, err error) error {
		if visited++; err != nil || visited > maxVisited {
			return fs.SkipAll
		}
		if base := d.Name(); d.IsDir() && name != tree && (slices.Contains(elsewhereDirs, base) || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
			return fs.SkipDir
		}
		if rel, err := filepath.Rel(tree, filepath.Dir(name)); err == nil && d.Type().IsRegular() {
			visit(filepath.ToSlash(rel), d.Name())
		}
		return nil
	})
}

// exists reports whether the tree has a file or folder.
func (s *session) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(s.Tree, filepath.FromSlash(name)))
	return err == nil
}

// has reports whether the tree has a regular file.
func (s *session) has(name string) bool {
	info, err := os.Lstat(filepath.Join(s.Tree, filepath.FromSlash(name)))
	return err == nil && info.Mode().IsRegular()
}

// head reads a regular file of the tree, nil if there is none. Links are not followed out of
// the tree.
func (s *session) head(name string) []byte {
	name = filepath.FromSlash(path.Clean(name))
	if !filepath.IsLocal(name) {
		return nil
	}
	root, err := os.OpenRoot(s.Tree)
	if err != nil {
		return nil
	}
	defer root.Close()
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxManifest {
		return nil
	}
	data, err := root.ReadFile(name)
	if err != nil {
		return nil
	}
	return data
}

// atBase reads a file of the base, nil if there is none.
func (s *session) atBase(name string) []byte {
	name = path.Clean(name)
	if s.Read == nil || !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil
	}
	data, err := s.Read(name)
	if err != nil || len(data) > maxManifest {
		return nil
	}
	return data
}
