package gate

import (
	"bytes"
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
	"github.com/precedent-dev/precedent/internal/text"
)

// packagesAt is where a sandbox has the packages of npm, pnpm and yarn, below it a folder for each project.
const packagesAt = "/dependencies/node"

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

// nodeManager is a package manager that is given a lock file.
type nodeManager struct {
	name, file string   // the manager, and its lock file
	install    string   // after it, the project has its node_modules
	fetchEnv   []string // what the manager gets while it installs
	env        []string // what a command gets so that the manager neither fetches nor installs
	berry      bool     // yarn 2 or newer
}

// nodeManagers are in the order in which they count if a project has several lock files. They install without
// the scripts of packages and without hooks of the tree, which a sandbox has not. What they print is not part
// of the result. They check each archive against the lock file, as the fetcher does where it can.
var nodeManagers = []nodeManager{
	{
		name: "pnpm", file: "pnpm-lock.yaml",
		install: "pnpm install --frozen-lockfile --ignore-scripts --ignore-pnpmfile --reporter=append-only " +
			"--store-dir=/tmp/store --fetch-retries=0 --registry=" + registryIs + "/ " +
			"--config.manage-package-manager-versions=false " +
			"--config.package-manager-strict=false --config.minimum-release-age=0 --config.package-import-method=copy >&2\n",
		env: []string{
			"npm_config_manage_package_manager_versions=false", "npm_config_package_manager_strict=false",
			"npm_config_verify_deps_before_run=false",
		},
	},
	{
		name: "yarn", file: "yarn.lock",
		install: "yarn install --frozen-lockfile --ignore-scripts --ignore-engines --non-interactive --no-progress " +
			"--no-default-rc --cache-folder /tmp/archives --registry " + registryIs + " >&2\n",
		env: []string{
			"YARN_IGNORE_PATH=1", "YARN_NODE_LINKER=node-modules", "YARN_ENABLE_NETWORK=0", "YARN_ENABLE_TELEMETRY=0",
			"YARN_ENABLE_GLOBAL_CACHE=false",
		},
	},
	{
		name: "npm", file: "package-lock.json",
		install: "npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error --fetch-retries=0 " +
			"--replace-registry-host=never --registry=" + registryIs + "/ >&2\n",
	},
}

// berryEnv is what yarn 2 and newer gets while it installs, besides the level of compression, of
// which the hashes in its lock file depend.
var berryEnv = []string{
	"YARN_NPM_REGISTRY_SERVER=" + registryIs, "YARN_UNSAFE_HTTP_WHITELIST=127.0.0.1", "YARN_ENABLE_SCRIPTS=false",
	"YARN_ENABLE_TELEMETRY=false", "YARN_ENABLE_GLOBAL_CACHE=false", "YARN_CACHE_FOLDER=/tmp/archives",
	"YARN_NODE_LINKER=node-modules", "YARN_CHECKSUM_BEHAVIOR=throw", "YARN_ENABLE_HARDENED_MODE=false",
	"YARN_ENABLE_PROGRESS_BARS=false", "YARN_HTTP_RETRY=0",
}

// packNode writes what was installed to standard output.
const packNode = "mkdir -p node_modules\n(find . -name node_modules -type d -prune -print; " +
	"if test -e .yarn/install-state.gz; then echo .yarn/install-state.gz; fi) | tar -cf - -T -\n"

// linkPackages gives the folders of a project the packages of the kept folder at: each package in a folder node_modules
// becomes a link, and one that is a workspace a link to the folder of the tree.
const linkPackages = `fill() { mkdir -p "$2"; find "$1" -mindepth 1 -maxdepth 1 -exec sh -c 'ln -s "$@" "$0"' "$2" {} +; }
(cd "$at" && find . -name node_modules -type d -prune) | while read -r dir; do
	test -d "${dir%node_modules}" || continue
	fill "$at/$dir" "$dir"
	for scope in "$at/$dir"/@*; do
		test -d "$scope" && rm "$dir/${scope##*/}" && fill "$scope" "$dir/${scope##*/}"
	done
	(cd "$at/$dir" && find . -maxdepth 2 -type l ! -path './.*') | while read -r link; do
		case "$(readlink -f "$at/$dir/$link")" in
		*/node_modules/*) ;;
		*) ln -sfn "$(readlink "$at/$dir/$link")" "$dir/$link" ;;
		esac
	done
done
if test -e "$at/.yarn/install-state.gz"; then mkdir -p .yarn && cp "$at/.yarn/install-state.gz" .yarn/; fi
`

