package prompt

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/text"
)

// guideParts is the guide as a prompt shows it: some files in full, and the rules of
// the others.
type guideParts struct {
	texts, rules []string
	omitted      string
	shown        []precedent.Rule
}

// chooseGuide selects what of the guide fits. First every file that applies to the
// change gets an equal share for its rules, so that a long file cannot crowd out the
// others; then files are shown in full, in order, while there is room. Of a guide for
// contributors, which is mostly about setting up and submitting, only the rules are
// shown.
func chooseGuide(docs []precedent.GuideDoc, rules []precedent.Rule, files []*diff.File, room int) guideParts {
	sources := sourcesFor(docs, rules, files)
	left := room
	for _, share := range []int{room / max(len(sources), 1), room} {
		for _, s := range sources {
			left -= s.showRules(min(share, left))
		}
	}
	var g guideParts
	omitted := 0
	for _, s := range sources {
		g.shown = append(g.shown, s.rules[:s.shown]...)
		omitted += len(s.rules) - s.shown
		if s.shown > 0 {
			g.rules = append(g.rules, s.heading()+strings.Join(s.lines, "\n"))
		}
		if n := len(s.heading()) + len(s.text); s.text != "" && n <= left && path.Base(s.path) != "CONTRIBUTING.md" {
			left -= n
			g.texts = append(g.texts, s.heading()+s.text)
		}
	}
	if omitted > 0 {
		g.omitted = fmt.Sprintf("%d further rules are left out for length.", omitted)
	}
	return g
}

// source is a guide file with its rules.
type source struct {
	path, dir, text string
	rules           []precedent.Rule
	shown           int // how many of the rules
	lines           []string
}

// showRules shows more rules, in at most the given number of bytes, and returns how
// many bytes it used.
func (s *source) showRules(room int) (took int) {
	for s.shown < len(s.rules) {
		r := s.rules[s.shown]
		line := fmt.Sprintf("%s, line %d: %s", r.ID, r.Line, text.VisibleLine(text.Clean(r.Text)))
		n := len(line) + 1
		if s.shown == 0 {
			n += len(s.heading())
		}
		if took+n > room {
			break
		}
		s.lines = append(s.lines, line)
		s.shown++
		took += n
	}
	return took
}

// heading says where the text comes from and which files it applies to.
func (s *source) heading() string {
	where := "all files"
	if s.dir != "" {
		where = "files in " + text.VisibleLine(s.dir) + "/"
	}
	return text.VisibleLine(s.path) + ", for " + where + ":\n"
}

// sourcesFor groups what applies to changed files by guide file, in the order of the
// files.
func sourcesFor(docs []precedent.GuideDoc, rules []precedent.Rule, files []*diff.File) []*source {
	var all []*source
	byPath := map[string]*source{}
	add := func(p, dir string) *source {
		if byPath[p] == nil {
			byPath[p] = &source{path: p, dir: dir}
			all = append(all, byPath[p])
		}
		return byPath[p]
	}
	for _, d := range docs {
		if applies(d.Dir, files) {
			add(d.Path, d.Dir).text = strings.TrimSpace(text.Clean(d.Text))
		}
	}
	for _, r := range rules {
		if applies(r.Dir, files) {
			s := add(r.Source, r.Dir)
			s.rules = append(s.rules, r)
		}
	}
	return all
}

// applies reports whether a changed file is in the folder.
func applies(dir string, files []*diff.File) bool {
	return dir == "" || slices.ContainsFunc(files, func(f *diff.File) bool {
		return strings.HasPrefix(f.Path, dir+"/") || strings.HasPrefix(f.OldPath, dir+"/")
	})
}
