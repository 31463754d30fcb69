package fix

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/pulltest"
)

func suggestion(path string, start, end int, lines string) precedent.Finding {
	return precedent.Finding{
		ID: fmt.Sprintf("%s%d", path, start), Span: precedent.Span{Path: path, Side: precedent.Right, Start: start, End: end},
		Suggestion: lines,
	}
}

// reading reads from a map.
func reading(files map[string]string) func(string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		if s, ok := files[path]; ok {
			return []byte(s), nil
		}
		return nil, fs.ErrNotExist
	}
}

func TestPlan(t *testing.T) {
	at := func(start, end int, lines string) []precedent.Finding {
		return []precedent.Finding{suggestion("f", start, end, lines)}
	}
	deleted, hidden := at(1, 1, "x"), at(1, 1, "x")
	deleted[0].Side, hidden[0].Dropped = precedent.Left, precedent.Refuted
	const abc = "a\nb\nc\n"
	for _, test := range []struct {
		name      string
		head, now string
		findings  []precedent.Finding
		want      string // the file afterwards; empty for none
		refused   string // part of the only refusal
	}{
		{"one line", abc, abc, at(2, 2, "B"), "a\nB\nc\n", ""},
		{"more lines than before", abc, abc, at(2, 2, "x\n\ny\n"), "a\nx\n\ny\nc\n", ""},
		{"two", abc, abc, append(at(3, 3, "C\nCC"), at(1, 1, "A")...), "A\nb\nC\nCC\n", ""},
		{"the same lines twice", abc, abc, append(at(2, 3, "X"), at(3, 3, "Y")...), "a\nX\n", "changes the same lines"},
		{"shifted", abc, "new\nnew\n" + abc, at(2, 2, "B"), "new\nnew\na\nB\nc\n", ""},
		{"shifted, not to be told apart", abc, abc + abc, at(2, 2, "B"), "", "in 2 places"},
		{"equal lines, nothing shifted", "b\nb\nb\n", "b\nb\nb\n", at(2, 2, "B"), "b\nB\nb\n", ""},
		{"gone, and equal to a line that stays", "a\nb\nc\nb\nd\n", "a\nc\nb\nd\n", at(2, 2, "B"), "", "told apart"},
		{"gone", abc, "a\nx\nc\n", at(2, 2, "B"), "", "has changed"},
		{"carriage returns stay", "a\r\nb\r\nc\r\n", "a\r\nb\r\nc\r\n", at(2, 2, "x\ny"), "a\r\nx\r\ny\r\nc\r\n", ""},
		{"no end of the last line", "a\nb", "a\nb", at(2, 2, "x\ny\n"), "a\nx\ny", ""},
		{"deleted line", "a\n", "a\n", deleted, "", "lines of the new file"},
		{"hidden finding", "a\n", "a\n", hidden, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := New(test.findings, reading(map[string]string{"f": test.head}), reading(map[string]string{"f": test.now}))
			got := ""
			if len(p.files) > 0 {
				got = string(p.files[0].content())
			}
			if got != test.want {
				t.Errorf("the file becomes %q, want %q", got, test.want)
			}
			refused := ""
			for _, r := range p.Refused {
				refused += r.Why
			}
			if (refused == "") != (test.refused == "") || !strings.Contains(refused, test.refused) {
				t.Errorf("refused %q, want %q", refused, test.refused)
			}
		})
	}
}

