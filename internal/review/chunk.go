package review

import (
	"slices"
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/text"
)

// fileChunk is the part of one file in a shard.
type fileChunk struct {
	pieces []piece
	tokens int
}

// fileChunks returns the first hunk of each group; all groups are of one file. A file
// that fits into one shard is not split. Secrets are redacted before a hunk is split,
// because half a key is not recognized.
func (p *plan) fileChunks(c *diff.Change, groups [][]diff.HunkRef) []fileChunk {
	var all []fileChunk
	add := func(one piece, head, body int) {
		last := len(all) - 1
		if last < 0 || all[last].tokens+body > p.most {
			all = append(all, fileChunk{tokens: head})
			last++
		}
		all[last].pieces = append(all[last].pieces, one)
		all[last].tokens += body
	}
	for _, refs := range groups {
		file := &c.Files[refs[0].File]
		whole := piece{file, *redactedHunk(file.Path, &file.Hunks[refs[0].Hunk]), refs}
		head, body := measure(c, whole)
		if head+body <= p.most {
			add(whole, head, body)
			continue
		}
		room := func() int {
			frame := whole
			frame.hunk.Lines = nil
			_, around := measure(c, frame)
			return p.most - head - around
		}
		p.shorten(&whole, room()-2*prompt.Tokens(lineTooLong)) // which is shown, too
		for _, h := range split(&whole.hunk, room()) {
			one := piece{file, h, refs}
			_, body := measure(c, one)
			add(one, head, body)
		}
	}
	return all
}

// A line that does not fit into one request is shown in part, and its hunk does not count as read: whole, it would
// cost as much as the rest of a review, or be refused.
const (
	lineTooLong = "a line is too long for one request, which shows its beginning"
	mostOfLong  = 4 << 10 // bytes
)

// shorten cuts the lines that do not fit into the given number of tokens.
func (p *plan) shorten(one *piece, room int) {
	const digits = 7
	lines := slices.Clone(one.hunk.Lines)
	for i := range lines {
		if lineSize(&lines[i], digits) <= room {
			continue
		}
		lines[i].Text = text.Head(lines[i].Text, min(mostOfLong, room))
		one.hunk.Lines, one.hunk.Cut = lines, lineTooLong
		for _, ref := range one.refs {
			p.long[ref] = true
		}
	}
}

// measure returns the size of a piece in a prompt, in tokens: of the line that names
// its file, which the pieces of a file share, and of the rest. It counts the rendered
// text, so that shards are neither half empty nor too large.
func measure(c *diff.Change, one piece) (head, body int) {
	also := (&brief{change: c}).places(one.refs[1:])
	shown := prompt.Diff([]prompt.Piece{{File: one.file, Hunk: &one.hunk, Also: also}})
	name, rest, _ := strings.Cut(text.Visible(shown), "\n")
	return prompt.Tokens(name) + 2*newline, prompt.Tokens(rest)
}

// newline is the size of a line's end in tokens, rounded up.
const newline = 1

// lineSize returns an upper bound of a line's size in a prompt, in tokens, for line
// numbers with the given number of digits.
func lineSize(l *diff.Line, digits int) int {
	const sign, digitsPerToken = 1, 3
	n := sign + newline + (digits+digitsPerToken-1)/digitsPerToken + prompt.Tokens(text.Visible(l.Text))
	if l.NoEOL {
		n += prompt.Tokens("\\ No newline at end of file") + sign + newline
	}
	return n
}

// split splits a hunk between lines into parts of at most the given number of tokens.
// Each part has the line numbers of its lines.
func split(h *diff.Hunk, most int) []diff.Hunk {
	if len(h.Lines) < 2 {
		return []diff.Hunk{*h}
	}
	var parts []diff.Hunk
	oldNext, newNext := h.OldStart, h.NewStart // the numbers of the next lines
	if h.OldLines == 0 {
		oldNext++
	}
	if h.NewLines == 0 {
		newNext++
	}
	digits := len(strconv.Itoa(max(h.OldStart+h.OldLines, h.NewStart+h.NewLines)))
	for rest := h.Lines; len(rest) > 0; {
		part := diff.Hunk{Section: h.Section, Cut: h.Cut}
		n, room := 0, most
		for n < len(rest) {
			if room -= lineSize(&rest[n], digits); room < 0 && n > 0 {
				break
			}
			n++
		}
		part.Lines, rest = rest[:n], rest[n:]
		for i := range part.Lines {
			if part.Lines[i].Old > 0 {
				part.OldLines++
			}
			if part.Lines[i].New > 0 {
				part.NewLines++
			}
		}
		part.OldStart, part.NewStart = oldNext, newNext
		oldNext += part.OldLines
		newNext += part.NewLines
		if part.OldLines == 0 {
			part.OldStart--
		}
		if part.NewLines == 0 {
			part.NewStart--
		}
		parts = append(parts, part)
	}
	return parts
}
