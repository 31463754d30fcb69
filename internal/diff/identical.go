package diff

import (
	"crypto/sha256"
	"encoding/hex"
)

// HunkRef names a hunk: the index of its file in the change and its own in the
// file.
type HunkRef struct{ File, Hunk int }

// Group is a set of hunks that delete and add the same lines, in the order of
// the change: one mechanical edit made in many places.
type Group struct {
	Key   string // 64 hex digits of the hash of those lines
	Hunks []HunkRef
}

// Identical groups the hunks of the files that are reviewed by what they
// delete and add, context aside, ordered by the first hunk of each group. Most
// groups have one hunk. A hunk that is cut is identical to none.
func Identical(c *Change) []Group {
	var groups []Group
	byKey := map[string]int{}
	for f := range c.Files {
		if c.Files[f].Skip != "" {
			continue
		}
		for h := range c.Files[f].Hunks {
			hunk, ref := &c.Files[f].Hunks[h], HunkRef{f, h}
			key := hunk.key()
			i, ok := byKey[key]
			if !ok || hunk.Cut != "" {
				i = len(groups)
				groups = append(groups, Group{Key: key})
			}
			if hunk.Cut == "" {
				byKey[key] = i
			}
			groups[i].Hunks = append(groups[i].Hunks, ref)
		}
	}
	return groups
}

// key is the hash of the changed lines of the hunk.
func (h *Hunk) key() string {
	sum := sha256.New()
	for i := range h.Lines {
		if l := &h.Lines[i]; l.Op != Context {
			sum.Write([]byte{byte(l.Op)})
			sum.Write([]byte(l.Text))
			sum.Write([]byte{'\n'})
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
