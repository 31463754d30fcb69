package guide

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	gmtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/precedent-dev/precedent/internal/text"
)

// A statement is one thing that a guide file says: a list item, a table's cell
// or a sentence.
type statement struct {
	text     string    // clean, on one line, without markup but for code spans
	line     int       // from 1
	sections []heading // that it stands under, the nearest first
	item     bool      // a list item or a cell, not a sentence of running text
	heading  bool
	link     bool // nothing but a link
}

// Bounds of the reader of statements. The Markdown library takes quadratic time
// for some inputs: deep nesting, blank lines inside nesting, many link
// definitions, and unclosed brackets or emphasis within one block.
const (
	maxLines      = 12_000
	maxLineBytes  = 4 << 10
	maxBlockBytes = 4 << 10
	maxMarkers    = 16 // list and quote marks at the start of one line
	maxIndent     = 40
	maxReferences = 500
	maxBrackets   = 32  // in one block
	maxEmphasis   = 128 // marks in one block
	maxStatements = 4_000
)

// statements reads a guide file. Code blocks and HTML say nothing. In plain
// text the end of a line ends a sentence, unless the next one goes on in lower case.
func statements(src string, plain bool) []statement {
	tamed, lines := tame(src)
	ctx := parser.NewContext()
	doc := blocks.Parse(gmtext.NewReader(tamed), parser.WithContext(ctx))
	r := reader{src: tamed, lines: lines, ctx: ctx, plain: plain}
	r.starts = append(r.starts, 0)
	for i, c := range tamed {
		if c == '\n' {
			r.starts = append(r.starts, i+1)
		}
	}
	r.children(doc, "")
	return r.out
}

// blocks parses the structure of a file, spans the text of one block. They are
// apart so that a block's size is known before its spans are parsed.
var (
	blocks = parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(),
			util.Prioritized(extension.NewTableParagraphTransformer(), 200))...),
	)
	spans = parser.NewParser(
		parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1000)),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
	)
)

var (
	definition = regexp.MustCompile(`^ {0,3}\[[^\]]*\]:`)
	numbering  = regexp.MustCompile(`^[0-9]+(\.[0-9]+)*[.)]?\s+`)
	checkbox   = regexp.MustCompile(`^\[[ xX]\]\s+`)
)

// tame returns the file without what the Markdown library is slow on, and for
// each line left its number in the file: runs of blank lines become one, and
// lines that are overlong or nested beyond reason become blank. A block of
// metadata at the top is dropped.
func tame(src string) (tamed []byte, lines []int) {
	var b bytes.Buffer
	references, blank := 0, true
	add := func(line string, number int) {
		if line = strings.TrimRight(line, " \t\r"); line == "" && blank {
			return
		}
		blank = line == ""
		b.WriteString(line)
		b.WriteByte('\n')
		lines = append(lines, number)
	}
	all := strings.SplitN(strings.TrimPrefix(src, "\ufeff"), "\n", maxLines+1)
	first := metadata(all)
	for i, line := range all[first:min(len(all), max(first, maxLines))] {
		if definition.MatchString(line) {
			references++
		}
		if len(line) > maxLineBytes || tooDeep(line) || references > maxReferences {
			line = ""
		}
		add(line, first+i+1)
	}
	return b.Bytes(), lines
}

// metadata is the number of lines of the block between "---" marks at the top.
func metadata(lines []string) int {
	if strings.TrimSpace(lines[0]) != "---" {
		return 0
	}
	for i := 1; i < min(len(lines), 50); i++ {
		if strings.TrimSpace(lines[i]) == "---" {
			return i + 1
		}
	}
	return 0
}

// tooDeep tells whether the line starts with more nesting than people write.
func tooDeep(line string) bool {
	markers, indent := 0, 0
	for _, c := range line {
		switch {
		case c == ' ':
			indent++
		case c == '\t':
			indent += 4
		case c == '>', c == '-', c == '*', c == '+', c == '.', c == ')':
			markers++
		case c >= '0' && c <= '9':
		default:
			return markers > maxMarkers || indent > maxIndent+2*markers
		}
	}
	// Nothing but marks: a thematic break or the line under a heading.
	return indent > maxIndent || strings.Count(line, ">") > maxMarkers
}

// A reader collects the statements of one file.
type reader struct {
	src      []byte
	starts   []int // offset of each line
	lines    []int // number of each line in the file
	ctx      parser.Context
	plain    bool
	headings []heading
	out      []statement
}

// A heading is one that the next statement stands under; level 7 is a line of
// text that serves as one.
type heading struct {
	level    int
	text     string
	place    place  // what it says of its section; plain if nothing
	category string // that its words name; empty if none
	verdict  bool   // see isVerdict
}

