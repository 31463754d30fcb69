package git

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// fixture is a repository in a temporary folder, made with the real git.
type fixture struct {
	t   testing.TB
	dir string
}

// scratch is a temporary folder without links in its path.
func scratch(tb testing.TB) string {
	tb.Helper()
	return needs.Value(filepath.EvalSymlinks(tb.TempDir()))(tb)
}

// newRepo makes an empty repository with the branch main.
func newRepo(tb testing.TB, options ...string) fixture {
	tb.Helper()
	return newRepoIn(tb, scratch(tb), options...)
}

func newRepoIn(tb testing.TB, dir string, options ...string) fixture {
	tb.Helper()
	f := fixture{tb, filepath.Join(dir, "repo")}
	needs.NoError(tb, os.Mkdir(f.dir, 0o755))
	f.git(append([]string{"init", "-q", "-b", "main"}, options...)...)
	return f
}

// repoOf makes a repository whose first commit has these files.
func repoOf(tb testing.TB, namesAndContents ...string) fixture {
	tb.Helper()
	f := newRepo(tb)
	f.commit("one", namesAndContents...)
	return f
}

// try runs git in the repository, apart from any configuration of this machine.
func (f fixture) try(args ...string) (string, error) { return f.tryAllowing("file", args...) }

func (f fixture) tryAllowing(transport string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = f.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "LC_ALL=C",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2024-01-02T03:04:05Z",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=2024-01-02T03:04:05Z",
		"GIT_ALLOW_PROTOCOL=" + transport, "GIT_LITERAL_PATHSPECS=1",
	}
	out, err := cmd.CombinedOutput()
	return strings.TrimRight(string(out), "\n"), err
}

