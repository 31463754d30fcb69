package diff

import (
	"crypto/sha256"
	"encoding/hex"
)

// HunkRef identifies a hunk: the index of its file in the change, and its index in the file.
type HunkRef struct{ File, Hunk int }

// Group is a set of hunks that delete and add the same lines, in the order of the
// change: one mechanical edit in many places.
type Group struct {
	Key   string // hash of those lines, 64 hex digits
	Hunks []HunkRef
}

// Identical groups the hunks of reviewed files by their deleted and added lines, ignoring context. Groups are
// ordered by their first hunk. Most have one hunk. A cut hunk is not identical to any other.
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
