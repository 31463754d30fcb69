package gate

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/precedent-dev/precedent/internal/sandbox"
)

// Where the build cache of Go is in a box.
const (
	goCache = sandbox.Home + "/.cache/go-build"
	seedAt  = "/cache/go-build" // the seed, read-only
)

const (
	freshSeed = 24 * time.Hour // how long the seed of an older base counts
	mostSeed  = 2 << 30        // bytes
	mostFiles = 200_000
)

// prelude is what a shell does before a command. It fills the private build cache from the
// seed: entries are copied, and what they point to is linked. The box discards the cache with
// everything else.
func (s *session) prelude() string {
	var all strings.Builder
	all.WriteString(s.managerLinks())
	for _, d := range s.needed {
		all.WriteString(d.prelude)
	}
	if s.seed == "" {
		return all.String()
	}
	return all.String() + fmt.Sprintf("mkdir -p %[1]s && cp -r %[2]s/entries/. %[1]s/ && cp -rs %[2]s/content/. %[1]s/ && date +%%s >%[1]s/trim.txt\n", goCache, seedAt)
}

// warm finds the build cache to start from, and fills one if there is none: it compiles the
// base commit, in a box like any other, and keeps what was built. A run of a pull request
// reads it and never writes to it. Its key is the repository, the trust and the base commit.
// The cache of an older base, also of another branch, is as trusted, because nothing of a base
// runs while its cache is filled (threat T28), and nearly as full.
func (s *session) warm(ctx context.Context) {
	version := ""
	for _, t := range s.tools {
		if t.name == "go" {
			data, _ := os.ReadFile(filepath.Join(t.root, "VERSION"))
			version = string(data)
		}
	}
	if version == "" || s.CacheDir == "" || !s.usesGo() {
		return
	}
	parent := s.keptDir("build", s.Repo, Base)
	suffix := "-" + keyOf(version)
	dir := filepath.Join(parent, keyOf(s.Base)+suffix)
	if findKept(dir) {
		s.seed = dir
		return
	}
	for _, k := range listKept(parent) {
		if strings.HasSuffix(k.dir, suffix) && time.Since(madeAt(k.dir)) < freshSeed && findKept(k.dir) {
			s.seed = k.dir
			return
		}
	}
	if s.BaseTree == nil {
		return
	}
	err := keepUnlessBusy(dir, keepNewest, func(to string) error { return s.buildBase(ctx, to) }) // a run can do without
	if err == nil {
		s.seed = dir
	} else if s.Log != nil {
		s.Log.InfoContext(ctx, "no build cache", "repo", s.Repo.String(), "reason", err.Error())
	}
}

// madeAt is when a kept folder was written.
func madeAt(dir string) time.Time {
	info, err := os.Stat(dir)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// usesGo reports whether a command may run the go command.
func (s *session) usesGo() bool {
	if !s.has("go.mod") && !s.has("go.work") {
		return false
	}
	for _, c := range s.Commands {
		if mayUse(c.Line, []string{"go", "gotestsum", "ginkgo"}, true) {
			return true
		}
	}
	return false
}

// buildFlags matches what decides about the keys of a build cache, in a command.
var buildFlags = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|\s)(CGO_ENABLED=[01]|-race|-tags[= ][\w.,]+)(?:\s|$)`)
})

// compile is a script that fills the build cache with what a command needs, and runs nothing of
// the tree: go starts true in place of the tests, which could replace entries of the cache that
// later runs trust.
func compile(command string) string {
	env, flags := "", ""
	for rest := command; ; {
		m := buildFlags().FindStringSubmatchIndex(rest)
		if m == nil {
			break
		}
		if found := rest[m[2]:m[3]]; strings.HasPrefix(found, "-") {
			flags += " " + found
		} else {
			env = found + " "
		}
		rest = rest[m[3]:]
	}
	all := ""
	for _, do := range []string{"build -o /dev/null", "vet", "test -exec true -run ^$"} {
		all += env + "go " + do + flags + " ./... >/dev/null 2>&1 </dev/null\n"
	}
	return all
}

// buildBase compiles the base commit, and writes the build cache to a folder. Whether that
// succeeds is of no account.
func (s *session) buildBase(ctx context.Context, to string) error {
	dir, err := s.baseTree(ctx)
	if err != nil {
		return err
	}
	var script strings.Builder
	script.WriteString(s.prelude())
	done := map[string]bool{}
	for _, c := range s.Commands {
		if do := compile(c.Line); !done[do] && mayUse(c.Line, []string{"go", "gotestsum", "ginkgo"}, true) {
			done[do] = true
			script.WriteString(do)
		}
	}
	fmt.Fprintf(&script, "cd %s && exec tar -cf - .\n", goCache)
	job := s.job("")
	job.Tree, job.Argv = dir, []string{"sh", "-c", script.String()}
	job.Limits.Time, job.Limits.Written = s.Limits.Total, mostSeed
	res, err := s.runInto(ctx, job, func(in io.Reader) error { return unpackSeed(in, to) })
	if err == nil && res.Status != sandbox.OK {
		err = fmt.Errorf("the base ended with %s, %d", res.Status, res.Exit)
	}
	return err
}

// entryName matches the files of a build cache: an action, or the content that one has.
var entryName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{2}/[0-9a-f]{64}-([ad])$`) })

var errSeed = errors.New("the build cache is too large")

// unpackSeed writes the files of a build cache to a folder, and nothing else of the archive.
func unpackSeed(in io.Reader, to string) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	kinds := map[string]string{"a": "entries", "d": "content"}
	for _, dir := range kinds {
		if err := root.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	return eachEntry(in, errSeed, func(header *tar.Header, content io.Reader) error {
		name := path.Clean(header.Name)
		m := entryName().FindStringSubmatch(name)
		if m == nil || header.Typeflag != tar.TypeReg {
			return nil
		}
		name = filepath.FromSlash(kinds[m[1]] + "/" + name)
		if err := root.Mkdir(filepath.Dir(name), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
		return writeIn(root, name, content)
	})
}

func writeIn(root *os.Root, name string, content io.Reader) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}
