package lint

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/needs"
)

// sandbox plays the sandbox: a linter is a function.
type box struct {
	run  func(Job) (Output, error)
	jobs []Job
}

func (b *box) Run(ctx context.Context, j Job) (Output, error) {
	if err := ctx.Err(); err != nil {
		return Output{}, err
	}
	b.jobs = append(b.jobs, j)
	out, err := b.run(j)
	out.Dir = "/work"
	return out, err
}

// finding is a linter that finds lines of files, as file:line: [rule].
func finding(bad func(file, line string) bool) func(Job) (Output, error) {
	return func(j Job) (Output, error) {
		var out Output
		for _, name := range j.Argv[1:] {
			data, ok := seen(j, name)
			if !ok {
				return Output{Exit: 2, Stderr: []byte("no " + name)}, nil
			}
			for i, line := range strings.Split(data, "\n") {
				if bad(data, line) {
					out.Exit = 1
					out.Stdout = fmt.Appendf(out.Stdout, "%s:%d: error: do not [bad]\n", name, i+1)
				}
			}
		}
		return out, nil
	}
}

// grep is a linter that finds the word BAD.
var grep = finding(func(_, line string) bool { return strings.Contains(line, "BAD") })

// seen reads a file of the tree that a job sees.
func seen(j Job, name string) (string, bool) {
	data, err := os.ReadFile(filepath.Join(j.Tree, filepath.FromSlash(name)))
	return string(data), err == nil
}

func grepper() Linter {
	return Linter{
		Name: "grep", Files: []string{"*.txt"}, Command: []string{"grep", "{files}"}, Patterns: []string{"%f:%l: %trror: %m"},
		Configs: []string{".greprc"}, Exits: []int{1}, Category: precedent.Tests,
	}
}

// lintInput makes an input of such a tree as goInput does, and of changes.
func lintInput(t *testing.T, archive string, files ...diff.File) (*Input, *box) {
	t.Helper()
	in, b := goInput(t, GoEnv{}, archive), &box{run: grep}
	in.Change.Files = files
	in.Trusted.Differing = func(context.Context) (paths []string, err error) {
		for i := range files {
			paths = append(paths, files[i].Path, files[i].OldPath)
		}
		return paths, nil
	}
	in.External = External{
		Linters: []Linter{grepper()}, Sandbox: func(context.Context) (Runner, error) { return b, nil },
	}
	return in, b
}

func file(c *diff.Change) diff.File { return c.Files[0] }

const twoBad = `
-- a.txt --
one BAD
two
three BAD
`

