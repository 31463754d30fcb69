package review

import (
	"bytes"
	"go/parser"
	"go/token"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// checkSuggestions strikes what cannot be applied as it is: a suggestion
// replaces whole lines of the head, and who takes it must get what it shows.
func checkSuggestions(fs []precedent.Finding, p *Placer, read func(precedent.Side, string) ([]byte, error)) {
	for i := range fs {
		f := &fs[i]
		if f.Suggestion == "" || !f.Live() {
			continue
		}
		if why := unfit(f, p, read); why != "" {
			f.Suggestion = ""
			f.Note("place", "its suggestion is left out: %s", why)
		}
	}
}

// unfit says why a suggestion cannot be offered, "" if it can.
func unfit(f *precedent.Finding, p *Placer, read func(precedent.Side, string) ([]byte, error)) string {
	file := p.change.File(f.Path)
	switch {
	case f.Side != precedent.Right || f.Start < 1 || file == nil:
		return "it replaces no lines of the new file"
	case file.HunkAt(f.Side, f.Start) < 0 || file.HunkAt(f.Side, f.Start) != file.HunkAt(f.Side, f.End):
		return "it replaces lines outside of the diff"
	case strings.Contains(f.Suggestion, "[REDACTED") || strings.Contains(f.Suggestion, "<U+"):
		return "it holds what a prompt shows in place of the file's own characters"
	case text.Visible(f.Suggestion) != f.Suggestion:
		return "it holds hidden characters"
	}
	data, err := read(precedent.Right, f.Path)
	if err != nil {
		return "the file cannot be read"
	}
	after := replaced(data, f.Start, f.End, f.Suggestion)
	if bytes.Equal(data, after) {
		return "it is what the file says already"
	}
	if strings.HasSuffix(f.Path, ".go") && parses(data) && !parses(after) {
		return "the file would not parse any more"
	}
	return ""
}

func parses(source []byte) bool {
	_, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	return err == nil
}

// replaced is the text with other lines in the place of some, which end as the
// last of those did.
func replaced(data []byte, start, end int, lines string) []byte {
	var b bytes.Buffer
	n := 0
	for l := range bytes.Lines(data) {
		n++
		switch {
		case n < start || n > end:
			b.Write(l)
		case n == end:
			b.WriteString(strings.TrimSuffix(lines, "\n"))
			b.Write(l[len(bytes.TrimRight(l, "\r\n")):])
		}
	}
	return b.Bytes()
}
