package gate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/precedent-dev/precedent/internal/sandbox"
)

// managersAt is a folder of links in a sandbox, to the package managers that lie outside of the toolchains.
const managersAt = sandbox.Home + "/.precedent/bin"

// manager is a package manager that is a package of npm.
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
			known := map[string]bool{
				"npm": true, "pnpm": true, "@pnpm/exe": true,
				"yarn": true, "@yarnpkg/cli-dist": true,
			}
			return root, p.Version, known[p.Name]
		}
		root = filepath.Dir(root)
	}
	return "", "", false
}

// manager is a package manager that the server has.
func (s *session) manager(name string) (manager, bool) {
	for _, m := range s.managers {
		if m.name == name {
			return m, true
		}
	}
	return manager{}, false
}

// managerLinks is what a shell does so that it finds the package managers.
func (s *session) managerLinks() string {
	all := ""
	for _, m := range s.managers {
		all += " && ln -sf " + quoted(m.file) + " " + managersAt + "/" + m.name
	}
	if all != "" {
		all = "mkdir -p " + managersAt + all + "\n"
	}
	return all
}
