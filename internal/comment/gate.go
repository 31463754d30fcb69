package comment

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/precedent-dev/precedent/internal/markdown"
	"github.com/precedent-dev/precedent/internal/secret"
)

// maxPost bounds a comment, footer and marker included, in characters: GitHub's
// bound, which no other forge undercuts.
const maxPost = 65_536

// withheld stands for text that must not leave.
const withheld = "(withheld: this held something that looks like a credential, or that a page may not hold)"

// Safe is a page of Markdown that may leave: without footer and marker, for what
// is no comment, such as a check. It has at most 65,536 characters.
func (w Writer) Safe(page string) string {
	return truncate(gate(page, w.Links, w.own()), maxPost)
}

// Summary seals the report's Markdown: what may not leave is withheld, what does
// not fit is left out from the end, whole findings at a time, and both is said.
func (w Writer) Summary(report string, m Marker) string {
	m.Kind = Summary
	return w.seal(report, m, w.own())
}

// seal passes a page through the gate and puts footer and marker behind it. They
// are ours, and not looked at: a random id may look like anything.
func (w Writer) seal(page string, m Marker, own secret.Own) string {
	tail := w.tail(m.sanitized(own))
	return truncate(gate(page, w.Links, own), maxPost-utf8.RuneCountInString(tail)) + tail
}

// gate is the last thing that everything passes before it leaves. A block that
// holds a credential, a secret of this process or anything active is withheld; if
// something is left that only several blocks together show, the page is.
func gate(page string, links []string, own secret.Own) string {
	blocks := markdown.Blocks(page)
	for i, block := range blocks {
		if isUnsafe(block, links, own) {
			blocks[i] = withheld
		}
	}
	page = strings.Join(blocks, "\n\n")
	if isUnsafe(page, links, own) {
		return withheld
	}
	return page
}

func isUnsafe(page string, links []string, own secret.Own) bool {
	if own.In(page) {
		return true
	}
	if _, n := secret.Redact(page); n > 0 {
		return true
	}
	return markdown.Active(page, links) != ""
}

// truncate cuts a page that is too long at the end of a finding, or of another block
// that stands in no other, and says so. The lines behind its last rule stay.
func truncate(page string, most int) string {
	if utf8.RuneCountInString(page) <= most {
		return page
	}
	last := ""
	if i := strings.LastIndex(page, "\n\n---\n"); i >= 0 && utf8.RuneCountInString(page[i:]) < most/8 {
		page, last = page[:i], page[i:]
	}
	blocks := markdown.Blocks(page)
	cut := func(kept int) string {
		left := 0
		for _, b := range blocks[kept:] {
			if strings.HasPrefix(b, "### ") {
				left++
			}
		}
		said := "More is left out here for want of room."
		if left > 0 {
			said = fmt.Sprintf("%d more in full is left out here for want of room.", left)
		}
		return strings.Join(append(blocks[:kept:kept], "**"+said+"** "+"`precedent review --format json` has all."), "\n\n") + last
	}
	depth := openDetails(blocks)
	for _, whole := range []bool{true, false} { // findings, then any blocks
		for kept := countFitting(blocks, most); kept > 0; kept-- {
			if depth[kept] > 0 || whole && !strings.HasPrefix(blocks[kept], "### ") {
				continue
			}
			if s := cut(kept); utf8.RuneCountInString(s) <= most {
				return s
			}
		}
	}
	return cut(0)
}

// countFitting is the number of blocks, but for the last, that could fit.
func countFitting(blocks []string, most int) int {
	size := 0
	for i, b := range blocks {
		if size += utf8.RuneCountInString(b) + 2; size > most {
			return i
		}
	}
	return len(blocks) - 1
}

// openDetails counts, before each block and behind the last, what folds and is still open.
func openDetails(blocks []string) []int {
	depth := make([]int, len(blocks)+1)
	for i, b := range blocks {
		depth[i+1] = depth[i]
		for line := range strings.SplitSeq(b, "\n") {
			switch {
			case strings.HasPrefix(line, "<details>"):
				depth[i+1]++
			case strings.HasPrefix(line, "</details>"):
				depth[i+1]--
			}
		}
	}
	return depth
}
