package secret

import (
	"iter"
	"strings"
)

// keywords finds words in a text, ignoring case. Texts are long and words are rare:
// almost every byte takes one lookup.
type keywords struct {
	// starts maps the low five bits of three bytes, which ignore case, to the words
	// that can begin with them; 0 for none.
	starts [1 << 15]uint16
	lists  [][]keyword
}

type keyword struct {
	text string
	id   int
}

func step(start int, c byte) int { return (start<<5 | int(c&31)) & (1<<15 - 1) }

// add adds an ASCII word. find reports its id, which several words can share.
func (k *keywords) add(text string, id int) { k.addStart(text, keyword{text, id}) }

func (k *keywords) addStart(start string, w keyword) {
	if len(start) < 3 { // with any continuation
		for c := range 32 {
			k.addStart(start+string(rune(c)), w)
		}
		return
	}
	list := &k.starts[step(step(step(0, start[0]), start[1]), start[2])]
	if *list == 0 {
		k.lists = append(k.lists, nil)
		*list = uint16(len(k.lists))
	}
	k.lists[*list-1] = append(k.lists[*list-1], w)
}

// find yields the ids of the words in the text and their positions, in order.
func (k *keywords) find(text string) iter.Seq2[int, int] {
	return func(yield func(id, at int) bool) {
		start := 0
		for i := range len(text) + 2 {
			c := byte(0)
			if i < len(text) {
				c = text[i]
			}
			start = step(start, c)
			list := k.starts[start]
			if list == 0 || i < 2 {
				continue
			}
			at := i - 2
			for _, w := range k.lists[list-1] {
				end := at + len(w.text)
				if end <= len(text) && strings.EqualFold(text[at:end], w.text) && !yield(w.id, at) {
					return
				}
			}
		}
	}
}