// fetchNode prepares the packages of the projects of npm, pnpm and yarn: those folders that have
// one of their lock files, and the top folder.
func (s *session) fetchNode(ctx context.Context, l language) []dependencies {
	var dirs []string
	for _, m := range nodeManagers {
		dirs = append(dirs, s.find(m.file)[m.file]...)
	}
	locked := slices.Clone(dirs)
	for _, dir := range s.find("package.json")["package.json"] {
		if !slices.ContainsFunc(locked, func(of string) bool { return isBelow(dir, of) }) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	var all []dependencies
	for i, dir := range slices.Compact(dirs) {
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
	if info, err := os.Lstat(filepath.Join(s.Tree, filepath.FromSlash(dir), "node_modules")); err == nil &&
		info.IsDir() {
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
	d.env = m.env
	d.mounts = []sandbox.Mount{{Source: kept, Target: at}}
	// The folders are the command's own, because tools keep caches in them.
	d.prelude = fmt.Sprintf("(cd %s || exit; at=%s\n%s) 2>/dev/null\n", text.ShellQuoted(dir), at, linkPackages)
	return true
}

// chooseManager finds the package manager of a project and its lock file: of the base, or of the
// change if it may choose.
func (s *session) chooseManager(dir string) (nodeManager, choice, error) {
	all := slices.Clone(nodeManagers)
	var p packageFile
	if json.Unmarshal(s.atBase(path.Join(dir, "package.json")), &p) == nil {
		name, _, _ := strings.Cut(p.Manager, "@")
		if i := slices.IndexFunc(all, func(m nodeManager) bool { return m.name == name }); i > 0 {
			all[0], all[i] = all[i], all[0]
		}
	}
	for _, m := range all {
		if c := s.choose(path.Join(dir, m.file)); c.data != nil {
			return m, c, nil
		}
	}
	return nodeManager{}, choice{}, errors.New("there is no package-lock.json, pnpm-lock.yaml or yarn.lock at the base")
}

// cacheKey matches the level of compression in a lock file of yarn 2 or newer.
var cacheKey = text.Pattern(`(?m)^  cacheKey: ['"]?\d+(?:c(\w+))?`)

// installed checks that the server has the package manager in the version that the lock file needs.
func (s *session) installed(m nodeManager, lock []byte) (nodeManager, error) {
	have, ok := s.manager(m.name)
	if !ok {
		return m, fmt.Errorf("%s is not installed on the server", m.name)
	}
	if m.name != "yarn" {
		return m, nil
	}
	if m.berry = bytes.Contains(lock, []byte("\n__metadata:\n")); m.berry {
		level := "mixed"
		if k := cacheKey().FindSubmatch(lock); k != nil && len(k[1]) > 0 {
			level = string(k[1])
		}
		m.install = "yarn install --immutable --mode=skip-build >&2\n"
		m.fetchEnv = append(slices.Clone(berryEnv), "YARN_COMPRESSION_LEVEL="+level)
	}
	if have.classic == m.berry {
		return m, fmt.Errorf("the server has yarn %s, and yarn.lock is of another", have.version)
	}
	return m, nil
}

var patchFile = text.Pattern(`[\w@./+~-]+\.patch\b`)

// keepProject returns the folder with the packages of a project, which it fetches if it has to.
func (s *session) keepProject(ctx context.Context, m nodeManager, dir string, c choice) (string, error) {
	r := managerRun{
		files:   map[string][]byte{m.file: localize(c.data, s.NPMRegistry)},
		program: "node", script: m.install + packNode, env: m.fetchEnv,
		serve: func(f *fetcher) http.Handler {
			locked := string(c.data)
			if m.berry { // it has no hashes of archives, but of what yarn makes of them
				locked = ""
			}
			return f.serveRegistry(s.NPMRegistry, locked)
		},
	}
	names := append([]string{"package.json", "pnpm-workspace.yaml"},
		patchFile().FindAllString(string(c.data), maxMembers)...)
	for _, of := range s.folders()["package.json"] { // they may be workspaces
		if rel, err := filepath.Rel(filepath.FromSlash(dir), filepath.FromSlash(of)); err == nil && of != dir &&
			isBelow(of, dir) {
			names = append(names, path.Join(filepath.ToSlash(rel), "package.json"))
		}
	}
	for _, name := range names {
		if data := c.read(path.Join(dir, name)); data != nil && filepath.IsLocal(filepath.FromSlash(name)) {
			r.files[name] = data
		}
	}
	if r.files["package.json"] == nil {
		return "", errors.New("there is no package.json at the base")
	}
	have, _ := s.manager(m.name)
	return s.keepInstalled(ctx, c.trust, []string{"node", m.name, have.version, s.NPMRegistry, dir}, r)
}

// isBelow reports whether a folder is another one, or below it.
func isBelow(dir, of string) bool { return of == "." || dir == of || strings.HasPrefix(dir, of+"/") }

// localize gives the addresses of the registry in a lock file the form that they have in the sandbox:
// of the operator's, and of the public one, whose place it takes.
func localize(data []byte, registry string) []byte {
	var pairs []string
	for _, from := range []string{registry, "https://registry.npmjs.org", "https://registry.yarnpkg.com"} {
		pairs = append(pairs, strings.TrimSuffix(from, "/")+"/", registryIs+"/")
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(data)))
}

// serveRegistry passes on archives of a registry whose hash is in the locked text, which is a lock
// file; all archives, if it is empty. So it does not matter by which name or address something asks.
func (f *fetcher) serveRegistry(registry, locked string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := r.URL.Path
		if path.Clean(p) != p || r.Method != http.MethodGet || r.URL.RawQuery != "" ||
			locked == "" && path.Ext(p) != ".tgz" {
			http.Error(w, "not an archive of the registry", http.StatusNotFound)
			return
		}
		f.answer(w, r, archive{below(registry, p), locked})
	})
}