func (f fixture) git(args ...string) string {
	f.t.Helper()
	out, err := f.try(args...)
	if err != nil {
		f.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// write writes files; names and contents alternate.
func (f fixture) write(namesAndContents ...string) {
	f.t.Helper()
	for pair := range slices.Chunk(namesAndContents, 2) {
		name := filepath.Join(f.dir, pair[0])
		needs.NoError(f.t, os.MkdirAll(filepath.Dir(name), 0o755))
		needs.NoError(f.t, os.WriteFile(name, []byte(pair[1]), 0o644))
	}
}

// commit writes files and commits all; it returns the commit's id.
func (f fixture) commit(message string, namesAndContents ...string) string {
	f.t.Helper()
	f.write(namesAndContents...)
	f.git("add", "-A", ".")
	said := f.git("-c", "core.abbrev=no", "commit", "--allow-empty", "--no-verify", "-m", message)
	id := regexp.MustCompile(`^\[.* ([0-9a-f]+)\]`).FindStringSubmatch(said)
	if id == nil {
		f.t.Fatalf("git commit says %q", said)
	}
	return id[1]
}

// load makes commits as a stream of git fast-import says.
func (f fixture) load(stream string) {
	f.t.Helper()
	f.write(".git/stream", stream)
	f.git("-c", "alias.load=!git fast-import --quiet < .git/stream", "load")
}

func (f fixture) id(revision string) string {
	f.t.Helper()
	return f.git("rev-parse", "--verify", "--end-of-options", revision)
}

// clone clones the repository into a new folder.
func (f fixture) clone(options ...string) fixture {
	f.t.Helper()
	to := f.beside("clone")
	f.git(append(append([]string{"clone", "-q"}, options...), "file://"+f.dir, to.dir)...)
	return to
}

// beside is a new folder, not yet made, for another work tree.
func (f fixture) beside(name string) fixture { return fixture{f.t, filepath.Join(scratch(f.t), name)} }

// template is a folder of repositories that are made once, which takes a dozen processes. Each test gets a copy.
type template struct {
	once  sync.Once
	dir   string
	ids   []string // what tests need to know
	files map[string][]byte
}

// copied returns a copy of what is made in a folder.
func (m *template) copied(tb testing.TB, make func(dir string) (ids []string)) (dir string, ids []string) {
	tb.Helper()
	m.once.Do(func() {
		m.dir, m.files = scratch(tb), map[string][]byte{}
		m.ids = make(m.dir)
		needs.NoError(tb, filepath.WalkDir(m.dir, func(name string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			m.files[name[len(m.dir):]], err = os.ReadFile(name)
			return err
		}))
	})
	dir = scratch(tb)
	for name, data := range m.files {
		if filepath.Base(name) == "config" { // the address of a clone's origin
			data = bytes.ReplaceAll(data, []byte(m.dir), []byte(dir))
		}
		needs.NoError(tb, os.MkdirAll(filepath.Dir(dir+name), 0o755))
		needs.NoError(tb, os.WriteFile(dir+name, data, 0o644))
	}
	return dir, m.ids
}

var clones template

// newClone makes a repository of two commits and clones it.
func newClone(tb testing.TB) (origin, clone fixture) {
	tb.Helper()
	dir, _ := clones.copied(tb, func(dir string) []string {
		f := newRepoIn(tb, dir)
		f.commit("one", "a.txt", "1\n")
		f.commit("two", "a.txt", "2\n")
		f.git("clone", "-q", "file://"+f.dir, filepath.Join(dir, "clone"))
		return nil
	})
	return fixture{tb, filepath.Join(dir, "repo")}, fixture{tb, filepath.Join(dir, "clone")}
}

// toFork leaves what `git checkout fork/theirs` does: the branch theirs of a remote called fork, with two commits.
const toFork = "fork; update-ref refs/remotes/fork/theirs theirs; config remote.fork.fetch +refs/heads/*:refs/remotes/fork/*; " +
	"config branch.theirs.remote fork; config branch.theirs.merge refs/heads/theirs"

// run takes steps, each with a semicolon after it: commit and write make a file, theirs adds a commit to the
// origin, and everything else is git's.
func (f fixture) run(origin fixture, steps string) {
	f.t.Helper()
	for step := range strings.SplitSeq(steps, "; ") {
		switch args := strings.Fields(step); {
		case len(args) == 0:
		case args[0] == "commit":
			for _, name := range args[1:] {
				f.write(name, "new\n")
			}
			f.commit("more")
		case args[0] == "write":
			f.write(args[1], args[2]+"\n")
		case args[0] == "theirs":
			origin.commit("theirs", "t.txt", "t\n")
			f.git("fetch", "-q")
		case args[0] == "fork":
			f.git("remote", "add", "fork", "file://"+f.dir)
			f.git("checkout", "-q", "-b", "theirs")
			f.commit("first", ".precedent.yaml", "ignore: [b.txt]\n")
			f.commit("their change", "b.txt", "b\n")
		default:
			f.git(args...)
		}
	}
}

func (f fixture) path(name string) string { return filepath.Join(f.dir, name) }

// open opens the repository with this package.
func (f fixture) open() *Repo { return f.openAt(f.dir, Options{}) }

func (f fixture) openAt(dir string, o Options) *Repo {
	f.t.Helper()
	o.TempDir = scratch(f.t)
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Minute
	}
	r := needs.Value(Open(f.t.Context(), dir, o))(f.t)
	f.t.Cleanup(func() {
		needs.NoError(f.t, r.Close())
		if left, _ := os.ReadDir(o.TempDir); len(left) > 0 {
			f.t.Errorf("Close left %v", left)
		}
	})
	return r
}

// resolve resolves a spec that must have a range.
func resolve(tb testing.TB, r *Repo, s Spec) Range {
	tb.Helper()
	return needs.Value(r.Resolve(tb.Context(), s))(tb)
}

// complaintOf returns the Error that err must be.
func complaintOf(tb testing.TB, err error) *Error {
	tb.Helper()
	var e *Error
	if !errors.As(err, &e) {
		tb.Fatalf("error %v (%T), want *Error", err, err)
	}
	return e
}

// wantError checks an error's message and hint for texts.
func wantError(tb testing.TB, err error, msg, hint string) {
	tb.Helper()
	if err == nil {
		tb.Fatalf("no error, want %q", msg)
	}
	e := complaintOf(tb, err)
	if !strings.Contains(e.Msg, msg) || !strings.Contains(e.Hint, hint) {
		tb.Errorf("error %q with the hint %q, want %q and %q", e.Msg, e.Hint, msg, hint)
	}
}

// diffText is all that Diff streams.
func diffText(tb testing.TB, r *Repo, rg Range) string {
	tb.Helper()
	var b bytes.Buffer
	err := r.Diff(tb.Context(), rg, func(in io.Reader) error {
		_, err := io.Copy(&b, in)
		return err
	})
	needs.NoError(tb, err)
	return b.String()
}

// changedPaths are the paths in the raw part of a diff, with their status.
func changedPaths(tb testing.TB, r *Repo, rg Range) []string {
	tb.Helper()
	fields := strings.Split(diffText(tb, r, rg), "\x00")
	var paths []string
	for i := 0; i < len(fields) && strings.HasPrefix(fields[i], ":"); {
		status := fields[i][strings.LastIndexByte(fields[i], ' ')+1:]
		entry := status[:1] + " " + fields[i+1]
		i += 2
		if status[0] == 'R' || status[0] == 'C' {
			entry += " " + fields[i]
			i++
		}
		paths = append(paths, entry)
	}
	return paths
}

// wantChanged checks which paths a spec changes.
func wantChanged(tb testing.TB, r *Repo, s Spec, want ...string) {
	tb.Helper()
	wantEqual(tb, fmt.Sprintf("changed in %+v", s), changedPaths(tb, r, resolve(tb, r, s)), want)
}

// wantRefused checks the error of a spec that has no range.
func wantRefused(tb testing.TB, r *Repo, s Spec, msg, hint string) {
	tb.Helper()
	_, err := r.Resolve(tb.Context(), s)
	wantError(tb, err, msg, hint)
}

// wantRead checks the content of a file of a revision.
func wantRead(tb testing.TB, b *Blobs, rev, path, want string) {
	tb.Helper()
	needs.Result(tb, path+" of "+rev, []byte(want))(b.Read(rev, path, 1000))
}

// wantContent checks the content of a plain file.
func wantContent(tb testing.TB, name, want string) {
	tb.Helper()
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		tb.Errorf("%q: %v, %v", name, info, err)
	} else if data, err := os.ReadFile(name); err != nil || string(data) != want {
		tb.Errorf("%q holds %q, %v, want %q", name, data, err, want)
	}
}

