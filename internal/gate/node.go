package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent/internal/sandbox"
)

// packagesAt is where a box has the packages of npm, pnpm and yarn, below it a folder for each project.
const packagesAt = "/dependencies/node"

// packageFile is what counts of a package.json.
type packageFile struct {
	Manager      string            `json:"packageManager"`
	Dependencies map[string]string `json:"dependencies"`
	Dev          map[string]string `json:"devDependencies"`
	Optional     map[string]string `json:"optionalDependencies"`
	Peer         map[string]string `json:"peerDependencies"`
	Workspaces   json.RawMessage   `json:"workspaces"`
}

func (p packageFile) needsNothing() bool {
	return len(p.Dependencies)+len(p.Dev)+len(p.Optional)+len(p.Peer) == 0 && len(p.Workspaces) == 0
}

// lock is what a lock file of a package manager lists.
type lock struct {
	archives  map[string]archive // by their paths on the registry
	manifests []string           // the other files that the manager reads, relative to the project
	env       []string           // what the manager has to know
}

// nodeManager is a package manager that is given a lock file.
type nodeManager struct {
	name   string
	file   string // its lock file
	read   func(data []byte, registry string) (lock, error)
	script string // after it, the project has its node_modules
	berry  bool   // yarn 2 or newer
}

// nodeManagers are in the order in which they count if a project has several lock files.
func nodeManagers() []nodeManager {
	return []nodeManager{
		{name: "pnpm", file: "pnpm-lock.yaml", read: readPnpmLock, script: pnpmInstall},
		{name: "yarn", file: "yarn.lock", read: readYarnLock, script: yarnInstall},
		{name: "npm", file: "package-lock.json", read: readNPMLock, script: npmInstall},
	}
}

// Installs without the scripts of packages. What they print is not part of the result. They check each
// archive against the lock file, as the fetcher has done where it can.
const (
	npmInstall  = "npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error --fetch-retries=0 --replace-registry-host=never --registry=" + registryIs + "/ >&2\n"
	pnpmInstall = "pnpm install --frozen-lockfile --ignore-scripts --ignore-pnpmfile --reporter=append-only --store-dir=/tmp/store --fetch-retries=0 --registry=" + registryIs + "/ " +
		"--config.manage-package-manager-versions=false --config.package-manager-strict=false --config.minimum-release-age=0 --config.package-import-method=copy >&2\n"
	yarnInstall = "yarn install --frozen-lockfile --ignore-scripts --ignore-engines --non-interactive --no-progress --no-default-rc --cache-folder /tmp/archives --registry " + registryIs + " >&2\n"
	yarnBerry   = "yarn install --immutable --mode=skip-build >&2\n"
	// packNode writes what was installed to standard output.
	packNode = "mkdir -p node_modules\n(find . -name node_modules -type d -prune -print; if test -e .yarn/install-state.gz; then echo .yarn/install-state.gz; fi) | tar -cf - -T -\n"
)

