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
	modulesAt  = "/dependencies/go" // the module cache in a sandbox
	maxModules = 50                 // modules of one tree
	fetchTime  = 5 * time.Minute    // of one set of dependencies
	fetchTotal = 15 * time.Minute   // of all together
)

// goFiles are the files of a module that say which others it needs.
type goFiles struct{ mod, sum []byte }

// goModule is a module of the tree that needs others.
type goModule struct {
	dir        string // in the tree
	base, head goFiles
	differing  bool // the change needs modules that the base does not
}

// fetchGo prepares the modules of Go, if the tree needs any. The go command downloads what the
// base's go.mod and go.sum list, and runs nothing of it. go.sum pins every byte.
func (s *session) fetchGo(ctx context.Context, l language) []dependencies {
	modules := s.goModules()
	tool, ok := s.tool("go")
	if len(modules) == 0 || !ok { // without a go command, the commands say so
		return nil
	}
	program := filepath.Join(tool.root, "bin", "go")
	d := l.in(".")
	c := choice{trust: Base, differs: slices.ContainsFunc(modules, func(m goModule) bool { return m.differing })}
	err := s.mayFetch(s.baseProxies())
	var dir string
	if err == nil {
		dir, err = s.fetchModules(ctx, program, modules, false)
	}
	if err == nil && c.differs && s.Policy.Dependencies == precedent.DependenciesHead {
		c.trust = s.Trust
		dir, err = s.fetchModules(ctx, program, modules, true)
	}
	if err != nil {
		d.fail(err)
		return []dependencies{d}
	}
	d.say("modules", c)
	d.env, d.mounts = []string{"GOMODCACHE=" + modulesAt}, []sandbox.Mount{{Source: dir, Target: modulesAt}}
	return []dependencies{d}
}

// goModules finds the modules of the tree that need modules which it does not hold.
func (s *session) goModules() []goModule {
	var all []goModule
	for _, dir := range s.folders()["go.mod"] {
		if s.exists(path.Join(dir, "vendor/modules.txt")) || s.exists("vendor/modules.txt") || len(all) == maxModules {
			continue
		}
		mod, sum := path.Join(dir, "go.mod"), path.Join(dir, "go.sum")
		m := goModule{dir: dir, base: goFiles{s.atBase(mod), s.atBase(sum)}, head: goFiles{s.head(mod), s.head(sum)}}
		m.differing = addsLines(m.base.sum, m.head.sum)
		if len(m.base.sum) > 0 && m.base.mod != nil || m.differing {
			all = append(all, m)
		}
	}
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
		parts = append(parts, m.dir, string(m.base.mod), string(m.base.sum))
		if added {
			trust = s.Trust
			parts = append(parts, string(m.head.mod), string(m.head.sum))
		}
	}
	return s.keepAs(trust, parts, func(cache string) error {
		if added && s.GoProxy == "" {
			return errors.New("no server to fetch them from")
		}
		scratch, err := os.MkdirTemp("", "precedent-fetch-")
		if err != nil {
			return err
		}
		defer removeKept(scratch)
		f := goFetcher{program: program, cache: cache, scratch: scratch}
		for _, m := range modules {
			err = errors.Join(err, f.write(m.dir, m.base))
		}
		err = errors.Join(err, f.download(ctx, s.baseProxies()))
		if added {
			for _, m := range modules {
				err = errors.Join(err, f.write(m.dir, m.head))
			}
			err = errors.Join(err, f.download(ctx, s.GoProxy))
		}
		return errors.Join(err, dropArchives(cache))
	})
}

// baseProxies are where the modules of the base come from: the operator's cache, then the server.
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
type goFetcher struct {
	program, cache, scratch string
	dirs                    []string // of the modules
}

// write puts the files of a module where the go command sees them.
func (f *goFetcher) write(module string, files goFiles) error {
	if files.mod == nil {
		return nil
	}
	dir := filepath.Join(f.scratch, "tree", filepath.FromSlash(module))
	if !slices.Contains(f.dirs, dir) {
		f.dirs = append(f.dirs, dir)
	}
	return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "go.mod"), files.mod, 0o600),
		os.WriteFile(filepath.Join(dir, "go.sum"), files.sum, 0o600))
}

func (f *goFetcher) download(ctx context.Context, proxy string) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	env := []string{
		"PATH=" + filepath.Dir(f.program) + ":/usr/bin:/bin", "HOME=" + f.scratch, "TMPDIR=" + f.scratch,
		"GOPATH=" + f.scratch, "GOMODCACHE=" + f.cache, "GOPROXY=" + proxy,
		"GOSUMDB=off", "GOTOOLCHAIN=local", "GOENV=off", "GOWORK=off", "GOTELEMETRY=off", "GOVCS=*:off",
		"GOFLAGS=-modcacherw", "GONOPROXY=none", "GOPRIVATE=", "GOAUTH=off",
	}
	for _, dir := range f.dirs {
		p := child.Program{Path: f.program, Args: []string{"mod", "download"}, Dir: dir, Env: env, Most: 1 << 20}
		res, err := child.Run(ctx, p)
		if err == nil {
			err = res.Err
		}
		if err != nil { // its words may quote a server
			return fmt.Errorf("go mod download in %s failed: %w", filepath.Base(dir), err)
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