// TestPatch: git applies the patch and gets what Apply writes, and takes it back
// again, whatever the lines and edits are. A script stays one, and nothing else is left.
func TestPatch(t *testing.T) {
	dir := t.TempDir()
	needs.NoError(t, flag.Set("rapid.checks", strconv.Itoa(needs.Rounds(100, 25)))) // each runs git twice
	rapid.Check(t, func(t *rapid.T) {
		ends := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "ends")
		lines := rapid.SliceOfN(rapid.StringMatching(`[a-c +\\-]{0,3}`), 1, 40).Draw(t, "lines")
		text := strings.Join(lines, ends)
		if rapid.Bool().Draw(t, "whole last line") || lines[len(lines)-1] == "" {
			text += ends
		}
		path := rapid.SampledFrom([]string{"f.txt", "dir/ü \"q\".txt", "a b.txt"}).Draw(t, "path")
		var findings []precedent.Finding
		for range rapid.IntRange(1, 5).Draw(t, "edits") {
			start := rapid.IntRange(1, len(lines)).Draw(t, "start")
			end := rapid.IntRange(start, min(start+3, len(lines))).Draw(t, "end")
			findings = append(findings, suggestion(path, start, end,
				strings.Join(rapid.SliceOfN(rapid.StringMatching(`[x-z]{1,3}`), 1, 4).Draw(t, "new"), "\n")))
		}
		files := reading(map[string]string{path: text})
		p := New(findings, files, files)
		if len(p.files) != 1 {
			t.Fatalf("no edit: %v", p.Refused)
		}
		name := filepath.Join(dir, path)
		put(t, name, text)
		apply(t, dir, p.Patch())
		byGit := read(t, name)
		if want := string(p.files[0].content()); byGit != want {
			t.Fatalf("git makes %q of %q, want %q\n%s", byGit, text, want, p.Patch())
		}
		put(t, name, text)
		before, _ := os.Stat(name)
		needs.NoError(t, p.Apply(dir))
		if own := read(t, name); own != byGit {
			t.Fatalf("Apply makes %q, git %q", own, byGit)
		}
		after, err := os.Stat(name)
		entries, _ := os.ReadDir(filepath.Dir(name))
		if err != nil || after.Mode() != before.Mode() || after.Mode()&0o100 == 0 || len(entries) > 3 {
			t.Fatalf("mode %v, was %v, %d files, %v", after.Mode(), before.Mode(), len(entries), err)
		}
		apply(t, dir, p.Patch(), "-R")
		if back := read(t, name); back != text {
			t.Fatalf("taken back it is %q, was %q", back, text)
		}
	})
}

type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func put(t failer, name, text string) {
	t.Helper()
	needs.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o750)))
}

func read(t failer, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	needs.NoError(t, err)
	return string(data)
}

func apply(t failer, dir string, patch []byte, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "core.autocrlf=false", "apply", "--whitespace=nowarn"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"}
	cmd.Stdin = strings.NewReader(string(patch))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\n%s", err, out, patch)
	}
}

// TestApplyRefuses: what changed since it was planned, and what is no plain
// file, stays as it is, and so does everything else.
func TestApplyRefuses(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"changed":       func(dir string) error { return os.WriteFile(filepath.Join(dir, "d/b"), []byte("z\n"), 0o600) },
		"gone":          func(dir string) error { return os.Remove(filepath.Join(dir, "d/b")) },
		"link":          func(dir string) error { return relink(filepath.Join(dir, "d/b"), filepath.Join(dir, "target")) },
		"linked folder": func(dir string) error { return relink(filepath.Join(dir, "d"), filepath.Join(dir, "other")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, filepath.Join(dir, "a"), "a\n")
			put(t, filepath.Join(dir, "d/b"), "a\n")
			put(t, filepath.Join(dir, "other/b"), "a\n")
			put(t, filepath.Join(dir, "target"), "a\n")
			pulltest.Git(t, t.TempDir(), dir, "init", "-q")
			repo := needs.Value(git.Open(t.Context(), dir, git.Options{TempDir: t.TempDir()}))(t)
			defer repo.Close()
			p := New([]precedent.Finding{suggestion("a", 1, 1, "x"), suggestion("d/b", 1, 1, "x")},
				reading(map[string]string{"a": "a\n", "d/b": "a\n"}),
				func(path string) ([]byte, error) { return repo.WorkFile(path, 1000) })
			needs.NoError(t, spoil(dir))
			if err := p.Apply(dir); err == nil || !strings.Contains(err.Error(), "d/b") ||
				!strings.Contains(err.Error(), "nothing was changed") {
				t.Errorf("error %v", err)
			}
			got := read(t, filepath.Join(dir, "a")) + read(t, filepath.Join(dir, "other/b")) +
				read(t, filepath.Join(dir, "target"))
			if diff := cmp.Diff("a\na\na\n", got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func relink(name, target string) error {
	return errors.Join(os.RemoveAll(name), os.Symlink(target, name))
}

// TestWithin: what is suggested in place of lines makes the whole change, or nothing is.
func TestWithin(t *testing.T) {
	for after, want := range map[string]string{
		"a B c": "B", "a b2 b3 c": "b2 b3", "a b c": "", "a c": "", "c": "", "": "", "A B c": "", "a B C": "", "a B": "", "a B c d": "",
	} {
		needs.Equal(t, want, strings.Join(within(strings.Fields("a b c"), strings.Fields(after), 2, 2), " "))
	}
	needs.Equal(t, 0, len(within(nil, strings.Fields("a"), 1, 1)))
}
