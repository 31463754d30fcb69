package comment

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precedent-dev/precedent/internal/markdown"
	"github.com/precedent-dev/precedent/internal/secret"
)

// maxPost is the maximum length of a comment, footer and marker included, in characters:
// GitHub's limit; no other forge has a lower one.
const maxPost = 65_536

// withheld replaces text that must not be posted.
const withheld = "(withheld: this may contain a credential or active content)"

// Safe returns a page of Markdown that is safe to post, without footer and marker: for text
// that is not a comment, such as a check. It has at most 65,536 characters.
func (w Writer) Safe(page string) string {
	return truncate(gate(page, w.Links, w.own()), maxPost)
}

// Summary adds footer and marker to the report's Markdown. Unsafe blocks are withheld, and a
// page that is too long loses its end; the text says so.
func (w Writer) Summary(report string, m Marker) string {
	m.Kind = Summary
	return w.seal(report, m, w.own())
}

// seal passes a page through the gate and appends footer and marker. These are not checked: a
// random id may look like anything.
func (w Writer) seal(page string, m Marker, own secret.Own) string {
	tail := w.tail(m.sanitized(own))
	return truncate(gate(page, w.Links, own), maxPost-utf8.RuneCountInString(tail)) + tail
}

// gate is the last check of all text before it is posted. A page quotes several files, so the
// rules for every kind of file apply. It withholds blocks with a
// credential, a secret of this process or active content, of tables and lists only the part with one,
// and the whole page if only several blocks together contain one.
func gate(page string, links []string, own secret.Own) string {
	blocks := markdown.Blocks(page)
	for i, block := range blocks {
		if isUnsafe(block, links, own) {
			blocks[i] = withholdParts(block, func(part string) bool { return isUnsafe(part, links, own) })
		}
	}
	page = strings.Join(blocks, "\n\n")
	if isUnsafe(page, links, own) {
		return withheld
	}
	return page
}

// withholdParts withholds the unsafe cells of a table and parts of a list, and any other block as a whole.
func withholdParts(block string, unsafe func(string) bool) string {
	lines := strings.Split(block, "\n")
	for i, line := range lines {
		start, between := "- ", " · "
		if strings.HasPrefix(line, "|") {
			start, between = "|", " | " // a pipe within a cell is escaped
		}
		rest, ok := strings.CutPrefix(line, start)
		if !ok {
			return withheld
		}
		parts := strings.Split(rest, between)
		for k, part := range parts {
			if unsafe(part) {
				parts[k] = withheld
			}
		}
		lines[i] = start + strings.Join(parts, between)
	}
	if block = strings.Join(lines, "\n"); unsafe(block) {
		return withheld
	}
	return block
}

func isUnsafe(page string, links []string, own secret.Own) bool {
	if own.In(page) {
		return true
	}
	if _, n := secret.Redact("", page); n > 0 {
		return true
	}
	return markdown.Active(page, links) != ""
}

// truncate shortens a page that is too long at the end of a top-level block, closes the sections that are
// open there, and says so. The lines after the last rule stay.
func truncate(page string, limit int) string {
	if utf8.RuneCountInString(page) <= limit {
		return page
	}
	note, last := "**Shortened to fit a comment.**", ""
	if i := strings.LastIndex(page, "\n\n---\n"); i >= 0 && utf8.RuneCountInString(page[i:]) < limit/8 {
		page, last = page[:i], page[i:]
	}
	var kept []string
	open, left := 0, limit-utf8.RuneCountInString(note+last)
	for _, b := range markdown.Blocks(page) {
		lines := "\n" + b
		after := max(open+strings.Count(lines, "\n<details>")-strings.Count(lines, "\n</details>"), 0)
		if left -= utf8.RuneCountInString(b) + 2; left < after*len("\n\n</details>") {
			break
		}
		kept, open = append(kept, b), after
	}
	kept = append(kept, slices.Repeat([]string{"</details>"}, open)...)
	return strings.Join(append(kept, note), "\n\n") + last
}
