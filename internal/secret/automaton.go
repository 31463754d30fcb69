package secret

// automaton finds the keywords of all rules in one pass over a text, case
// folded (Aho and Corasick, 1975, with the failure links resolved beforehand).
// Texts are long and keywords are rare: a step costs one table look-up.
type automaton struct {
	class [256]uint8 // of a byte; 0 for bytes that no keyword holds
	width int        // number of classes
	next  []uint16   // state*width + class → state
	words [][]word   // by state: the keywords that end here
}

// word is a keyword of a rule.
type word struct{ rule, len uint16 }

// newAutomaton builds the automaton of the rules' keywords.
func newAutomaton(rules []rule) *automaton {
	a := &automaton{width: 1}
	for _, r := range rules {
		for _, k := range r.keywords {
			for i := range len(k) {
				a.addClass(k[i])
			}
		}
	}
	a.grow()
	for i, r := range rules {
		for _, k := range r.keywords {
			a.addWord(k, word{uint16(i), uint16(len(k))})
		}
	}
	a.link()
	return a
}

func (a *automaton) addClass(c byte) {
	if a.class[c] != 0 {
		return
	}
	id := uint8(a.width)
	a.width++
	a.class[c] = id
	if 'a' <= c && c <= 'z' {
		a.class[c-'a'+'A'] = id
	} else if 'A' <= c && c <= 'Z' {
		a.class[c-'A'+'a'] = id
	}
}

// grow adds a state and returns it.
func (a *automaton) grow() uint16 {
	a.next = append(a.next, make([]uint16, a.width)...)
	a.words = append(a.words, nil)
	return uint16(len(a.words) - 1)
}

func (a *automaton) addWord(text string, w word) {
	state := uint16(0)
	for i := range len(text) {
		at := int(state)*a.width + int(a.class[text[i]])
		if a.next[at] == 0 {
			child := a.grow()
			a.next[at] = child
		}
		state = a.next[at]
	}
	a.words[state] = append(a.words[state], w)
}

// link fills every missing step with that of the longest suffix, breadth first.
func (a *automaton) link() {
	suffix := make([]uint16, len(a.words))
	var queue []uint16
	for c := range a.width {
		if s := a.next[c]; s != 0 {
			queue = append(queue, s)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		a.words[s] = append(a.words[s], a.words[suffix[s]]...)
		for c := range a.width {
			at := int(s)*a.width + c
			fallback := a.next[int(suffix[s])*a.width+c]
			if child := a.next[at]; child != 0 {
				suffix[child] = fallback
				queue = append(queue, child)
			} else {
				a.next[at] = fallback
			}
		}
	}
}
