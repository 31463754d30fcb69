package gate

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/text"
)

// writeLinks writes link.sh, which gives a tree the packages of a kept folder, whose path in the sandbox is
// its argument: each package in a folder node_modules becomes a link. The packages that are
// workspaces become links to the folders of the tree.
func writeLinks(dir string) error {
	var script strings.Builder
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || d.Name() != "node_modules" {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		at := filepath.ToSlash(rel)
		fmt.Fprintf(&script, "if test -d %s; then\n", text.ShellQuoted(path.Dir(at)))
		if err := linkEntries(&script, name, at); err != nil {
			return err
		}
		script.WriteString("fi\n")
		return fs.SkipDir
	})
	if err != nil {
		return err
	}
	script.WriteString(
		"if test -e \"$1\"/.yarn/install-state.gz; then mkdir -p .yarn && cp \"$1\"/.yarn/install-state.gz .yarn/; fi\n",
	)
	return os.WriteFile(filepath.Join(dir, "link.sh"), []byte(script.String()), 0o600)
}

// linkEntries writes the commands for the entries of one folder.
func linkEntries(script *strings.Builder, dir, at string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(script, "mkdir -p %s\n", text.ShellQuoted(at))
	var words []string
	for _, e := range entries {
		name := path.Join(at, e.Name())
		to, _ := os.Readlink(filepath.Join(dir, e.Name()))
		switch {
		case e.IsDir() && strings.HasPrefix(e.Name(), "@"):
			if err := linkEntries(script, filepath.Join(dir, e.Name()), name); err != nil {
				return err
			}
		case to != "" && !strings.Contains("/"+path.Join(path.Dir(name), filepath.ToSlash(to))+"/", "/node_modules/"):
			fmt.Fprintf(script, "ln -s %s %s\n", text.ShellQuoted(filepath.ToSlash(to)), text.ShellQuoted(name))
		default:
			words = append(words, `"$1"/`+text.ShellQuoted(name))
		}
	}
	for some := range slices.Chunk(words, 100) {
		fmt.Fprintf(script, "ln -s %s %s/\n", strings.Join(some, " "), text.ShellQuoted(at))
	}
	return nil
}