// state is every file below the git folder with its content, and with its time
// but for objects, whose time git renews when it needs them again.
func (f fixture) state(r *Repo) map[string]string {
	f.t.Helper()
	all := map[string]string{}
	for _, top := range []string{r.place.gitDir, r.place.commonDir} {
		err := filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			fi, err := d.Info()
			if err == nil && fi.Mode().IsRegular() {
				data, readErr := os.ReadFile(path)
				all[path], err = string(data), readErr
				if !strings.Contains(path, "/objects/") {
					all[path] += fi.ModTime().String()
				}
			}
			return err
		})
		needs.NoError(f.t, err)
	}
	return all
}

// untouched fails the test if do changes anything in the git folder.
func (f fixture) untouched(r *Repo, do func()) {
	f.t.Helper()
	status, statusErr := f.try("--no-optional-locks", "status", "--porcelain=v2", "--untracked-files=all")
	before := f.state(r)
	do()
	wantEqual(f.t, "the git folder", f.state(r), before)
	if statusErr == nil {
		wantEqual(f.t, "status", f.git("--no-optional-locks", "status", "--porcelain=v2", "--untracked-files=all"),
			status)
	}
}

// wantEqual compares two values.
func wantEqual[T any](tb testing.TB, what string, got, want T) {
	tb.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

type skippedFile = precedent.SkippedFile
