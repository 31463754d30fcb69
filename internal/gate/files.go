package gate

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Limits of what is looked at for dependencies.
const (
	maxManifest = 16 << 20 // bytes of one file
	maxProjects = 8        // folders of one language that are fetched for
	maxMembers  = 500      // folders with files of one name
	maxVisited  = 100_000  // files of a tree
)

// Folders whose files are not those of the tree's authors, and folders whose files are not about
// the tree's own build.
var (
	foreignDirs   = []string{"vendor", "testdata", "node_modules"}
	elsewhereDirs = []string{"fixtures", "examples", "example", "third_party", "target", "docs", "doc"}
)

// find returns the folders of the tree's own build that have regular files of the names, the outermost first.
func (s *session) find(names ...string) map[string][]string {
	found := map[string][]string{}
	for _, name := range names {
		for _, dir := range s.folders()[name] {
			elsewhere := func(part string) bool { return slices.Contains(elsewhereDirs, part) }
			if !slices.ContainsFunc(strings.Split(dir, "/"), elsewhere) {
				found[name] = append(found[name], dir)
			}
		}
	}
	return found
}

// findFolders returns the folders of a tree that have regular files about dependencies, by the
// names of these files.
func findFolders(tree string) map[string][]string {
	var known []string
	for _, l := range languages() {
		known = append(known, l.files...)
	}
	found := map[string][]string{}
	visited := 0
	_ = filepath.WalkDir(tree, func(name string, d fs.DirEntry, err error) error {
		if visited++; err != nil || visited > maxVisited {
			return fs.SkipAll
		}
		base := d.Name()
		if d.IsDir() && name != tree &&
			(slices.Contains(foreignDirs, base) || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(tree, filepath.Dir(name))
		if err == nil && d.Type().IsRegular() && slices.Contains(known, base) && len(found[base]) < maxMembers {
			found[base] = append(found[base], filepath.ToSlash(rel))
		}
		return nil
	})
	return found
}

// folders is findFolders of the tree, once.
func (s *session) folders() map[string][]string {
	if s.found == nil {
		s.found = sync.OnceValue(func() map[string][]string { return findFolders(s.Tree) })
	}
	return s.found()
}

func (s *session) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(s.Tree, filepath.FromSlash(name)))
	return err == nil
}

// head reads a regular file of the tree, nil if there is none. Links are not followed out of the tree (T11).
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
