package secret

import (
	"slices"
	"strings"
)

// maxSibling is how far the name is from its value in an object, and maxListed how long a list of values
// can be, in bytes.
const maxSibling, maxListed = 400, 2048

// siblingName matches a member of an object that names what another member has.
var siblingName = compile(`(?i)(?:name|key|id|variable|field|header|option|setting|property|param|label|title|env)["'\]]{0,2}[ \t]{0,20}(?:=>|:=|[:=>])[ \t]{0,4}["'\x60]?([\w.\-]{2,80})`)

// sibling is a member of an object that names another member: the names of credentials only. The match is at start,
// its name from name to end.
type sibling struct{ start, name, end int }

// siblingsIn is the number of bytes in which siblings are searched at once, maxMember how long one can be.
const siblingsIn, maxMember = 1024, 128

// siblings returns the members between two positions, and some around them, that name another. Each part of the text
// is searched once, so that a value costs no search of its own.
func (w *walk) siblings(from, to int) (all []sibling) {
	t := w.text
	if t.siblings == nil {
		t.siblings = map[int][]sibling{}
	}
	for at := from - from%siblingsIn; at < to; at += siblingsIn {
		found, ok := t.siblings[at]
		if !ok {
			part := t.s[at:min(len(t.s), at+siblingsIn+maxMember)]
			w.spend(farCost * len(part))
			for _, m := range siblingName().FindAllStringSubmatchIndex(part, -1) {
				if m[0] < siblingsIn && opensSomething(part[m[2]:m[3]]) {
					found = append(found, sibling{at + m[0], at + m[2], at + m[3]})
				}
			}
			t.siblings[at] = found
		}
		all = append(all, found...)
	}
	return all
}

// pairName returns the name of a credential in the object of a value that is from start to end, as in
// {"name": "DB_PASSWORD", "value": "…"}; "" for none. The name can be on either side: the nearest before the value
// comes first.
func (w *walk) pairName(start, end int) string {
	s := w.text.s
	first, last := max(0, start-maxSibling), min(len(s), end+maxSibling)
	for _, edge := range []string{"{", "}", "\n\n", "/>"} {
		first += strings.LastIndex(s[first:start], edge) + 1
		after, _, _ := strings.Cut(s[end:last], edge)
		last = end + len(after)
	}
	all := w.siblings(first, last)
	for _, m := range slices.Backward(all) {
		if m.start >= first && m.end <= start {
			if !startsItem(s[m.end:start]) {
				return s[m.name:m.end]
			}
			break
		}
	}
	for _, m := range all {
		if m.start >= end && m.end <= last {
			if !startsItem(s[end:m.start]) {
				return s[m.name:m.end]
			}
			break
		}
	}
	return ""
}

// startsItem reports whether another item of a list in YAML starts in a text.
func startsItem(s string) bool {
	return slices.ContainsFunc(strings.Split(s, "\n")[1:], func(line string) bool {
		return strings.HasPrefix(strings.TrimLeft(line, " \t+"), "- ")
	})
}

// scalar matches a value in a list or an object, after the name that it may have.
var scalar = compile(`(?:^|[\[{(,\s])\s{0,200}(?:-[ \t]{1,4})?(?:["']?([\w.\-@]{1,60})["']?[ \t]{0,20}(?:=>|:=|[:=])[ \t]{0,20})?(?:"([^"\s]{6,})"|'([^'\s]{6,})'|\x60([^\x60\s]{6,})\x60|([^\s"'\x60<>{}\[\](),;]{6,}))`)

// listed adds what leaves of the values in a list, an object or a block. The name with the keyword at byte at opens
// it, and the opening ends at from.
func (w *walk) listed(rule, at, from int) {
	first, last := w.text.nameAt(at)
	name := w.text.s[first:last]
	if !opensSomething(name) {
		return
	}
	block := w.text.block(from)
	w.open[rule].end = from + len(block) // what is listed within is judged by this name
	w.spend(len(block))
	settings := w.text.s[from-1] == '\n' || isConfig(w.path)
	for _, m := range scalar().FindAllStringSubmatchIndex(block, -1) {
		if m[2] >= 0 {
			words := nameWords(block[m[2]:m[3]])
			if n := len(words); n > 0 && (afterCredential[words[n-1]] || notCredential[words[n-1]] ||
				notWords[words[n-1]] && words[n-1] != "value") {
				continue
			}
		}
		for g := 4; g < len(m); g += 2 {
			if m[g] < 0 {
				continue
			}
			value := block[m[g]:m[g+1]]
			rest := strings.TrimLeft(block[m[g+1]:], "\"'` \t")
			isKey := rest != "" && (rest[0] == ':' || rest[0] == '=')
			quoted := g < len(m)-2
			if !isKey && (quoted || settings || isRandom(value)) && isNamed(name, value, quoted) {
				w.hits = append(w.hits, hit{rule, from + m[g], from + m[g+1]})
			}
		}
	}
}

// block returns what belongs to a name whose opening ends at a position: up to the closing bracket, or the lines
// that are indented more, or the items of a list.
func (t *text) block(from int) string {
	s := t.s[from:min(len(t.s), from+maxListed)]
	if from > 0 && t.s[from-1] != '\n' {
		depth := 1
		for i := range len(s) {
			switch s[i] {
			case '[', '{', '(':
				depth++
			case ']', '}', ')':
				if depth--; depth == 0 {
					return s[:i]
				}
			}
		}
		return s
	}
	line := t.s[strings.LastIndexByte(t.s[:from-1], '\n')+1 : from]
	outer, end := indent(line), 0
	for l := range strings.Lines(s) {
		in, item := indent(l), strings.HasPrefix(strings.TrimLeft(l, " \t+"), "- ")
		if strings.TrimSpace(l) == "" || in < outer || in == outer && !item {
			break
		}
		end += len(l)
	}
	return s[:end]
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t+")) }
