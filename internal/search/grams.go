package search

import (
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// The grams of a text: 3 to 5 characters, hashed to one of 2^18 numbers.
const (
	shortGram   = 3
	longGram    = 5
	gramBits    = 18
	gramNumbers = 1 << gramBits
	// maxGramText is in bytes of a text; the rest is not compared.
	maxGramText = 64 << 10
	// maxGramCount is how often a gram counts in a text. More often would say more of a log or a
	// hostile text than of a remark.
	maxGramCount = 4
)

// gramCounter counts the grams of one text after the other.
type gramCounter struct {
	counts [gramNumbers]uint8
	has    [gramNumbers / 64]uint64      // bits: which grams the text has
	full   [gramNumbers / 64 / 64]uint64 // bits: which words of has are not 0
	runes  []rune
	terms  []posting
}

// count returns the grams of a text in the order of their numbers: in lower case, with one space
// for all white space, and one at both ends. The result is valid until the next call.
func (c *gramCounter) count(s string) []posting {
	c.fold(s)
	for i := 0; i+shortGram <= len(c.runes); i++ {
		hash := uint32(2166136261) // FNV-1a of the characters
		for n, r := range c.runes[i:min(i+longGram, len(c.runes))] {
			hash = (hash ^ uint32(r)) * 16777619
			if n+1 >= shortGram {
				c.note((hash ^ hash>>15) * 2654435769 >> (32 - gramBits))
			}
		}
	}
	c.terms = c.terms[:0]
	for i, full := range c.full {
		for ; full != 0; full &= full - 1 {
			word := i*64 + bits.TrailingZeros64(full)
			for has := c.has[word]; has != 0; has &= has - 1 {
				gram := uint32(word*64 + bits.TrailingZeros64(has))
				c.terms = append(c.terms, newPosting(gram, int(c.counts[gram])))
				c.counts[gram] = 0
			}
			c.has[word] = 0
		}
		c.full[i] = 0
	}
	return c.terms
}

func (c *gramCounter) note(gram uint32) {
	switch c.counts[gram] {
	case 0:
		c.has[gram/64] |= 1 << (gram % 64)
		c.full[gram/64/64] |= 1 << (gram / 64 % 64)
	case maxGramCount:
		return
	}
	c.counts[gram]++
}

// fold sets the characters that are compared.
func (c *gramCounter) fold(s string) {
	c.runes = append(c.runes[:0], ' ')
	s = s[:min(len(s), maxGramText)]
	for len(s) > 0 {
		r, size := rune(s[0]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s)
		}
		s = s[size:]
		switch {
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		case r >= utf8.RuneSelf:
			r = unicode.ToLower(r)
		}
		if unicode.IsSpace(r) {
			r = ' '
			if c.runes[len(c.runes)-1] == ' ' {
				continue
			}
		}
		c.runes = append(c.runes, r)
	}
	if c.runes[len(c.runes)-1] != ' ' {
		c.runes = append(c.runes, ' ')
	}
}