func TestLinters(t *testing.T) {
	const ok, empty = precedent.StatusOK, precedent.StatusEmpty
	const skipped, failed = precedent.StatusSkipped, precedent.StatusError
	const bad = "a.txt:3 grep/bad medium"
	changed := file(change("a.txt", " one BAD", " two", "+three BAD"))
	linter := func(set func(*Linter)) func(*Input, *box) {
		return func(in *Input, _ *box) { set(&in.External.Linters[0]) }
	}
	ends := func(out Output) func(*Input, *box) {
		return func(_ *Input, b *box) { b.run = func(Job) (Output, error) { return out, nil } }
	}
	greps := func(after func(*Output)) func(*Input, *box) {
		return func(_ *Input, b *box) {
			b.run = func(j Job) (Output, error) {
				out, err := grep(j)
				after(&out)
				return out, err
			}
		}
	}
	elsewhere := []byte("b.txt:3: error: x\n../a.txt:3: error: x\n/etc/a.txt:3: error: x\na.txt:9: error: x\n")
	for _, test := range []struct {
		name   string
		change func(*Input, *box)
		want   string // the finding
		status precedent.Status
		says   string
		tree   string      // twoBad if empty
		files  []diff.File // changed if nil
	}{
		{name: "added line", want: bad, status: ok},
		{name: "fine", tree: "-- a.txt --\nfine\n", files: []diff.File{file(added("a.txt", "fine\n"))}, status: empty},
		{
			name: "no linters", change: func(in *Input, _ *box) { in.External.Linters = nil },
			status: precedent.StatusOff, says: "no linters are configured",
		},
		{
			name: "no files", tree: "-- a.go --\nBAD\n", files: []diff.File{file(added("a.go", "BAD\n"))},
			status: skipped, says: "no file that the configured linters check",
		},
		{
			name: "no sandbox", change: func(in *Input, _ *box) { in.External.Sandbox = nil },
			status: skipped, says: "no sandbox",
		},
		{name: "not here", change: func(_ *Input, b *box) {
			b.run = func(Job) (Output, error) { return Output{}, ErrNotInstalled }
		}, status: skipped, says: "grep: not installed"},
		{
			name: "more old results of a rule than are read", want: bad, status: ok,
			change: ends(Output{Exit: 1, Stdout: []byte(strings.Repeat("a.txt:1: error: do not [bad]\n", maxRemarks) +
				"a.txt:3: error: do not [bad]\n")}),
		},
		{
			name: "more lines than are read", want: bad, status: precedent.StatusTruncated, says: "the first 100000 lines",
			change: ends(Output{Exit: 1, Stdout: []byte("a.txt:3: error: do not [bad]\n" + strings.Repeat("\n", maxLines))}),
		},
		{
			name: "prints an error, and ends as if it had findings", change: ends(Output{Exit: 1, Stdout: []byte("no interpreter\nmore")}),
			status: failed, says: "grep: it failed without a result: exit status 1: no interpreter",
		},
		{
			name: "fails", change: ends(Output{Exit: 3, Stderr: []byte("broken configuration")}),
			status: failed, says: "grep: it failed: exit status 3: broken configuration",
		},
		{
			name:   "stopped, with a finding before",
			change: greps(func(o *Output) { o.Stopped = "memory limit exceeded" }),
			want:   bad, status: failed, says: "memory limit exceeded",
		},
		{
			name: "cut output", change: greps(func(o *Output) { o.Cut = true }),
			want: bad, status: precedent.StatusTruncated, says: "first 5000",
		},
		{
			name: "needs a configuration", change: linter(func(l *Linter) { l.NeedsConfig = true }),
			status: skipped, says: "no configuration",
		},
		{name: "files elsewhere", change: ends(Output{Exit: 1, Stdout: elsewhere}), status: empty},
		{
			name: "blank in a path", tree: "-- a b.txt --\nBAD\n", files: []diff.File{file(added("a b.txt", "BAD\n"))},
			status: skipped, says: "1 files were not checked",
		},
		{
			name: "style", change: linter(func(l *Linter) { l.Category = precedent.Style }),
			want: "a.txt:3 grep/bad low", status: ok, // such linters call everything an error
		},
		{name: "said by two", change: func(in *Input, _ *box) {
			second := grepper()
			second.Name = "other"
			in.External.Linters = append(in.External.Linters, second)
		}, want: bad, status: ok},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.tree == "" {
				test.tree = twoBad
			}
			if test.files == nil {
				test.files = []diff.File{changed}
			}
			in, b := lintInput(t, test.tree, test.files...)
			if test.change != nil {
				test.change(in, b)
			}
			r := run(t, "linters", in)
			found(t, r, test.want)
			if r.Status != test.status || !strings.Contains(r.Error, test.says) || test.says == "" && r.Error != "" {
				t.Errorf("%s, %q; want %s, %q", r.Status, r.Error, test.status, test.says)
			}
			for _, j := range b.jobs {
				if _, err := os.Stat(j.Tree); err == nil {
					t.Errorf("%s is left behind", j.Tree)
				}
			}
		})
	}
}

