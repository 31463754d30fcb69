package main

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// macros are those of man(7) that the pages use.
var macros = regexp.MustCompile(`^\.(TH|SH|B|BR|TP|PP|nf|fi)( |$)`)

// escapes are those that the pages use: a backslash, a minus, nothing, a
// quotation mark, and fonts.
var escapes = regexp.MustCompile(`\\(e|-|&|\(dq|f[BIR])`)

// TestManPages: a page for each command that people are shown, the same each
// time, and without anything that the typesetter complains of.
func TestManPages(t *testing.T) {
	pages := manPages((&app{}).root(), "2026-01-05")
	if diff := cmp.Diff(pages, manPages((&app{}).root(), "2026-01-05")); diff != "" {
		t.Errorf("the pages differ from one time to the next:\n%s", diff)
	}
	for _, name := range []string{"precedent.1", "precedent-review.1", "precedent-fp-add.1", "precedent-doctor.1"} {
		if pages[name] == nil {
			t.Errorf("there is no %s", name)
		}
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Log("there is no groff to read the pages")
	}
	for name, page := range pages {
		for line := range strings.Lines(string(page)) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(line, ".") && !macros.MatchString(line) || strings.HasPrefix(line, "'") {
				t.Errorf("%s: a line that would be a macro: %s", name, line)
			}
			if rest := escapes.ReplaceAllString(line, ""); strings.Contains(rest, `\`) {
				t.Errorf("%s: an escape that is not ours: %s", name, line)
			}
		}
		for _, section := range []string{".SH NAME\n", ".SH SYNOPSIS\n", ".SH DESCRIPTION\n", ".SH EXAMPLES\n"} {
			if !bytes.Contains(page, []byte(section)) {
				t.Errorf("%s has no %s", name, section)
			}
		}
		if groff == "" {
			continue
		}
		cmd := exec.Command(groff, "-man", "-ww", "-Tascii")
		cmd.Stdin = bytes.NewReader(page)
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil || said.Len() > 0 {
			t.Errorf("%s: groff says %v: %s", name, err, said.String())
		}
		if !bytes.Contains(out, []byte("2026-01-05")) {
			t.Errorf("%s does not show its date", name)
		}
	}
}

// TestRoff: no text can be taken for typesetting.
func TestRoff(t *testing.T) {
	for in, want := range map[string]string{
		".so /etc/passwd":   `\&.so /etc/passwd`,
		"a\n'b":             "a\n\\&'b",
		`C:\dir`:            `C:\edir`,
		"fp add --reason=x": `fp add \-\-reason=x`,
	} {
		if got := roff(in); got != want {
			t.Errorf("roff(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := roffWord(`a "b" c`), `"a \(dqb\(dq c"`; got != want {
		t.Errorf("roffWord = %s, want %s", got, want)
	}
}