// fetchNode prepares the packages of the projects of npm, pnpm and yarn: those folders that have
// one of their lock files, and the top folder.
func (s *session) fetchNode(ctx context.Context, l language) []dependencies {
	files := []string{"package.json"}
	for _, m := range nodeManagers() {
		files = append(files, m.file)
	}
	found := s.find(files)
	var locked []string
	for _, f := range files[1:] {
		locked = append(locked, found[f]...)
	}
	dirs := locked
	for _, dir := range found["package.json"] {
		if !slices.ContainsFunc(locked, func(of string) bool { return isBelow(dir, of) }) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	var all []dependencies
	for i, dir := range dirs {
		d := l.in(dir)
		if i >= maxProjects {
			d.missing = fmt.Sprintf("not fetched: more than %d projects", maxProjects)
			return append(all, d)
		}
		if s.fetchProject(ctx, &d, dir, packagesAt+"/"+strconv.Itoa(i)) {
			all = append(all, d)
		}
	}
	return all
}

// fetchProject prepares the packages of one project. It reports whether the project needs any.
func (s *session) fetchProject(ctx context.Context, d *dependencies, dir, at string) bool {
	var wanted packageFile
	if err := json.Unmarshal(s.head(path.Join(dir, "package.json")), &wanted); err == nil && wanted.needsNothing() {
		return false
	}
	if info, err := os.Lstat(filepath.Join(s.Tree, filepath.FromSlash(dir), "node_modules")); err == nil && info.IsDir() {
		return true
	}
	m, c, err := s.chooseManager(dir)
	if err == nil {
		err = s.mayFetch(s.NPMRegistry)
	}
	if err == nil {
		m, err = s.installed(m, c.data)
	}
	if err != nil {
		d.fail(err)
		return true
	}
	kept, err := s.keepProject(ctx, m, dir, c)
	if err != nil {
		d.fail(fmt.Errorf("%s: %w", m.name, err))
		return true
	}
	d.say("packages", c)
	d.env = commandEnv[m.name]
	d.mounts = []sandbox.Mount{{Source: kept, Target: at}}
	// The folders are the command's own, because tools keep caches in them.
	d.prelude = fmt.Sprintf("(cd %s && sh %s/link.sh %s) 2>/dev/null\n", quoted(dir), at, at)
	return true
}

// commandEnv is what a command needs so that its package manager neither fetches nor installs.
var commandEnv = map[string][]string{
	"pnpm": {"npm_config_manage_package_manager_versions=false", "npm_config_package_manager_strict=false", "npm_config_verify_deps_before_run=false"},
	"yarn": {"YARN_IGNORE_PATH=1", "YARN_NODE_LINKER=node-modules", "YARN_ENABLE_NETWORK=0", "YARN_ENABLE_TELEMETRY=0", "YARN_ENABLE_GLOBAL_CACHE=false"},
}

// chooseManager finds the package manager of a project and its lock file: of the base, or of the
// change if it may choose.
func (s *session) chooseManager(dir string) (nodeManager, choice, error) {
	all := nodeManagers()
	var p packageFile
	if json.Unmarshal(s.atBase(path.Join(dir, "package.json")), &p) == nil {
		name, _, _ := strings.Cut(p.Manager, "@")
		slices.SortStableFunc(all, func(a, b nodeManager) int {
			return strings.Compare(strconv.FormatBool(b.name == name), strconv.FormatBool(a.name == name))
		})
	}
	for _, m := range all {
		if c := s.choose(path.Join(dir, m.file)); c.data != nil {
			return m, c, nil
		}
	}
	return nodeManager{}, choice{}, errors.New("there is no package-lock.json, pnpm-lock.yaml or yarn.lock at the base")
}

// installed checks that the server has the package manager in the version that the lock file needs.
func (s *session) installed(m nodeManager, data []byte) (nodeManager, error) {
	have, ok := s.manager(m.name)
	if !ok {
		return m, fmt.Errorf("%s is not installed on the server", m.name)
	}
	if m.name != "yarn" {
		return m, nil
	}
	m.berry = isBerryLock(data)
	if m.berry {
		m.read, m.script = readBerryLock, yarnBerry
	}
	if have.classic == m.berry {
		return m, fmt.Errorf("the server has yarn %s, and yarn.lock is of another", have.version)
	}
	return m, nil
}

// keepProject returns the folder with the packages of a project, which it fetches if it has to.
func (s *session) keepProject(ctx context.Context, m nodeManager, dir string, c choice) (string, error) {
	l, err := m.read(c.data, s.NPMRegistry)
	if err != nil {
		return "", err
	}
	r := managerRun{files: map[string][]byte{m.file: localize(c.data, s.NPMRegistry)}, program: "node", script: m.script + packNode, env: l.env}
	r.serve = func(f *fetcher) http.Handler { return f.serveArchives(l.archives) }
	manifests := append([]string{"package.json"}, l.manifests...)
	if m.name == "yarn" {
		manifests = append(manifests, s.members(dir)...)
	}
	for _, name := range manifests {
		if data := c.read(path.Join(dir, name)); data != nil {
			r.files[name] = data
		}
	}
	if r.files["package.json"] == nil {
		return "", errors.New("there is no package.json at the base")
	}
	have, _ := s.manager(m.name)
	parts := []string{"node", m.name, have.version, s.NPMRegistry, dir}
	return s.keepInstalled(ctx, c.trust, parts, r, writeLinks)
}

// members are the manifests of the folders below a project, which may be its workspaces.
func (s *session) members(dir string) []string {
	var all []string
	for _, of := range s.find([]string{"package.json"})["package.json"] {
		if rel, err := filepath.Rel(filepath.FromSlash(dir), filepath.FromSlash(of)); err == nil && of != dir && isBelow(of, dir) {
			all = append(all, path.Join(filepath.ToSlash(rel), "package.json"))
		}
	}
	return all
}

// isBelow reports whether a folder is another one, or below it.
func isBelow(dir, of string) bool { return of == "." || dir == of || strings.HasPrefix(dir, of+"/") }
