package gate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/child"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

const (
	modulesAt  = "/dependencies/go" // the module cache in a box
	maxModules = 50                 // modules of one tree
	fetchTime  = 5 * time.Minute    // of one set of dependencies
	fetchTotal = 15 * time.Minute   // of all together
)

var errNoProxy = errors.New("no server to fetch them from")

// goModule is a module of the tree that needs others.
type goModule struct {
	dir       string // in the tree
	mod, sum  []byte
	head      []byte // go.sum of the change
	headMod   []byte
	differing bool // the change needs modules that the base does not
}

// fetchGo prepares the modules of Go, if the tree needs any. The go command downloads what the
// base's go.mod and go.sum list, and runs nothing of it. go.sum pins every byte.
func (s *session) fetchGo(ctx context.Context) (dependencies, bool) {
	d := dependencies{language: "go", users: []string{"go", "gotestsum", "ginkgo", "golangci-lint", "staticcheck", "mage"}}
	modules := s.goModules()
	if len(modules) == 0 {
		return d, false
	}
	program := ""
	for _, t := range s.tools {
		if t.name == "go" {
			program = filepath.Join(t.root, "bin", "go")
		}
	}
	switch {
	case program == "":
		return d, false // the commands say so
	case s.Policy.Dependencies == "off":
		d.missing = "the policy turns them off"
		return d, true
	case s.CacheDir == "" || s.Read == nil:
		d.missing = "not fetched"
		return d, true
	}
	differs := slices.ContainsFunc(modules, func(m goModule) bool { return m.differing })
	dir, err := s.fetchModules(ctx, program, modules, false)
	if err == nil && differs && s.Policy.Dependencies == precedent.DependenciesHead {
		dir, err = s.fetchModules(ctx, program, modules, true)
	}
	if err != nil {
		d.missing = "not fetched: " + err.Error()
		return d, true
	}
	d.env, d.mounts = []string{"GOMODCACHE=" + modulesAt}, []sandbox.Mount{{Source: dir, Target: modulesAt}}
	switch {
	case !differs:
		d.done = "modules as of the base"
	case s.Policy.Dependencies == precedent.DependenciesHead:
		d.done = "modules as of the change"
	default:
		d.done, d.missing = "modules as of the base", "those that the change adds are not fetched"
		d.added = true
	}
	return d, true
}

// goModules finds the modules of the tree that need modules which it does not hold.
func (s *session) goModules() []goModule {
	var all []goModule
	visited := 0
	_ = filepath.WalkDir(s.Tree, func(name string, d fs.DirEntry, err error) error {
		if visited++; err != nil || visited > maxVisited || len(all) == maxModules {
			return fs.SkipAll
		}
		if base := d.Name(); d.IsDir() && name != s.Tree && (base == "vendor" || base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
			return fs.SkipDir
		}
		if d.Name() != "go.mod" || !d.Type().IsRegular() {
			return nil
		}
		rel, err := filepath.Rel(s.Tree, filepath.Dir(name))
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(rel)
		if s.has(path.Join(dir, "vendor/modules.txt")) || s.has("vendor/modules.txt") {
			return nil
		}
		m := goModule{
			dir: dir, mod: s.atBase(path.Join(dir, "go.mod")), sum: s.atBase(path.Join(dir, "go.sum")),
			headMod: s.head(path.Join(dir, "go.mod")), head: s.head(path.Join(dir, "go.sum")),
		}
		m.differing = addsLines(m.sum, m.head)
		if len(m.sum) > 0 && m.mod != nil || m.differing {
			all = append(all, m)
		}
		return nil
	})
	return all
}

// addsLines reports whether the second text has a line that the first has not.
func addsLines(a, b []byte) bool {
	have := map[string]bool{"": true}
	for line := range bytes.Lines(a) {
		have[string(bytes.TrimSpace(line))] = true
	}
	for line := range bytes.Lines(b) {
		if !have[string(bytes.TrimSpace(line))] {
			return true
		}
	}
	return false
}