const pseudoLevel = 7

// children reads the blocks of a container. lead is what the text before them
// says of each: "Never", "In tests".
func (r *reader) children(n ast.Node, lead string) {
	own := lead
	for c := n.FirstChild(); c != nil && len(r.out) < maxStatements; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Heading:
			r.heading(c)
			own = lead
		case *ast.Paragraph, *ast.TextBlock:
			own = r.paragraph(c, lead)
		case *ast.List:
			for item := c.FirstChild(); item != nil && len(r.out) < maxStatements; item = item.NextSibling() {
				r.item(item, own)
			}
			own = lead
		case *ast.Blockquote:
			r.children(c, lead)
		case *east.Table:
			r.table(c)
		}
	}
}

func (r *reader) heading(n *ast.Heading) {
	in := r.inline(n)
	in.text = strings.TrimPrefix(in.text, numbering.FindString(in.text))
	r.under(n.Level, in.text)
	if in.text != "" {
		s := r.statement(in, 0, len(in.text), "", false)
		s.heading = true
		r.out = append(r.out, s)
	}
}

// under makes the text the heading of what follows.
func (r *reader) under(level int, s string) {
	for len(r.headings) > 0 && r.headings[len(r.headings)-1].level >= level {
		r.headings = r.headings[:len(r.headings)-1]
	}
	s = oneLine(s)
	c := newClaim(s)
	h := heading{level: level, text: s, category: sectionCategory(c.spoken), verdict: c.isVerdict()}
	h.place = c.placeOf(h.verdict)
	r.headings = append(r.headings, h)
}

// paragraph reads running text, and returns the lead for a list that follows.
func (r *reader) paragraph(n ast.Node, lead string) (next string) {
	next = lead
	in := r.inline(n)
	if in.text == "" {
		return lead
	}
	parts := r.sentences(in.text)
	last := parts[len(parts)-1]
	short := strings.TrimRight(in.text[last[0]:last[1]], ":")
	if _, listed := n.NextSibling().(*ast.List); utf8.RuneCountInString(short) <= 60 && !strings.Contains(short, "\n") {
		titled := in.strong || listed && !strings.ContainsAny(lastRune(short), ".!?;,")
		switch {
		case listed && isLead(short) && !strings.ContainsAny(lastRune(short), ".!?"):
			next, parts = join(lead, short), parts[:len(parts)-1]
		case titled && len(parts) == 1 && !isLead(short):
			r.under(pseudoLevel, short)
			return lead
		}
	}
	for _, s := range parts {
		r.out = append(r.out, r.statement(in, s[0], s[1], lead, false))
	}
	return next
}

// item reads a list item: its first block is one statement, and what it holds
// beyond that is read on its own, led by the item if it ends in a colon.
func (r *reader) item(n ast.Node, lead string) {
	first := n.FirstChild()
	if first == nil {
		return
	}
	switch first.(type) {
	case *ast.Paragraph, *ast.TextBlock:
	default:
		r.children(n, lead)
		return
	}
	own := lead
	in := r.inline(first)
	in.text = strings.TrimPrefix(in.text, checkbox.FindString(in.text))
	if strings.HasSuffix(in.text, ":") && first.NextSibling() != nil {
		parts := r.sentences(in.text)
		last := parts[len(parts)-1]
		if short := strings.TrimRight(in.text[last[0]:], ":"); utf8.RuneCountInString(short) <= 80 {
			in.text, lead = strings.TrimSpace(in.text[:last[0]]), join(lead, short)
		}
	}
	if in.text != "" {
		r.out = append(r.out, r.statement(in, 0, len(in.text), own, true))
	}
	n.RemoveChild(n, first)
	r.children(n, lead)
}

// table reads the cells of a table's body; a header such as "Don't" leads its column.
func (r *reader) table(n ast.Node) {
	var leads []string
	for row := n.FirstChild(); row != nil && len(r.out) < maxStatements; row = row.NextSibling() {
		column := 0
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			in := r.inline(cell)
			if _, ok := row.(*east.TableHeader); ok {
				leads = append(leads, "")
				if isLead(in.text) {
					leads[column] = in.text
				}
			} else if in.text != "" && column < len(leads) {
				r.out = append(r.out, r.statement(in, 0, len(in.text), leads[column], true))
			}
			column++
		}
	}
}

// A passage is the text of one block without its markup, and where it came from.
type passage struct {
	text   string
	line   int   // of its first byte
	breaks []int // offsets of its further lines in text
	link   bool  // nothing but a link
	strong bool  // nothing but strong emphasis
}

