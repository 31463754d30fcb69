package review

import (
	"cmp"
	"path"
	"slices"

	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// How much one request shows, and all of them together, in tokens. Models find
// less in longer prompts, and a review may spend two million tokens.
const (
	shardTokens  = 24_000
	reviewTokens = 2_000_000
	maxShards    = reviewTokens / shardTokens
)

// plan says which request of a prompted finder shows which hunks. All prompted
// finders share it, so that their requests share what a cache can keep.
type plan struct {
	shards []shard
	most   int // tokens that a shard shows
	// carriers are the shards that show a hunk, or each a part of it. A hunk that
	// none shows is not reviewed, or beyond what a review may spend.
	carriers map[diff.HunkRef][]int
	// ignored are the files that the policy leaves out, by index in the change.
	ignored map[int]bool
}

// shard is what one request shows: whole hunks, unless one alone is too large.
type shard struct {
	pieces []piece
	tokens int
}

// piece is a hunk, or the part of it that fits into a shard.
type piece struct {
	file *diff.File
	hunk diff.Hunk
	// refs are the hunk, and behind it those that delete and add the same lines
	// elsewhere, which are not shown.
	refs []diff.HunkRef
}

// newPlan returns a plan without shards, which shows nothing.
func newPlan(c *diff.Change, ignore []string) *plan {
	p := &plan{carriers: map[diff.HunkRef][]int{}, ignored: map[int]bool{}}
	for i := range c.Files {
		p.ignored[i] = slices.ContainsFunc(ignore, func(glob string) bool { return guide.Match(glob, c.Files[i].Path) })
	}
	return p
}

// pack puts the hunks of all files that are to be reviewed into shards of at
// most so many tokens, folder by folder.
func (p *plan) pack(c *diff.Change, most int) {
	p.most = most
	var groups [][]diff.HunkRef
	for _, g := range diff.Identical(c) {
		refs := slices.DeleteFunc(g.Hunks, func(r diff.HunkRef) bool { return p.ignored[r.File] })
		if len(refs) > 0 {
			groups = append(groups, refs)
		}
	}
	slices.SortStableFunc(groups, func(a, b []diff.HunkRef) int {
		pa, pb := c.Files[a[0].File].Path, c.Files[b[0].File].Path
		return cmp.Or(cmp.Compare(path.Dir(pa), path.Dir(pb)), cmp.Compare(pa, pb), cmp.Compare(a[0].Hunk, b[0].Hunk))
	})
	for len(groups) > 0 {
		n := 1
		for n < len(groups) && groups[n][0].File == groups[0][0].File {
			n++
		}
		p.addFile(c, groups[:n])
		groups = groups[n:]
	}
	p.cut()
}

// addFile shows the first hunk of each group, all of which are of one file. A
// file that fits into one shard is not torn apart.
func (p *plan) addFile(c *diff.Change, groups [][]diff.HunkRef) {
	total := 0
	for _, refs := range groups {
		total += size(&c.Files[refs[0].File].Hunks[refs[0].Hunk])
	}
	if total <= p.most && !p.fits(total) {
		p.shards = append(p.shards, shard{})
	}
	for _, refs := range groups {
		file := &c.Files[refs[0].File]
		for _, h := range split(&file.Hunks[refs[0].Hunk], p.most) {
			n := size(&h)
			if !p.fits(n) {
				p.shards = append(p.shards, shard{})
			}
			last := len(p.shards) - 1
			s := &p.shards[last]
			s.pieces = append(s.pieces, piece{file, h, refs})
			s.tokens += n
			for _, ref := range refs {
				p.carriers[ref] = append(p.carriers[ref], last)
			}
		}
	}
}

// fits tells whether there is a last shard with so much room.
func (p *plan) fits(tokens int) bool {
	n := len(p.shards)
	return n > 0 && p.shards[n-1].tokens+tokens <= p.most
}

// cut leaves out the shards beyond what a review may spend.
func (p *plan) cut() {
	if len(p.shards) <= maxShards {
		return
	}
	p.shards = p.shards[:maxShards]
	for ref, shards := range p.carriers {
		if shards[len(shards)-1] >= maxShards {
			delete(p.carriers, ref)
		}
	}
}

// unshown counts the hunks that are to be reviewed and that no shard shows.
func (p *plan) unshown(c *diff.Change) int {
	n := 0
	for i := range c.Files {
		if c.Files[i].Skip != "" || p.ignored[i] {
			continue
		}
		for h := range c.Files[i].Hunks {
			if len(p.carriers[diff.HunkRef{File: i, Hunk: h}]) == 0 {
				n++
			}
		}
	}
	return n
}

// What a hunk and a line take besides their text, in tokens: the header and
// path, the number and sign.
const (
	hunkTokens = 40
	lineTokens = 4
)

// size is about what a hunk takes in a prompt, in tokens.
func size(h *diff.Hunk) int {
	n := hunkTokens
	for i := range h.Lines {
		n += lineSize(&h.Lines[i])
	}
	return n
}

func lineSize(l *diff.Line) int { return lineTokens + prompt.Tokens(l.Text) }

// split cuts a hunk into parts of at most so many tokens, between lines. The
// parts have the line numbers that their lines have.
func split(h *diff.Hunk, most int) []diff.Hunk {
	if size(h) <= most {
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
	for rest := h.Lines; len(rest) > 0; {
		part := diff.Hunk{Section: h.Section, Cut: h.Cut}
		n, room := 0, most-hunkTokens
		for n < len(rest) {
			if room -= lineSize(&rest[n]); room < 0 && n > 0 {
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