// fetchModules returns a module cache with what the base requires, and with added also what
// the change does. Only modules of the base are taken from the operator's cache: it may hold
// code that the authors of the change must not see.
func (s *session) fetchModules(ctx context.Context, program string, modules []goModule, added bool) (string, error) {
	trust := Base
	parts := []string{"go", s.GoProxy}
	for _, m := range modules {
		parts = append(parts, m.dir, string(m.mod), string(m.sum))
		if added {
			trust = s.Trust
			parts = append(parts, string(m.headMod), string(m.head))
		}
	}
	return s.keepAs(trust, parts, func(cache string) error {
		if added && s.GoProxy == "" {
			return errNoProxy
		}
		scratch, err := os.MkdirTemp("", "precedent-fetch-")
		if err != nil {
			return err
		}
		defer removeKept(scratch)
		f := goFetcher{program: program, cache: cache, scratch: scratch}
		if err := f.download(ctx, modules, s.baseProxies(), func(m goModule) ([]byte, []byte) { return m.mod, m.sum }); err != nil {
			return err
		}
		if added {
			if err := f.download(ctx, modules, s.GoProxy, func(m goModule) ([]byte, []byte) { return m.headMod, m.head }); err != nil {
				return err
			}
		}
		return dropArchives(cache)
	})
}

// baseProxies are where the modules of the base come from: the operator's cache, then the
// server.
func (s *session) baseProxies() string {
	var all []string
	if local := filepath.Join(s.ModCache, "cache", "download"); s.ModCache != "" && filepath.IsAbs(local) {
		if info, err := os.Stat(local); err == nil && info.IsDir() {
			all = append(all, "file://"+filepath.ToSlash(local))
		}
	}
	if s.GoProxy != "" {
		all = append(all, s.GoProxy)
	}
	return cmp.Or(strings.Join(all, ","), "off")
}

// goFetcher downloads modules. The go command sees module files in a folder of its own,
// and no other file of the tree.
type goFetcher struct{ program, cache, scratch string }

func (f goFetcher) download(ctx context.Context, modules []goModule, proxy string, files func(goModule) (mod, sum []byte)) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	root := filepath.Join(f.scratch, "tree")
	for _, m := range modules {
		mod, sum := files(m)
		dir := filepath.Join(root, filepath.FromSlash(m.dir))
		if mod == nil {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		for name, data := range map[string][]byte{"go.mod": mod, "go.sum": sum} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				return err
			}
		}
	}
	env := []string{
		"PATH=" + filepath.Dir(f.program) + ":/usr/bin:/bin", "HOME=" + f.scratch, "TMPDIR=" + f.scratch, "GOPATH=" + f.scratch, "GOMODCACHE=" + f.cache, "GOPROXY=" + proxy,
		"GOSUMDB=off", "GOTOOLCHAIN=local", "GOENV=off", "GOWORK=off", "GOTELEMETRY=off", "GOVCS=*:off", "GOFLAGS=-modcacherw", "GONOPROXY=none", "GOPRIVATE=", "GOAUTH=off",
	}
	for _, m := range modules {
		if mod, _ := files(m); mod == nil {
			continue
		}
		res, err := child.Run(ctx, child.Program{Path: f.program, Args: []string{"mod", "download"}, Dir: filepath.Join(root, filepath.FromSlash(m.dir)), Env: env, Most: 1 << 20})
		if err == nil {
			err = res.Err
		}
		if err != nil { // its words may quote a server
			return fmt.Errorf("go mod download in %s failed: %w", m.dir, err)
		}
	}
	return nil
}

// dropArchives removes the archives that the go command has unpacked.
func dropArchives(cache string) error {
	return filepath.WalkDir(filepath.Join(cache, "cache"), func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.Type().IsRegular() && (filepath.Ext(name) == ".zip" || filepath.Ext(name) == ".lock"):
			return os.Remove(name) //nolint:gosec // only this program writes there
		}
		return nil
	})
}
