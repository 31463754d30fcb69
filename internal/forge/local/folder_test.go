package local

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
)

// chatter is the folder in which a process of this test's says things without
// end, one line of output for each that is there.
const chatter = "PRECEDENT_TEST_CHATTER"

func TestMain(m *testing.M) {
	dir := os.Getenv(chatter)
	if dir == "" {
		os.Exit(m.Run())
	}
	f, err := New(Options{Dir: dir, Now: time.Now})
	for err == nil {
		var c forge.Comment
		c, err = f.Comment(context.Background(), shop, 1, "words")
		if err == nil {
			_, err = os.Stdout.WriteString(c.URL + "\n")
		}
	}
	os.Stderr.WriteString(err.Error())
	os.Exit(1)
}

// TestProcessesThatAreKilled: what three processes said stays, each once, and
// nothing is torn, whenever they are killed.
func TestProcessesThatAreKilled(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, explicit, "")
	said := map[string]bool{}
	for round := range 4 {
		var running []*exec.Cmd
		lines := make(chan string)
		for range 3 {
			cmd := exec.Command(os.Args[0], "-test.run=^$")
			cmd.Env = append(os.Environ(), chatter+"="+dir)
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			running = append(running, cmd)
			go func() {
				s := bufio.NewScanner(out)
				for s.Scan() {
					lines <- s.Text()
				}
				lines <- ""
			}()
		}
		for ended, n := 0, 0; ended < len(running); {
			line := <-lines
			if line == "" {
				ended++
				continue
			}
			if said[line] {
				t.Errorf("%s was given twice", line)
			}
			said[line] = true
			if n++; n == 20+round {
				for _, cmd := range running {
					_ = cmd.Process.Kill()
				}
			}
		}
		for _, cmd := range running {
			_ = cmd.Wait()
		}
	}
	f, err := New(Options{Dir: dir, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	all, err := f.Comments(t.Context(), shop, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		delete(said, c.URL)
	}
	if len(said) > 0 {
		t.Errorf("%d comments are lost: %v", len(said), said)
	}
	left, err := os.ReadDir(filepath.Join(dir, "pulls", "1"))
	if err != nil || len(left) > 2 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

const (
	plainRepo = `{"owner": "acme", "name": "shop", "me": {"id": 500, "login": "bot"}, "members": []}`
	explicit  = `{"title": "x", "author": {"id": 1, "login": "ann"}, "base": {"branch": "main", "sha": "` +
		`bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}, "head": {"branch": "x", "sha": "cccccccccccccccccccccccccccccccccccccccc"}, ` +
		`"diff": "--- a/till.go\n+++ b/till.go\n@@ -1 +1 @@\n-old\n+new\n"}`
)

// writeAll makes a folder with a pull request 1.
func writeAll(t testing.TB, dir, pull, talk string) {
	t.Helper()
	err := os.MkdirAll(filepath.Join(dir, "pulls", "1"), 0o755)
	for name, text := range map[string]string{"repo.json": plainRepo, "pulls/1.json": pull, "pulls/1/talk.json": talk} {
		if text != "" {
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o644))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestFilesThatMakeNoSense(t *testing.T) {
	comment := func(s string) string {
		return `{"comments": [{"id": 1, "author": {"id": 1, "login": "ann"}, "body": "x", "at": "2026-03-04T05:06:07Z", ` + s + `}]}`
	}
	for name, test := range map[string]struct {
		pull, talk, want string
	}{
		"no JSON":              {`{`, ``, "pulls/1.json"},
		"a slip of the pen":    {strings.Replace(explicit, `"diff"`, `"dif"`, 1), ``, `unknown field "dif"`},
		"two values":           {explicit + explicit, ``, "unexpected data"},
		"another number":       {strings.Replace(explicit, `{`, `{"number": 2,`, 1), ``, "the number in it is 2"},
		"state of no kind":     {strings.Replace(explicit, `{`, `{"state": "ajar",`, 1), ``, "state"},
		"no commit":            {strings.Replace(explicit, "cccc", "CCCC", 1), ``, "hexadecimal"},
		"neither git nor sha":  {`{"title": "x", "author": {"id": 1, "login": "a"}, "base": {"branch": "main"}, "head": {"branch": "x"}}`, ``, "need a sha"},
		"repo that leads away": {strings.Replace(explicit, `"branch": "x"`, `"branch": "x", "repo": "../etc"`, 1), ``, "owner/name"},
		"kind of no comment":   {explicit, comment(`"kind": "whisper"`), "kind"},
		"lines backwards":      {explicit, comment(`"kind": "inline", "path": "a", "side": "LEFT", "commit": "` + strings.Repeat("c", 40) + `", "start_line": 2, "end_line": 1`), "before the first"},
		"no side":              {explicit, comment(`"kind": "inline", "path": "a", "commit": "` + strings.Repeat("c", 40) + `"`), "side"},
		"a number too large":   {explicit, comment(`"kind": "issue", "reply_to": 99999999999999999999`), "talk.json"},
		"no time":              {explicit, `{"comments": [{"id": 1, "kind": "issue", "body": "x"}]}`, "at is missing"},
		"a number twice": {explicit, `{"comments": [{"id": 1, "kind": "issue", "at": "2026-03-04T05:06:07Z"},
			{"id": 1, "kind": "issue", "at": "2026-03-04T05:06:07Z"}]}`, "not unique"},
		"nested without end": {explicit, strings.Repeat("[", 100_000), "talk.json"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeAll(t, dir, test.pull, test.talk)
			f, err := New(Options{Dir: dir, Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.Comments(t.Context(), shop, 1)
			if kind(err) != forge.KindAnswer || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("read: %v", err)
			}
			if _, err := f.Comment(t.Context(), shop, 1, "x"); kind(err) != forge.KindAnswer {
				t.Errorf("write: %v", err)
			}
		})
	}
}

func TestFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, explicit, "")
	f, err := New(Options{Dir: dir, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "pulls", "1", "talk.json")
	if err := os.Mkdir(name, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Comments(t.Context(), shop, 1); kind(err) != forge.KindAnswer {
		t.Errorf("a folder: %v", err)
	}
	outside := filepath.Join(t.TempDir(), "secret.json")
	if err := errors.Join(os.Remove(name), os.WriteFile(outside, []byte(`{"comments": []}`), 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, name); err != nil {
		t.Skip("no links here")
	}
	if _, err := f.Comments(t.Context(), shop, 1); err == nil {
		t.Error("a link out of the folder is followed")
	}
	if err := errors.Join(os.Remove(name), os.WriteFile(name, []byte(strings.Repeat(" ", maxFile+1)), 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Comments(t.Context(), shop, 1); kind(err) != forge.KindTooLarge {
		t.Errorf("33 MiB: %v", err)
	}
}

// FuzzFolder: whatever the files hold, a request ends with an answer or a
// forge's error of one line.
func FuzzFolder(f *testing.F) {
	f.Add(explicit, `{"comments": [{"id": 1, "kind": "issue", "at": "2026-03-04T05:06:07Z"}], "closed": {"1": {"id": 1, "login": "x"}}}`)
	f.Add(`{"diff": "@@ -1 +1 @@"}`, `{"comments": null, "last": -9}`)
	f.Fuzz(func(t *testing.T, pull, talk string) {
		dir := t.TempDir()
		writeAll(t, dir, pull, talk)
		l, err := New(Options{Dir: dir, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		_, err1 := l.PullRequest(t.Context(), shop, 1)
		_, err2 := l.Threads(t.Context(), shop, 1)
		_, err3 := l.Open(t.Context(), shop)
		_, err4 := l.Post(t.Context(), shop, 1, forge.Draft{
			Commit: strings.Repeat("c", 40), Event: forge.Remarks, Body: "x", Remarks: []forge.Remark{{Span: at(1, 1), Body: "y"}},
		})
		for _, err := range []error{err1, err2, err3, err4} {
			if err != nil && (kind(err) == "" || strings.ContainsAny(err.Error(), "\r\n")) {
				t.Errorf("%v", err)
			}
		}
	})
}
