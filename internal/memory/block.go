package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Limits of the block in a prompt. A line takes some 100 bytes, so 4 KiB hold the history of
// about 40 files: more than a shard has.
const (
	maxBlock     = 4 << 10 // bytes
	maxBlockFile = 3 << 10 // bytes of it for the files
	maxBlockPath = 200     // characters
)

// Block renders the recall for a prompt: which touched files had findings, how many, of which
// categories, how severe, and where people dismissed some. It omits titles, reasons and code
// of earlier findings: text that other people wrote does not belong in a prompt. Equal recalls
// give equal blocks; without findings the block is empty.
func (r Recall) Block() string {
	if len(r.Files) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Findings of earlier reviews in the files of this change, most first:\n")
	files := slices.SortedFunc(slices.Values(r.Files), byHeat)
	writeList(&b, maxBlockFile, files, "files", func(h precedent.Hotspot) string {
		line := fmt.Sprintf("%s: %s (%s), worst %s", pathInLine(h.Path), plural(h.Findings, "finding"), categories(h.Categories), text.VisibleLine(string(h.TopSeverity)))
		if h.Dismissed > 0 {
			line += fmt.Sprintf(", %d dismissed by people", h.Dismissed)
		}
		return line
	})
	if dismissed := r.dismissedPlaces(); len(dismissed) > 0 {
		b.WriteString("People dismissed findings there; do not repeat such remarks without new evidence:\n")
		writeList(&b, maxBlock, dismissed, "places", func(s string) string { return s })
	}
	return b.String()
}

// dismissedPlaces lists, sorted, the category, file and symbol of dismissed findings.
func (r Recall) dismissedPlaces() []string {
	inFiles := map[string]bool{}
	for _, h := range r.Files {
		inFiles[h.Path] = true
	}
	counts := map[string]int{}
	for _, j := range r.Rejections {
		if !inFiles[j.Path] {
			continue
		}
		place := pathInLine(j.Path)
		if j.Symbol != "" {
			place += " in " + pathInLine(j.Symbol)
		}
		counts[fmt.Sprintf("%s: %s", place, text.VisibleLine(string(j.Category)))]++
	}
	var lines []string
	for place, n := range counts {
		lines = append(lines, fmt.Sprintf("%s, %s", place, plural(n, "time")))
	}
	slices.SortFunc(lines, cmp.Compare[string])
	return lines
}

// writeList writes a line for each value until the block reaches the limit, and then the
// number of omitted values.
func writeList[T any](b *strings.Builder, limit int, values []T, what string, line func(T) string) {
	const rest = len("- and 1000000 more places\n")
	for i, v := range values {
		s := "- " + line(v) + "\n"
		if b.Len()+len(s)+rest > limit {
			fmt.Fprintf(b, "- and %d more %s\n", len(values)-i, what)
			return
		}
		b.WriteString(s)
	}
}

// pathInLine makes a path, which the author of the change chose, safe for one line.
func pathInLine(path string) string {
	return text.Cut(text.VisibleLine(text.Clean(path)), maxBlockPath)
}

func categories(all []precedent.Category) string {
	var names []string
	for _, c := range all {
		names = append(names, text.VisibleLine(string(c)))
	}
	return strings.Join(names, ", ")
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
