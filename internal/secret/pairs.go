package secret

import "strings"

// maxSibling is how far the name is from its value in an object, and maxListed how long a list of values
// can be, in bytes.
const maxSibling, maxListed = 400, 2048

// siblingName matches a member of an object that names what another member has.
var siblingName = compile(`(?i)(?:name|key|id|variable|field|header|option|setting|property|param|label|title|env)["'\]]{0,2}[ \t]{0,20}(?:=>|:=|[:=>])[ \t]{0,4}["'\x60]?([\w.\-]{2,80})`)

// pairName returns the name of a credential in the object of a value that is from start to end, as in
// {"name": "DB_PASSWORD", "value": "…"}; "" for none. The name can be on either side.
func (t *text) pairName(start, end int) string {
	before, after := t.s[max(0, start-maxSibling):start], t.s[end:min(len(t.s), end+maxSibling)]
	for _, edge := range []string{"{", "}", "\n\n", "/>"} {
		before = before[strings.LastIndex(before, edge)+1:]
		after, _, _ = strings.Cut(after, edge)
	}
	for _, m := range siblingName().FindAllStringSubmatchIndex(before, -1) {
		if name := before[m[2]:m[3]]; opensSomething(name) && !startsItem(before[m[3]:]) {
			return name
		}
	}
	for _, m := range siblingName().FindAllStringSubmatchIndex(after, -1) {
		if name := after[m[2]:m[3]]; opensSomething(name) && !startsItem(after[:m[0]]) {
			return name
		}
	}
	return ""
}

// startsItem reports whether another item of a list in YAML starts in a text.
func startsItem(s string) bool {
	for _, line := range strings.Split(s, "\n")[1:] {
		if strings.HasPrefix(strings.TrimLeft(line, " \t+"), "- ") {
			return true
		}
	}
	return false
}

// scalar matches a value in a list or an object, after the name that it may have.
var scalar = compile(`(?:^|[\[{(,\s])\s{0,200}(?:-[ \t]{1,4})?(?:["']?([\w.\-@]{1,60})["']?[ \t]{0,20}(?:=>|:=|[:=])[ \t]{0,20})?(?:"([^"\s]{6,})"|'([^'\s]{6,})'|\x60([^\x60\s]{6,})\x60|([^\s"'\x60<>{}\[\](),;]{6,}))`)

// listed adds what leaves of the values in a list, an object or a block. The name with the keyword at byte at opens
// it, and the opening ends at from.
func (w *walk) listed(rule, at, from int) {
	first, last := w.text.nameAt(at)
	name := w.text.s[first:last]
	block := w.text.block(from)
	settings := w.text.s[from-1] == '\n' || w.isConfig()
	for _, m := range scalar().FindAllStringSubmatchIndex(block, -1) {
		if m[2] >= 0 {
			words := nameWords(block[m[2]:m[3]])
			if n := len(words); n > 0 && (afterCredential[words[n-1]] || notCredential[words[n-1]] || notWords[words[n-1]] && words[n-1] != "value") {
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
