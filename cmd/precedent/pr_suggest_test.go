package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/forge"
)

// suggestionBlock is what a forge takes for lines to commit.
var suggestionBlock = regexp.MustCompile("(?m)^(`{3,})suggestion\n")

// committed applies the suggestion of a comment as a forge does: the block's lines
// take the place of the comment's, with the line ends of the file.
func committed(t *testing.T, c *forge.Comment, text string) string {
	t.Helper()
	body := string(c.Body)
	at := suggestionBlock.FindStringSubmatchIndex(body)
	if at == nil {
		t.Fatalf("no suggestion in\n%q", body)
	}
	inner, _, closed := strings.Cut("\n"+body[at[1]:], "\n"+body[at[2]:at[3]]+"\n")
	if !closed {
		t.Fatalf("the block has no end:\n%q", body)
	}
	lines := slices.Collect(strings.Lines(text))
	end, last := "\n", lines[c.Span.End-1]
	if strings.Contains(text, "\r\n") {
		end = "\r\n"
	}
	now := strings.ReplaceAll(strings.TrimPrefix(inner, "\n"), "\n", end) + last[len(strings.TrimRight(last, "\r\n")):]
	return strings.Join(slices.Concat(lines[:c.Span.Start-1], []string{now}, lines[c.Span.End:]), "")
}

// TestPostSuggestions: to commit what a comment suggests makes the file that the
// model meant.
func TestPostSuggestions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, suggestion string
		end              int    // 9 if it replaces both flawed lines
		want             string // in their place
	}{
		{"one line", "good(8)", 8, "good(8)\nbad(9)\n"},
		{"with a line end", "good(8)\ngood(9)\n", 9, "good(8)\ngood(9)\n"},
		{"with carriage returns", "good(8)\r\ngood(9)\r\n", 9, "good(8)\ngood(9)\n"},
		{"more lines", "good(8)\ngood(8.5)\n\nend()", 8, "good(8)\ngood(8.5)\n\nend()\nbad(9)\n"},
		{"fewer lines", "good(89)", 9, "good(89)\n"},
		{"tabs and spaces", "\t  good(8)  \n\t}", 8, "\t  good(8)  \n\t}\nbad(9)\n"},
		{"blank lines at the end", "good(8)\n\n\n", 9, "good(8)\n\n\n"},
		{"blank lines at the start", "\n\ngood(9)", 9, "\n\ngood(9)\n"},
		{"fences", "// ```js\n```suggestion\ngood(8)\n````\n~~~", 8, "// ```js\n```suggestion\ngood(8)\n````\n~~~\nbad(9)\n"},
		{"indented fence", "   ```\ngood(8)\n   ```", 8, "   ```\ngood(8)\n   ```\nbad(9)\n"},
		{"markup", "<b>&amp;</b> [a](https://b.example) #1 | *x*", 8, "<b>&amp;</b> [a](https://b.example) #1 | *x*\nbad(9)\n"},
		{"Unicode", "print('Größe 尺寸 📐')", 8, "print('Größe 尺寸 📐')\nbad(9)\n"},
	}
	before, after, meant := map[string]string{}, map[string]string{}, map[string]string{}
	var finds []told
	for i, test := range tests {
		for kind, end := range map[string]string{"lf": "\n", "crlf": "\r\n", "open": "\n"} {
			text := func(middle string, more int) string {
				s := strings.ReplaceAll(numbered("s", 7, nil)+middle+numbered("t", more, nil), "\n", end)
				if kind == "open" { // the flawed lines are the last, and the last has no end
					s = strings.TrimSuffix(s, "\n")
				}
				return s
			}
			more := 9
			if kind == "open" {
				more = 0
			}
			path := fmt.Sprintf("%s/%d.js", kind, i)
			before[path], after[path], meant[path] = text("", 9), text("bad(8)\nbad(9)\n", more), text(test.want, more)
			finds = append(finds, told{name: fmt.Sprintf("%s%c", kind, 'a'+i), path: path, quote: "bad(8)", start: 8, end: test.end, suggestion: test.suggestion})
		}
	}
	s := newFilePull(t, before, after)
	r := s.reviewed(finds, "--max-inline", "100")
	s.nothingLost(r)
	for i, f := range finds {
		c := s.remark(f)
		if c == nil {
			t.Errorf("%s is not said", f.title())
			continue
		}
		if got := committed(t, c, after[f.path]); got != meant[f.path] {
			t.Errorf("%s of %s: %q, want %q\n%q", tests[i/3].name, f.path, got, meant[f.path], string(c.Body))
		}
	}
}

// TestPostSuggestionsThatDoNotFit: they are shown, and nobody can commit them.
func TestPostSuggestionsThatDoNotFit(t *testing.T) {
	t.Parallel()
	before, after := map[string]string{}, map[string]string{}
	both := func(path string) {
		before[path], after[path] = numbered("s", 40, nil), numbered("s", 40, map[int]string{8: "bad(8)\n", 9: "bad(9)\n", 30: "bad(30)\n"})
	}
	finds := []told{
		{name: "differs", path: "differs.js", quote: "let s11 = compute(77, 's')", start: 11, end: 11, suggestion: "shown(11)"},
		{name: "part", path: "part.js", quote: "const s11 = compute(77", start: 11, end: 11, suggestion: "shown(11)"},
		{name: "left", path: "left.js", side: "LEFT", quote: "const s8 = compute(56, 's')", start: 8, end: 8, suggestion: "shown(8)"},
		{name: "hunks", path: "hunks.js", quote: "bad(9)", start: 9, end: 30, suggestion: "shown(9)\nshown(30)"},
		{name: "middle", path: "middle.js", quote: "bad(9)", start: 8, end: 10, suggestion: "shown(8)\nshown(10)"},
		{name: "secretive", path: "secretive.js", quote: "bad(8)", start: 8, end: 8, suggestion: "shown('AKIA" + "QYLPMN5HFIQR7XYA')"},
		{name: "redacted", path: "redacted.js", quote: "bad(8)", start: 8, end: 8, suggestion: "shown('[REDACTED:aws-access-token]')"},
		{name: "command", path: "command.js", quote: "bad(8)", start: 8, end: 8, suggestion: "shown(8)\n/merge"},
		{name: "mention", path: "mention.js", quote: "bad(8)", start: 8, end: 8, suggestion: "// @everybody: shown(8)"},
		{name: "filewide", path: "filewide.js", suggestion: "shown(8)", evidence: []map[string]any{{"path": "a.txt", "line": 3, "quote": "three"}}},
	}
	for _, f := range finds {
		both(f.path)
	}
	s := newFilePull(t, before, after)
	r := s.reviewed(finds)
	s.nothingLost(r)
	for _, f := range finds {
		said := s.summary()
		if c := s.remark(f); c != nil {
			said = string(c.Body)
		} else if f.name != "filewide" {
			t.Errorf("%s is not said on its line", f.title())
		}
		if suggestionBlock.MatchString(said) {
			t.Errorf("%s can be committed:\n%q", f.title(), said)
		}
		if !strings.Contains(said, "Suggested change:\n\n```diff\n+") || !strings.Contains(said, "shown(") {
			t.Errorf("%s does not show what it suggests:\n%q", f.title(), said)
		}
	}
	for _, c := range s.door.stage.World.Shown(s.pull) {
		if strings.Contains(string(c.Body), "QYLPMN5HFIQR7XYA") {
			t.Errorf("the secret is posted:\n%q", string(c.Body))
		}
	}
}
