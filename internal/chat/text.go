package chat

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Characters of the normal form that stand for something else.
const (
	opaque = 0 // a byte that never matches: code, a link, struck text
	item   = 2 // the mark of a list item
)

// prose is the text of a comment, twice: as it was written, and in a normal form that the patterns match.
type prose struct {
	src  string
	norm []byte
	at   []int // for each byte of norm, where it is in src; one more for the end

	sentences []sentence
}

// sentence is a part of the normal form.
type sentence struct {
	from, to  int
	paragraph int
	isItem    bool // it begins an item of a list
	inList    bool // it is part of an item
	inQuote   bool // it begins inside of quotation marks
	afterGap  bool // something that is not prose precedes it
	example   bool // the sentence before announces it, as "for example:" does
}

// newProse splits the prose of a comment into sentences.
func newProse(body precedent.Untrusted) *prose {
	var b strings.Builder
	gap := false
	for _, l := range readLines(body) {
		if l.kind != isProse {
			gap = true
			continue
		}
		if gap {
			b.WriteString("\n\x00\n\n")
			gap = false
		}
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
	p := &prose{src: strings.ToValidUTF8(b.String(), "\x00")}
	p.normalize()
	p.split()
	return p
}

// lineStart matches what Markdown puts before the text of a line.
var lineStart = text.Pattern(`^[ \t]*(?:#{1,6}[ \t]+|((?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?))?`)

// folded maps characters to the ones that the patterns have. Letters are not among them: a
// letter that looks like another one never matches it.
var folded = map[rune]string{
	'’': "'", '‘': "'", 'ʼ': "'", '´': "'", '＇': "'",
	'\u00a0': " ", '\u202f': " ", '\u3000': " ", '\t': " ",
	'：': ": ", '，': ", ", '、': ", ", '。': ". ", '！': "! ", '？': "? ", '…': ".", '—': "-", '–': "-",
	'“': `"`, '”': `"`, '„': `"`, '«': `"`, '»': `"`,
}

// normalize computes the normal form: small letters, straight apostrophes and quotes, single
// spaces, without emphasis and emojis.
func (p *prose) normalize() {
	hidden := masks(p.src)
	fresh := true
	for i := 0; i < len(p.src); {
		if fresh {
			m := lineStart().FindStringSubmatchIndex(p.src[i:])
			if m[2] >= 0 {
				p.emit(i, item)
			}
			i += m[1]
			if fresh = false; i == len(p.src) {
				break
			}
		}
		if hidden[i] {
			p.emit(i, opaque)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(p.src[i:])
		switch {
		case r == '\n':
			p.emit(i, '\n')
			fresh = true
		case folded[r] != "":
			for _, c := range []byte(folded[r]) {
				p.emit(i, c)
			}
		case r == '*', r == '_' && !p.within(i):
		case unicode.In(r, unicode.So, unicode.Sk) && r >= utf8.RuneSelf, r == '\ufe0f', r == '\u200d' && p.follows(i):
			p.emit(i, ' ')
		default:
			for j := range size {
				c := p.src[i+j]
				if 'A' <= c && c <= 'Z' {
					c += 'a' - 'A'
				}
				p.emit(i+j, c)
			}
		}
		i += size
	}
	p.at = append(p.at, len(p.src))
}

// emit appends a byte to the normal form. Spaces at the beginning of a line, and after others, are left out.
func (p *prose) emit(at int, c byte) {
	if n := len(p.norm); c == ' ' && (n == 0 || p.norm[n-1] == ' ' || p.norm[n-1] == '\n' || p.norm[n-1] == item) {
		return
	}
	p.norm = append(p.norm, c)
	p.at = append(p.at, at)
}

// within tells whether a character is inside of a word.
func (p *prose) within(i int) bool {
	return i > 0 && i+1 < len(p.src) && isAlnum(p.src[i-1]) && isAlnum(p.src[i+1])
}

// follows tells whether an emoji precedes a joiner.
func (p *prose) follows(i int) bool {
	r, _ := utf8.DecodeLastRuneInString(p.src[:i])
	return r == '\ufe0f' || r >= utf8.RuneSelf && unicode.In(r, unicode.So, unicode.Sk)
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= utf8.RuneSelf
}

// wrapped is how long a line is, in bytes, that a mail program may have wrapped.
const wrapped = 60

// split finds the sentences. A line ends a sentence, unless it looks wrapped.
func (p *prose) split() {
	like := sentence{}
	open, before := false, 0 // whether the last sentence may go on, and how long the line before is
	for from := 0; from < len(p.norm); {
		to := len(p.norm)
		if i := bytes.IndexByte(p.norm[from:], '\n'); i >= 0 {
			to = from + i
		}
		l := string(p.norm[from:to])
		switch {
		case l == "":
			like.paragraph++
			like.inList, open = false, false
		case l == "\x00":
			like.afterGap, open = true, false
		case open && before >= wrapped && l[0] >= 'a' && l[0] <= 'z' && p.src[p.at[from]] == l[0] && !begins(l):
			p.norm[from-1] = ' '
			last := p.sentences[len(p.sentences)-1]
			p.sentences = p.sentences[:len(p.sentences)-1]
			open = p.splitLine(last.from, to, last)
		default:
			like.isItem = l[0] == item
			like.inList = like.inList || like.isItem
			open = p.splitLine(from+strings.Count(l[:1], "\x02"), to, like)
			like.afterGap = false
		}
		before = len(l)
		from = to + 1
	}
	p.relate()
}

// relate finds what a sentence is to those before it.
func (p *prose) relate() {
	total := map[int]int{} // quotation marks of each paragraph
	for _, s := range p.sentences {
		total[s.paragraph] += bytes.Count(p.norm[s.from:s.to], []byte{'"'})
	}
	quotes, in := 0, -1
	for i := range p.sentences {
		s := &p.sentences[i]
		if s.paragraph != in {
			quotes, in = 0, s.paragraph
		}
		s.inQuote = quotes%2 == 1 && total[in] > quotes
		quotes += bytes.Count(p.norm[s.from:s.to], []byte{'"'})
		s.example = i > 0 && !s.afterGap && p.announces(p.sentences[i-1])
	}
}

// abbreviations end with a period that does not end a sentence.
var abbreviations = text.Pattern(`(?:^|[ (])(?:e\.g|i\.e|etc|vs|cf|resp|approx|incl|esp|mr|ms|dr|nr|fig|z\.b|d\.h)\.$`)

// splitLine appends the sentences of a line, and tells whether the last one is open.
func (p *prose) splitLine(from, to int, like sentence) (open bool) {
	l := string(p.norm[from:to])
	lastQuote := strings.LastIndexByte(l, '"')
	start, quotes := 0, 0
	add := func(end int) {
		s := like
		s.from, s.to = from+start, from+end
		if strings.TrimSpace(l[start:end]) != "" {
			p.sentences = append(p.sentences, s)
			like.isItem, like.afterGap = false, false
		}
		for start = end; start < len(l) && l[start] == ' '; start++ {
		}
	}
	for i := 0; i < len(l); i++ {
		switch l[i] {
		case '"':
			quotes++
		case '.', '!', '?':
			end := i + 1
			for end < len(l) && strings.IndexByte(`.!?)'"`, l[end]) >= 0 {
				if l[end] == '"' {
					quotes++
				}
				end++
			}
			isEnd := end == len(l) || l[end] == ' '
			if isEnd && (quotes%2 == 0 || end > lastQuote) && (end > i+1 ||
				!abbreviations().MatchString(l[max(start, i-8):end])) {
				add(end)
			}
			i = end - 1
		}
	}
	if start == len(l) {
		return false
	}
	add(len(l))
	return true
}

// markings are sentences that announce an example.
var markings = text.Pattern(`(?:^|[ (])(?:for example|for instance|e\.?g\.?|example|like (?:this|so|that)|as follows|(?:write|say|type|try) (?:this|that|it|something))[ .:?]*$`)

// announces tells whether what follows a sentence is an example or a quotation.
func (p *prose) announces(s sentence) bool {
	l := strings.TrimRight(string(p.norm[s.from:s.to]), " ")
	return strings.HasSuffix(l, ":") || markings().MatchString(l[max(0, len(l)-20):])
}

// text returns the normal form of a sentence.
func (p *prose) text(s sentence) string { return strings.TrimRight(string(p.norm[s.from:s.to]), " ") }

// source returns what was written between two places of the normal form, cleaned. Emphasis
// that begins or ends there is kept if both its ends are.
func (p *prose) source(from, to int) string {
	for to > from && p.norm[to-1] == ' ' {
		to--
	}
	if from >= to {
		return ""
	}
	start, end := p.at[from], p.at[to-1]+1
	for end < len(p.src) && !utf8.RuneStart(p.src[end]) {
		end++
	}
	head, tail := start, end
	for head > 0 && strings.IndexByte("*_", p.src[head-1]) >= 0 {
		head--
	}
	for tail < len(p.src) && strings.IndexByte("*_", p.src[tail]) >= 0 {
		tail++
	}
	if strings.Contains(p.src[start:tail], p.src[head:start]) {
		start = head
	}
	if strings.Contains(p.src[start:end], p.src[end:tail]) || p.src[end-1] == '/' { // src/* is a pattern
		end = tail
	}
	b := []byte(p.src[start:end])
	for i := from; i < to; i++ {
		if p.norm[i] == ' ' && p.src[p.at[i]] == '\n' {
			b[p.at[i]-start] = ' ' // a wrapped line
		}
	}
	return strings.TrimSpace(text.Clean(strings.ReplaceAll(string(b), "\x00", "")))
}
