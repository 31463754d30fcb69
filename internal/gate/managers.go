package gate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/sandbox"
	"github.com/precedent-dev/precedent/internal/text"
)

// managersAt is a folder of links in a sandbox, to the package managers that lie outside of the toolchains.
const managersAt = sandbox.Home + "/.precedent/bin"

type manager struct {
	name    string
	version string
	classic bool   // yarn 1
	root    string // on the host; empty if every sandbox has it
	file    string // the program in a sandbox
}

// findManagers finds the package managers of Node on a PATH. The programs of corepack do not count,
// because they fetch the package manager first.
func findManagers(path string) []manager {
	var all []manager
	for _, name := range []string{"npm", "pnpm", "yarn"} {
		program := findProgram(name, path)
		if program == "" {
			continue
		}
		root, version, ok := packageOf(program)
		if !ok {
			continue
		}
		m := manager{
			name: name, version: version, classic: name == "yarn" && strings.HasPrefix(version, "1."),
			file: program,
		}
		if !sandbox.InEverySandbox(program) {
			rel, err := filepath.Rel(root, program)
			if err != nil || !othersRead(root) {
				continue
			}
			m.root, m.file = root, "/toolchain/"+name+"/"+filepath.ToSlash(rel)
		}
		all = append(all, m)
	}
	return all
}

// packageOf finds the package of npm that a program belongs to, if it is a package manager.
func packageOf(program string) (root, version string, ok bool) {
	root = filepath.Dir(program)
	for range 3 {
		data, err := os.ReadFile(filepath.Join(root, "package.json"))
		var p struct{ Name, Version string }
		if err == nil && json.Unmarshal(data, &p) == nil && p.Name != "" {
			known := []string{"npm", "pnpm", "@pnpm/exe", "yarn", "@yarnpkg/cli-dist"}
			return root, p.Version, slices.Contains(known, p.Name)
		}
		root = filepath.Dir(root)
	}
	return "", "", false
}

func (s *session) manager(name string) (manager, bool) {
	i := slices.IndexFunc(s.managers, func(m manager) bool { return m.name == name })
	if i < 0 {
		return manager{}, false
	}
	return s.managers[i], true
}

// managerLinks is what a shell does so that it finds the package managers.
func (s *session) managerLinks() string {
	all := ""
	for _, m := range s.managers {
		all += " && ln -sf " + text.ShellQuoted(m.file) + " " + managersAt + "/" + m.name
	}
	if all != "" {
		all = "mkdir -p " + managersAt + all + "\n"
	}
	return all
}
