package prompt

import (
	"unicode"
	"unicode/utf8"
)

// Tokens estimates how many tokens a model counts for a text. It is used to split a
// change into shards and to estimate the cost of a review; the actual usage comes with
// the answer.
//
// Four characters a token, the makers' rule of thumb for English, is too low
// for code, which is full of signs that are tokens of their own. So the
// estimate counts by kind, in quarters of a token, with weights fitted to two
// published vocabularies (OpenAI's o200k_base and Anthropic's
// @anthropic-ai/tokenizer) on the patches of 19 pull requests in five
// languages. There it is 1.11 times what the former counts (0.95 to 1.28) and
// 0.96 times what the latter does (0.86 to 1.10).
func Tokens(s string) int {
	var c tokenCounter
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		c.add(r)
	}
	c.end()
	return (c.quarters + 3) / 4
}

// tokenCounter counts runs of one kind of character.
type tokenCounter struct {
	quarters int
	kind     runKind
	run      int // length of the run
	lower    bool
}

type runKind int

const (
	noRun runKind = iota
	letters
	figures
	blanks
)

func (c *tokenCounter) add(r rune) {
	switch {
	case r >= 'a' && r <= 'z' || r == '_':
		c.extend(letters)
		c.lower = true
	case r >= 'A' && r <= 'Z':
		if c.lower { // a new word of a name such as userID
			c.end()
		}
		c.extend(letters)
	case r >= '0' && r <= '9':
		c.extend(figures)
	case r == ' ' || r == '\t':
		c.extend(blanks)
	case r == '\n':
		c.single(2)
	case r < utf8.RuneSelf:
		c.single(3) // some share a token: "})", "!="
	case unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek):
		c.single(2)
	default:
		c.single(4)
	}
}

func (c *tokenCounter) extend(k runKind) {
	if c.kind != k {
		c.end()
		c.kind = k
	}
	c.run++
}

func (c *tokenCounter) single(quarters int) {
	c.end()
	c.quarters += quarters
}

// end closes a run.
func (c *tokenCounter) end() {
	switch c.kind {
	case letters:
		c.quarters += 4 * ((c.run + 5) / 6)
	case figures:
		c.quarters += 4 * ((c.run + 2) / 3)
	case blanks:
		if c.run > 1 { // a single one belongs to the following word
			c.quarters += 3
		}
	}
	c.kind, c.run, c.lower = noRun, 0, false
}
