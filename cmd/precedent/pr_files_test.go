package main

import (
	stdcmp "cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
)

// scribe is an engine that finds what it is told to, as models write it. It says of all
// remarks that two of them are the same, or of none.
type scribe struct {
	finds []told
	same  bool
}

// told is a finding of the scribe. Its name, one word, is in no other's text.
type told struct {
	name             string
	path, side       string
	quote            string
	start, end       int
	suggestion       string
	evidence         []map[string]any
	severity         string // medium if it is empty
	category, though string // bugs; more words of the body
}

func (f told) title() string { return "Flaw " + f.name }

func (f told) wire() map[string]any {
	n := f.name
	return map[string]any{
		"path": f.path, "side": stdcmp.Or(f.side, "RIGHT"), "quote": f.quote, "start": f.start, "end": f.end, "suggestion": f.suggestion,
		"evidence": f.evidence, "severity": stdcmp.Or(f.severity, "medium"), "confidence": 90, "category": stdcmp.Or(f.category, "bugs"),
		"title": f.title(), "body": fmt.Sprintf("%sone %stwo %sthree %sfour %sfive. %s", n, n, n, n, n, f.though),
	}
}

func (s *scribe) Info() engine.Info {
	return engine.Info{Name: "scribe", Line: "scribe, on this machine", Who: "scribe"}
}

func (s *scribe) Run(_ context.Context, t engine.Task) (engine.Answer, error) {
	find := func() []map[string]any {
		found := []map[string]any{}
		for _, f := range s.finds {
			found = append(found, f.wire())
		}
		return found
	}
	return play(t, "scribe", find, func(string) bool { return s.same }, func(string) (string, string) { return "still_there", "" })
}

// filePull is a pull request whose two sides a test writes.
type filePull struct {
	*shopPull
	scribe *scribe
}

// newFilePull makes a pull request from two sets of files. A text of "-> x" is a
// link to x, "=> x" a submodule at x, and an empty one no file. Exec lists
// what can be run on the new side.
func newFilePull(t *testing.T, before, after map[string]string, exec ...string) *filePull {
	t.Helper()
	s := &filePull{&shopPull{prStage: newPRStage(t)}, &scribe{}}
	s.work = filepath.Join(s.home, "work")
	s.app.sleep, s.app.fixedEngine = s.door.stage.Clock.Sleep, s.scribe
	s.git(s.work, "checkout", "-q", "main")
	s.side(before)
	s.git(s.work, "checkout", "-q", "-B", "feature", "main")
	for name := range before {
		if _, stays := after[name]; !stays {
			after[name] = ""
		}
	}
	s.side(after)
	for _, name := range exec {
		s.git(s.work, "update-index", "--chmod=+x", "--", name)
	}
	s.git(s.work, "commit", "-q", "--amend", "--no-edit")
	s.moved()
	return s
}

func (s *filePull) side(files map[string]string) {
	s.t.Helper()
	modules := map[string]string{}
	for name, text := range files {
		full := filepath.Join(s.work, name)
		if err := os.RemoveAll(full); err != nil {
			s.t.Fatal(err)
		}
		link, isLink := strings.CutPrefix(text, "-> ")
		module, isModule := strings.CutPrefix(text, "=> ")
		var err error
		switch {
		case text == "":
			continue
		case isModule:
			modules[name] = module
			err = os.MkdirAll(full, 0o755)
		case isLink:
			err = os.Symlink(link, full)
		default:
			if err = os.MkdirAll(filepath.Dir(full), 0o755); err == nil {
				err = os.WriteFile(full, []byte(text), 0o644)
			}
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	s.git(s.work, "add", "-A")
	for name, id := range modules {
		s.git(s.work, "update-index", "--add", "--cacheinfo", "160000,"+id+","+name)
	}
	s.git(s.work, "commit", "-q", "--allow-empty", "-m", "files")
}

// remark is the comment about a finding of ours; nil if there is none.
func (s *filePull) remark(f told) *forge.Comment {
	s.t.Helper()
	var found *forge.Comment
	for _, c := range s.shown(forge.OnLine) {
		if strings.Contains(string(c.Body), f.title()) && regexp.MustCompile(`\b`+f.name+`\b`).MatchString(string(c.Body)) {
			if found != nil {
				s.t.Errorf("%s is said twice", f.title())
			}
			found = &c
		}
	}
	return found
}

// numbered is a file of so many lines, some of which are others.
func numbered(name string, n int, others map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if other, ok := others[i]; ok {
			b.WriteString(other)
			continue
		}
		fmt.Fprintf(&b, "const %s%d = compute(%d, '%s')\n", name, i, i*7, name)
	}
	return b.String()
}
