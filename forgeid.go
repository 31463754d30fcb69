package precedent

import (
	"cmp"
	"strconv"
)

// ForgeID is a forge's id of a comment, a conversation, a review or an account: a number on GitHub and Gitea,
// something else elsewhere; empty for none. Only the forge that issued it can interpret it.
type ForgeID string

// NumberID returns the id for a number of a forge; empty for 0.
func NumberID(n int64) ForgeID {
	if n == 0 {
		return ""
	}
	return ForgeID(strconv.FormatInt(n, 10))
}

// Number is the inverse of NumberID; 0 for any other id.
func (id ForgeID) Number() int64 {
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil || NumberID(n) != id {
		return 0
	}
	return n
}

// Compare orders numeric ids by number, which is the order in which forges issue them, and
// puts other ids after them.
func (id ForgeID) Compare(other ForgeID) int {
	a, b := id.Number(), other.Number()
	if a != 0 && b != 0 {
		return cmp.Compare(a, b)
	}
	return cmp.Or(cmp.Compare(rank(id), rank(other)), cmp.Compare(id, other))
}

// rank groups ids: none, numbers, others.
func rank(id ForgeID) int {
	switch {
	case id == "":
		return 0
	case id.Number() != 0:
		return 1
	}
	return 2
}
