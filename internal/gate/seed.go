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
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent/internal/sandbox"
	"github.com/precedent-dev/precedent/internal/text"
)

// Where the build cache of Go is in a sandbox.
const (
	goCache = sandbox.Home + "/.cache/go-build"
	seedAt  = "/cache/go-build" // the seed, read-only
)

const (
	freshSeed = 24 * time.Hour // how long the seed of an older base counts
	mostSeed  = 2 << 30        // bytes
	mostFiles = 200_000
)

// prelude is what a shell does before a command. It fills the private build cache from the seed: entries are
// copied, and what they point to is linked. The sandbox discards the cache with everything else.
func (s *session) prelude() string {
	all := s.managerLinks()
	for _, d := range s.needed {
		all += d.prelude
	}
	if s.seed != "" {
		all += fmt.Sprintf("mkdir -p %[1]s && cp -r %[2]s/entries/. %[1]s/ && cp -rs %[2]s/content/. %[1]s/ && "+
			"date +%%s >%[1]s/trim.txt\n", goCache, seedAt)
	}
	return all
}

// warm finds the build cache to start from, and fills one if there is none: it compiles the base commit, in a
// sandbox like any other, and keeps what was built. A run of a pull request reads it and never writes to it.
// A cache belongs to a repository, a version of Go and a base commit. Nothing of a base runs while its cache
// is filled (threat T28), and a base starts from the cache of another one only if that is in its history:
// anyone who could have tampered with that cache could as well have changed the base.
func (s *session) warm(ctx context.Context) {
	var version []byte
	if t, ok := s.tool("go"); ok {
		version, _ = os.ReadFile(filepath.Join(t.root, "VERSION"))
	}
	if len(version) == 0 || s.CacheDir == "" || s.Base == "" || !s.usesGo() {
		return
	}
	parent := s.keptDir("build", s.Repo, Base)
	dirOf := func(commit string) string { return filepath.Join(parent, commit+"-"+keyOf(string(version))) }
	for _, k := range append([]kept{{dir: dirOf(s.Base)}}, listKept(parent)...) {
		commit, _, _ := strings.Cut(filepath.Base(k.dir), "-")
		if k.dir == dirOf(commit) && (commit == s.Base || s.isFresh(ctx, k.dir, commit)) && findKept(k.dir) {
			s.seed = k.dir
			return
		}
	}
	if s.base == nil {
		return
	}
	dir := dirOf(s.Base)
	if err := keep(dir, keepNewest, func(to string) error { return s.buildBase(ctx, to) }); err == nil {
		s.seed = dir
	} else if s.Log != nil {
		s.Log.InfoContext(ctx, "no build cache", "repo", s.Repo.String(), "reason", err.Error())
	}
}

// isFresh reports whether the build cache of a commit does for the base, too.
func (s *session) isFresh(ctx context.Context, dir, commit string) bool {
	info, err := os.Stat(dir)
	return err == nil && time.Since(info.ModTime()) < freshSeed && s.InHistory != nil && s.InHistory(ctx, commit)
}

// goPrograms are those that compile Go, with its build cache.
var goPrograms = []string{"go", "gotestsum", "ginkgo"}

func (s *session) usesGo() bool {
	return len(s.find("go.mod", "go.work")) > 0 &&
		slices.ContainsFunc(s.Commands, func(c Command) bool { return mayUse(c.Line, goPrograms, true) })
}

// buildFlags matches what decides about the keys of a build cache, in a command.
var buildFlags = text.Pattern(`(?:^|\s)(CGO_ENABLED=[01]|-race|-tags[= ][\w.,]+)(?:\s|$)`)

// compile is a script that fills the build cache with what a command needs, and runs nothing of the tree: go
// starts true in place of the tests, which could replace entries of the cache that later runs trust.
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
	dir, err := s.base()
	if err != nil {
		return err
	}
	var script strings.Builder
	script.WriteString(s.prelude())
	done := map[string]bool{}
	for _, c := range s.Commands {
		if do := compile(c.Line); !done[do] && mayUse(c.Line, goPrograms, true) {
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
var entryName = text.Pattern(`^[0-9a-f]{2}/[0-9a-f]{64}-([ad])$`)

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
	return eachEntry(in, errors.New("the build cache is too large"), func(header *tar.Header, content io.Reader) error {
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
