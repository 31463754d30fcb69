package review

import (
	"cmp"
	"path"
	"slices"

	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/guide"
)

// How much one request and all requests of a review show, in tokens. Models find less
// in longer prompts, and a review may use two million tokens.
const (
	shardTokens  = 24_000
	reviewTokens = 2_000_000
	maxShards    = reviewTokens / shardTokens
)

// plan says which request of a specialist shows which hunks. All specialists share
// it, so that a provider can cache what their requests have in common.
type plan struct {
	shards []shard
	most   int // the most tokens in a shard
	// carriers are the shards that show a hunk or a part of it. A hunk without any is
	// not to be reviewed, or is beyond the limit of a review.
	carriers map[diff.HunkRef][]int
	// long are the hunks with a line that does not fit into a request.
	long map[diff.HunkRef]bool
	// ignored are the files that the policy ignores, by index in the change.
	ignored map[int]bool
	// before are the hunks that an earlier review read, which are not shown again.
	before map[diff.HunkRef]bool
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
	// refs are the hunk, followed by hunks elsewhere that delete and add the same
	// lines, which are not shown.
	refs []diff.HunkRef
}

// newPlan returns a plan without shards.
func newPlan(c *diff.Change, ignore []string) *plan {
	p := &plan{carriers: map[diff.HunkRef][]int{}, long: map[diff.HunkRef]bool{}, ignored: map[int]bool{}}
	for i := range c.Files {
		p.ignored[i] = slices.ContainsFunc(ignore, func(glob string) bool { return guide.Match(glob, c.Files[i].Path) })
	}
	return p
}

// pack distributes the hunks of all files to review over shards of at most the given
// number of tokens, folder by folder.
func (p *plan) pack(c *diff.Change, most int) {
	p.most = most
	var groups [][]diff.HunkRef
	for _, g := range diff.Identical(c) {
		refs := slices.DeleteFunc(g.Hunks, func(r diff.HunkRef) bool {
			// A hunk without its end does not count as read, so that its beginning is not paid for.
			return p.ignored[r.File] || p.before[r] || c.Files[r.File].Hunks[r.Hunk].LacksLines()
		})
		if len(refs) > 0 {
			groups = append(groups, refs)
		}
	}
	slices.SortStableFunc(groups, func(a, b []diff.HunkRef) int {
		pa, pb := c.Files[a[0].File].Path, c.Files[b[0].File].Path
		return cmp.Or(cmp.Compare(path.Dir(pa), path.Dir(pb)), cmp.Compare(pa, pb), cmp.Compare(a[0].Hunk, b[0].Hunk))
	})
	dir := func(refs []diff.HunkRef) string { return path.Dir(c.Files[refs[0].File].Path) }
	var folder []fileChunk
	for len(groups) > 0 {
		n := 1
		for n < len(groups) && groups[n][0].File == groups[0][0].File {
			n++
		}
		folder = append(folder, p.fileChunks(c, groups[:n])...)
		if n == len(groups) || dir(groups[n]) != dir(groups[0]) {
			p.addFolder(folder)
			folder = nil
		}
		groups = groups[n:]
	}
	p.cut()
}

// addFolder adds a folder's chunks to the last shard, as many as fit, and the rest to
// new shards. If a folder is split, the files that fit go first.
func (p *plan) addFolder(chunks []fileChunk) {
	for len(chunks) > 0 {
		var rest []fileChunk
		for _, one := range chunks {
			if p.fits(one.tokens) {
				p.add(one)
			} else {
				rest = append(rest, one)
			}
		}
		if len(rest) > 0 {
			p.shards = append(p.shards, shard{})
		}
		chunks = rest
	}
}

// add adds a chunk to the last shard.
func (p *plan) add(one fileChunk) {
	last := len(p.shards) - 1
	s := &p.shards[last]
	s.pieces = append(s.pieces, one.pieces...)
	s.tokens += one.tokens
	for _, part := range one.pieces {
		for _, ref := range part.refs {
			p.carriers[ref] = append(p.carriers[ref], last)
		}
	}
}

// fits reports whether the last shard has room for the given number of tokens or is
// empty.
func (p *plan) fits(tokens int) bool {
	n := len(p.shards)
	return n > 0 && (len(p.shards[n-1].pieces) == 0 || p.shards[n-1].tokens+tokens <= p.most)
}

// cut removes the shards beyond the limit of a review.
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

// countUnshown counts the hunks to review that no shard shows.
func (p *plan) countUnshown(c *diff.Change) int {
	n := 0
	for i := range c.Files {
		if c.Files[i].Skip != "" || p.ignored[i] {
			continue
		}
		for h := range c.Files[i].Hunks {
			if ref := (diff.HunkRef{File: i, Hunk: h}); len(p.carriers[ref]) == 0 && !p.before[ref] {
				n++
			}
		}
	}
	return n
}

// countReadBefore counts the hunks that are not shown because an earlier review read them.
func (p *plan) countReadBefore(c *diff.Change) int {
	n := 0
	for ref := range p.before {
		if c.Files[ref.File].Skip == "" && !p.ignored[ref.File] {
			n++
		}
	}
	return n
}