func TestLintersTimeout(t *testing.T) {
	in, b := lintInput(t, twoBad, file(change("a.txt", " one BAD", " two", "+three BAD")))
	late, end := context.WithDeadline(t.Context(), time.Now())
	defer end()
	if r := linters(late, in); r.Status != precedent.StatusTimeout || !strings.Contains(r.Error, "too long") {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	b.run = func(Job) (Output, error) {
		cancel()
		return Output{}, ctx.Err()
	}
	if r := linters(ctx, in); r.Status != precedent.StatusTimeout || !strings.Contains(r.Error, "stopped before") {
		t.Errorf("%+v", r)
	}
}

// TestLintersSuggestion: an exact fix of an added line becomes a suggestion.
func TestLintersSuggestion(t *testing.T) {
	l, _ := Preset("ruff")
	data := needs.Value(os.ReadFile(filepath.Join("testdata", "outputs", "ruff.out")))(t)
	in, b := lintInput(t, "-- src/a b.py --\nimport os\nx = 1\nif x == None:\n    pass\n",
		file(added("src/a b.py", "import os\nx = 1\nif x == None:\n    pass\n")))
	in.External.Linters = []Linter{l}
	b.run = func(j Job) (Output, error) {
		return Output{Exit: 1, Stdout: data}, nil
	}
	r := run(t, "linters", in)
	same(t, r, "src/a b.py:1 ruff/F401 medium", "src/a b.py:3 ruff/E711 medium")
	needs.Equal(t, "if x is None:", r.Findings[1].Suggestion)
	if body := r.Findings[0].Body; !strings.Contains(body, "ruff, rule F401") ||
		!strings.Contains(body, "https://docs.astral.sh/ruff/rules/unused-import") {
		t.Errorf("body %q", body)
	}
	needs.Equal(t, []string{"--", "./src/a b.py"}, b.jobs[0].Argv[len(b.jobs[0].Argv)-2:])
}

// TestLintersRead: a linter reads no file for another one that is not there, and none that it is not given.
func TestLintersRead(t *testing.T) {
	in, b := lintInput(t, "-- a.txt --\nfine\n-- b c.txt --\nfine\n-- a.md --\nBAD\n-- a.rb --\nBAD\n",
		file(added("a.txt", "fine\n")), file(added("b c.txt", "fine\n")), file(added("a.md", "BAD\n")),
		file(added("a.rb", "BAD\n")))
	missing, unconfigured := grepper(), grepper()
	missing.Name, missing.Files, missing.Command = "missing", []string{"*.md"}, []string{"missing", "{files}"}
	unconfigured.Name, unconfigured.Files, unconfigured.NeedsConfig = "unconfigured", []string{"*.rb"}, true
	in.External.Linters = append(in.External.Linters, missing, unconfigured)
	b.run = func(j Job) (Output, error) {
		if j.Argv[0] == "missing" {
			return Output{}, ErrNotInstalled
		}
		return grep(j)
	}
	r := run(t, "linters", in)
	if d := cmp.Diff(map[string]bool{"a.txt": true, "b c.txt": false}, r.Files); d != "" || r.Status != precedent.StatusEmpty {
		t.Errorf("%s, %q, read %v", r.Status, r.Error, r.Files)
	}
}

func TestCommands(t *testing.T) {
	l := Linter{Command: []string{"x", "--", "{files}"}}
	many := make([]string, filesAtOnce*mostBatches+3)
	for i := range many {
		many[i] = "-f" + strconv.Itoa(i)
	}
	all, left := l.commands(many)
	if len(all) != mostBatches || left != 3 || len(all[0]) != filesAtOnce+2 || all[0][2] != "./-f0" {
		t.Errorf("%d commands, %d left, first %q", len(all), left, all[0][:3])
	}
	l.Command = []string{"x", "{dirs}"}
	if all, _ := l.commands([]string{"a/b.go", "a/c.go", "d.go"}); len(all) != 1 ||
		!slices.Equal(all[0], []string{"x", "./.", "./a"}) {
		t.Errorf("%q", all)
	}
}

func TestCheckLinter(t *testing.T) {
	for _, test := range []struct {
		says   string
		change func(*Linter)
	}{
		{"", func(*Linter) {}},
		{"no command", func(l *Linter) { l.Command = nil }},
		{"no file globs", func(l *Linter) { l.Files = nil }},
		{"either", func(l *Linter) { l.Sarif = true }},
		{"invalid glob", func(l *Linter) { l.Files = []string{"[a"} }},
		{"errorformat", func(l *Linter) { l.Patterns = []string{"%"} }},
	} {
		l := grepper()
		test.change(&l)
		if err := l.Check(); test.says == "" && err != nil || test.says != "" &&
			(err == nil || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%v, want %q", err, test.says)
		}
	}
}
