package review

import (
	"cmp"
	"path"
	"slices"

	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/guide"
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
		refs := slices.DeleteFunc(g.Hunks, func(r diff.HunkRef) bool { return p.ignored[r.File] || p.before[r] })
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

// addFolder puts what a folder has into the last shard, as much as fits, and the
// rest into new ones. Once a folder is torn, which of its files go first does
// not matter, so the ones that fit do.
func (p *plan) addFolder(parcels []fileChunk) {
	for len(parcels) > 0 {
		var rest []fileChunk
		for _, one := range parcels {
			if p.fits(one.tokens) {
				p.add(one)
			} else {
				rest = append(rest, one)
			}
		}
		if len(rest) > 0 {
			p.shards = append(p.shards, shard{})
		}
		parcels = rest
	}
}

// add puts a parcel into the last shard.
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

// fits tells whether there is a last shard with so much room, or an empty one.
func (p *plan) fits(tokens int) bool {
	n := len(p.shards)
	return n > 0 && (len(p.shards[n-1].pieces) == 0 || p.shards[n-1].tokens+tokens <= p.most)
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

// countUnshown counts the hunks that are to be reviewed and that no shard shows.
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
