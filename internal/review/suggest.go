package review

import (
	"bytes"
	"go/parser"
	"go/token"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// checkSuggestions keeps suggestions that can be applied as they are: they replace
// whole lines of the head, and applying one must give what it shows. Others become
// sketches, and useless ones are removed. named are the spans that the findings came
// with.
func checkSuggestions(fs []precedent.Finding, named []precedent.Span, p *Placer,
	read func(precedent.Side, string) ([]byte, error),
) {
	for i := range fs {
		f := &fs[i]
		if f.Suggestion == "" || !f.Live() {
			continue
		}
		f.Suggestion = strings.ReplaceAll(f.Suggestion, "\r\n", "\n")
		strike := func(why string) {
			f.Suggestion = ""
			f.Note("place", "suggestion removed: %s", why)
		}
		if text.Visible(f.Suggestion) != f.Suggestion {
			strike("it contains hidden characters")
			continue
		}
		if why := p.whyMisplaced(f, named[i]); why != "" {
			setAside(f, why)
			continue
		}
		data, err := read(precedent.Right, f.Path)
		if err != nil {
			setAside(f, "the file cannot be read")
			continue
		}
		if f.Inexact || !hasQuoteAt(f.Quote, data, f.Start) {
			setAside(f, "the quoted lines differ from the file")
			continue
		}
		if why := whyPointless(f, data); why != "" {
			strike(why)
		}
	}
}

// setAside turns a finding's suggestion into a sketch, which cannot be applied.
func setAside(f *precedent.Finding, why string) {
	f.Suggestion, f.Sketch = "", f.Suggestion
	f.Note("place", "suggestion cannot be applied as it is: %s", why)
}

// whyMisplaced returns why a suggestion does not replace the finding's lines, or "" if
// it does. It was made for the lines that the finding named, starting at the quote:
// if the diff cuts them, or they start elsewhere, it would replace other lines.
func (p *Placer) whyMisplaced(f *precedent.Finding, named precedent.Span) string {
	file := p.change.File(f.Path)
	switch {
	case f.Side != precedent.Right || f.Start < 1 || file == nil:
		return "it replaces no lines of the new file"
	case file.HunkAt(f.Side, f.Start) < 0 || file.HunkAt(f.Side, f.Start) != file.HunkAt(f.Side, f.End):
		return "it replaces lines outside the diff"
	case named.End < 1 && len(quoteTexts(f.Quote)) > 1:
		return "it does not say which lines it replaces"
	case named.End-named.Start > f.End-f.Start:
		return "it replaces lines beyond its hunk"
	case named.End > named.Start && named.Start != f.Start:
		return "the lines that it replaces do not begin at the quote"
	case strings.Contains(f.Suggestion, "[REDACTED") || strings.Contains(f.Suggestion, "<U+"):
		return "it contains placeholders from the prompt"
	}
	return ""
}

// hasQuoteAt reports whether a file has a quote at a line, ignoring blank lines and white
// space at the end of lines.
func hasQuoteAt(quote string, data []byte, start int) bool {
	var has []string
	n := 0
	for l := range bytes.Lines(data) {
		if n++; n >= start && len(bytes.TrimSpace(l)) > 0 {
			has = append(has, string(bytes.TrimRight(l, " \t\r\n")))
		}
		if len(has) > quoteLines {
			break
		}
	}
	for l := range strings.Lines(quote) {
		if l = strings.TrimRight(l, " \t\r\n"); l == "" {
			continue
		}
		if len(has) == 0 || has[0] != l {
			return false
		}
		has = has[1:]
	}
	return true
}

// whyPointless returns why a suggestion is useless, or "" if it is not.
func whyPointless(f *precedent.Finding, data []byte) string {
	after := replaced(data, f.Start, f.End, f.Suggestion)
	if bytes.Equal(data, after) {
		return "it changes nothing"
	}
	if strings.HasSuffix(f.Path, ".go") && parses(data) && !parses(after) {
		return "the file would no longer parse"
	}
	return ""
}

func parses(source []byte) bool {
	_, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	return err == nil
}

// replaced returns the text with the lines from start to end replaced. The new lines
// end like the last replaced one.
func replaced(data []byte, start, end int, lines string) []byte {
	var b bytes.Buffer
	n := 0
	for l := range bytes.Lines(data) {
		n++
		switch {
		case n < start || n > end:
			b.Write(l)
		case n == end:
			end := l[len(bytes.TrimRight(l, "\r\n")):]
			lines = strings.TrimSuffix(lines, "\n")
			if string(end) == "\r\n" {
				lines = strings.ReplaceAll(lines, "\n", "\r\n")
			}
			b.WriteString(lines)
			b.Write(end)
		}
	}
	return b.Bytes()
}
