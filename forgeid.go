package precedent

import (
	"cmp"
	"strconv"
)

// ForgeID is what a forge calls a comment, a conversation, a review or an account:
// a number on GitHub and Gitea, something else elsewhere. It is empty for none.
// Only the forge that gave it can read it.
type ForgeID string

// NumberID is the id of what a forge numbers; empty for 0.
func NumberID(n int64) ForgeID {
	if n == 0 {
		return ""
	}
	return ForgeID(strconv.FormatInt(n, 10))
}

// Number is the number that NumberID made an id of; 0 for any other id.
func (id ForgeID) Number() int64 {
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil || NumberID(n) != id {
		return 0
	}
	return n
}

// Compare orders numbers by size, which is the order in which a forge gave them,
// and puts ids that are not numbers after them.
func (id ForgeID) Compare(other ForgeID) int {
	a, b := id.Number(), other.Number()
	if a != 0 && b != 0 {
		return cmp.Compare(a, b)
	}
	return cmp.Or(cmp.Compare(rank(id), rank(other)), cmp.Compare(id, other))
}

// rank sorts kinds of ids: none, numbers, others.
func rank(id ForgeID) int {
	switch {
	case id == "":
		return 0
	case id.Number() != 0:
		return 1
	}
	return 2
}
