package gate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/child"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

// packagesAt is where a box has the packages of npm, below it node_modules.
const packagesAt = "/dependencies/node"

// packageFile is what counts of a package.json.
type packageFile struct {
	Dependencies         map[string]string `json:"dependencies"`
	DevDependencies      map[string]string `json:"devDependencies"`
	OptionalDependencies map[string]string `json:"optionalDependencies"`
	PeerDependencies     map[string]string `json:"peerDependencies"`
	Workspaces           json.RawMessage   `json:"workspaces"`
	Overrides            json.RawMessage   `json:"overrides"`
}

// lockFile is what counts of a package-lock.json.
type lockFile struct {
	Version  int `json:"lockfileVersion"`
	Packages map[string]struct {
		Resolved  string `json:"resolved"`
		Integrity string `json:"integrity"`
		Link      bool   `json:"link"`
		InBundle  bool   `json:"inBundle"`
	} `json:"packages"`
}

// fetchNode prepares the packages of npm. It is not ok if the tree needs none. npm runs without
// the scripts of packages, and only if the lock file pins every package to an archive of the registry
// and its hash: then npm asks no other server and runs nothing that it fetches.
func (s *session) fetchNode(ctx context.Context, d dependencies) (dependencies, bool) {
	var wanted packageFile
	if json.Unmarshal(s.head("package.json"), &wanted) == nil && len(wanted.all()) == 0 && len(wanted.Workspaces) == 0 {
		return d, false
	}
	if _, err := os.Lstat(filepath.Join(s.Tree, "node_modules")); err == nil {
		d.missing = ""
		return d, true
	}
	manifest, lock := s.atBase("package.json"), s.atBase("package-lock.json")
	differs := !bytes.Equal(lock, s.head("package-lock.json"))
	trust := Base
	if differs && s.fromHead() {
		manifest, lock, trust = s.head("package.json"), s.head("package-lock.json"), s.Trust
	}
	program := findProgram("npm", s.Path)
	switch {
	case s.Policy.Dependencies == precedent.DependenciesOff:
		d.missing = "the policy turns them off"
	case s.CacheDir == "" || s.NPMRegistry == "" || program == "":
		d.missing = "not fetched"
	case lock == nil || manifest == nil:
		d.missing = "not fetched: there is no package-lock.json at the base"
	default:
		if err := checkLock(manifest, lock, s.NPMRegistry); err != nil {
			d.missing = "not fetched: " + err.Error()
			return d, true
		}
		dir := filepath.Join(s.keptDir("dependencies", s.Repo, trust), keyOf("node", s.NPMRegistry, string(manifest), string(lock)))
		if !findKept(dir) {
			if err := keep(dir, func(to string) error { return s.installPackages(ctx, to, manifest, lock) }); err != nil {
				d.missing = "not fetched: " + err.Error()
				return d, true
			}
		}
		d.done, d.missing = "packages as of the base", ""
		if trust != Base {
			d.done = "packages as of the change"
		} else if differs {
			d.missing = "those that the change adds are not fetched"
		}
		d.mounts = []sandbox.Mount{{Source: dir, Target: packagesAt}}
		// The folder is the command's own, because tools keep caches in it.
		d.prelude = "mkdir -p node_modules && ln -s " + packagesAt + "/node_modules/* " + packagesAt + "/node_modules/.bin node_modules/ 2>/dev/null\n"
	}
	return d, true
}

// all are the versions of all packages that are asked for, by name.
func (p packageFile) all() map[string]string {
	all := map[string]string{}
	for _, list := range []map[string]string{p.PeerDependencies, p.OptionalDependencies, p.DevDependencies, p.Dependencies} {
		maps.Copy(all, list)
	}
	return all
}

// Versions of the registry; anything else names a server, a folder or a git repository.
var plainVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w.^~<>=| *+-]*$`) })

// checkLock returns an error unless all packages come from the registry with a hash.
func checkLock(manifest, lock []byte, registry string) error {
	var p packageFile
	var l lockFile
	if err := errors.Join(json.Unmarshal(manifest, &p), json.Unmarshal(lock, &l)); err != nil {
		return errors.New("package.json or package-lock.json is invalid")
	}
	const oldest = 2
	if l.Version < oldest {
		return errors.New("package-lock.json is too old")
	}
	if len(p.Workspaces) > 0 || len(p.Overrides) > 0 {
		return errors.New("package.json has workspaces or overrides")
	}
	for name, version := range p.all() {
		if !plainVersion().MatchString(version) {
			return fmt.Errorf("%.60q is not a version of the registry", name)
		}
	}
	for name, one := range l.Packages {
		if name == "" || one.InBundle {
			continue
		}
		local := strings.HasPrefix(name, "node_modules/") && filepath.IsLocal(filepath.FromSlash(name)) && !one.Link
		if !local || !strings.HasPrefix(one.Resolved, strings.TrimSuffix(registry, "/")+"/") || !strings.HasPrefix(one.Integrity, "sha") {
			return fmt.Errorf("%.60q is not an archive of the registry with a hash", name)
		}
	}
	return nil
}

// installPackages lets npm unpack the packages of a lock file into a folder.
func (s *session) installPackages(ctx context.Context, to string, manifest, lock []byte) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	scratch, err := os.MkdirTemp("", "precedent-fetch-")
	if err != nil {
		return err
	}
	defer removeKept(scratch)
	for name, data := range map[string][]byte{"package.json": manifest, "package-lock.json": lock} {
		if err := os.WriteFile(filepath.Join(to, name), data, 0o600); err != nil {
			return err
		}
	}
	program := findProgram("npm", s.Path)
	node := findProgram("node", s.Path)
	args := []string{
		program, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error", "--registry=" + s.NPMRegistry,
		"--userconfig=" + filepath.Join(scratch, "user"), "--globalconfig=" + filepath.Join(scratch, "global"), "--cache=" + filepath.Join(scratch, "cache"),
	}
	env := []string{"PATH=" + filepath.Dir(cmp.Or(node, program)) + ":/usr/bin:/bin", "HOME=" + scratch, "TMPDIR=" + scratch, "CI=true"}
	res, err := child.Run(ctx, child.Program{Path: cmp.Or(node, program), Args: args, Dir: to, Env: env, Most: 1 << 20})
	if err == nil {
		err = res.Err
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(to, "node_modules", ".bin"), 0o755) //nolint:gosec // the sandbox may have a user of its own
	}
	if err != nil {
		return fmt.Errorf("npm ci failed: %w", err)
	}
	return errors.Join(os.Remove(filepath.Join(to, "package.json")), os.Remove(filepath.Join(to, "package-lock.json")))
}