// inline reads the text of a block. A block that is too large or too tangled to
// be a rule has none.
func (r *reader) inline(n ast.Node) passage {
	segments := n.Lines()
	if segments == nil || segments.Len() == 0 {
		return passage{}
	}
	block := segments.Value(r.src)
	if len(block) > maxBlockBytes || bytes.Count(block, []byte("[")) > maxBrackets ||
		bytes.Count(block, []byte("*"))+bytes.Count(block, []byte("_")) > maxEmphasis {
		return passage{}
	}
	doc := spans.Parse(gmtext.NewReader(block), parser.WithContext(r.ctx))
	var b strings.Builder
	p := passage{line: r.lineAt(segments.At(0).Start)}
	for c := doc.FirstChild(); c != nil; c = c.NextSibling() {
		if only := c.FirstChild(); only != nil && only == c.LastChild() && c == doc.LastChild() && c == doc.FirstChild() {
			e, ok := only.(*ast.Emphasis)
			p.strong = ok && e.Level == 2
			_, p.link = only.(*ast.Link)
		}
		render(&b, c, block)
		b.WriteByte('\n')
	}
	p.text = strings.Trim(b.String(), " \n")
	for i := range len(p.text) {
		if p.text[i] == '\n' {
			p.breaks = append(p.breaks, i)
		}
	}
	return p
}

// render writes the text of inline nodes: code spans keep their ticks, links
// their words; images, HTML and bare addresses leave nothing.
func render(b *strings.Builder, n ast.Node, src []byte) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(util.UnescapePunctuations(c.Segment.Value(src)))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte('\n')
			}
		case *ast.CodeSpan:
			var code strings.Builder
			for t := c.FirstChild(); t != nil; t = t.NextSibling() {
				if t, ok := t.(*ast.Text); ok {
					code.Write(t.Segment.Value(src))
				}
			}
			b.WriteString("`" + strings.ReplaceAll(code.String(), "\n", " ") + "`")
		case *ast.Image, *ast.RawHTML, *ast.AutoLink:
		default:
			render(b, c, src)
		}
	}
}

// statement makes a statement of part of a passage.
func (r *reader) statement(p passage, from, to int, lead string, item bool) statement {
	line := p.line
	for _, at := range p.breaks {
		if at < from {
			line++
		}
	}
	if n := len(r.headings); lead == "" && item && n > 0 && r.headings[n-1].verdict {
		lead = r.headings[n-1].text
	}
	s := statement{text: join(lead, oneLine(p.text[from:to])), line: line, item: item, link: p.link}
	for i := len(r.headings) - 1; i >= 0; i-- {
		s.sections = append(s.sections, r.headings[i])
	}
	return s
}

// lineAt is the number, in the file, of the line that holds the offset.
func (r *reader) lineAt(offset int) int {
	lo, hi := 0, len(r.starts)
	for lo+1 < hi {
		if mid := (lo + hi) / 2; r.starts[mid] <= offset {
			lo = mid
		} else {
			hi = mid
		}
	}
	if lo >= len(r.lines) {
		return 1
	}
	return r.lines[lo]
}

// sentences splits text: after . ! or ? before a capital, and in plain text at
// line ends before one. What stands in a code span is not looked at.
func (r *reader) sentences(s string) [][2]int {
	var out [][2]int
	start, code := 0, false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '`':
			code = !code
		case '\n':
			if r.plain && !code && startsSentence(s[i+1:]) {
				out = append(out, [2]int{start, i})
				start = i + 1
			}
		case '.', '!', '?':
			rest := strings.TrimLeft(s[i+1:], `)"'*_`)
			gap := len(rest) - len(strings.TrimLeft(rest, " \n"))
			if !code && gap > 0 && startsSentence(rest[gap:]) && !abbreviated(s[start:i+1]) {
				end := len(s) - len(rest)
				out = append(out, [2]int{start, end})
				start = end + gap
				i = start - 1
			}
		}
	}
	return append(out, [2]int{start, len(s)})
}

func startsSentence(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(c) || unicode.IsTitle(c) || unicode.Is(unicode.Han, c) || strings.ContainsRune("`\"'*-", c)
}

// abbreviated tells whether the text ends in a dot that ends no sentence.
func abbreviated(s string) bool {
	for _, a := range []string{"e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "No."} {
		if strings.HasSuffix(s, a) {
			return true
		}
	}
	return false
}

// oneLine removes what a reader does not see, and line ends.
func oneLine(s string) string { return strings.Join(strings.Fields(text.Clean(s)), " ") }

func join(lead, s string) string {
	if lead == "" {
		return s
	}
	return oneLine(lead) + ": " + s
}

func lastRune(s string) string {
	_, n := utf8.DecodeLastRuneInString(s)
	return s[len(s)-n:]
}
