package markdown

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	source "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/precedent-dev/precedent/internal/text"
)

// How much of a text is rendered, in bytes.
const (
	maxBody   = 2000
	maxPhrase = 400  // a title has at most 90 characters
	maxCode   = 400  // a path or another name
	maxLine   = 4096 // a line of code
)

// maxNesting is how deep lists and quotes in the text of a finding may nest. Deeper
// ones are shown at this depth.
const maxNesting = 4

// renderer renders Markdown by a model as inert Markdown: it keeps paragraphs, lists,
// quotes and code, and only the text of everything else. Images, raw HTML and links
// to hosts that are not allowed are shown as their source.
type renderer struct {
	source []byte
	hosts  []string // allowed targets of links
	whole  bool     // commands for Precedent stay in one piece
}

var (
	bodies = sync.OnceValue(func() parser.Parser {
		return parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...),
			parser.WithInlineParsers(parser.DefaultInlineParsers()...))
	})
	// phrases knows no blocks but the paragraph: a title that begins like a list is a title.
	phrases = sync.OnceValue(func() parser.Parser {
		return parser.NewParser(parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1000)),
			parser.WithInlineParsers(parser.DefaultInlineParsers()...))
	})
)

// Body renders a text of several paragraphs as lines: at most 2,000 bytes of it. Links may lead to the hosts.
func Body(s string, hosts []string) []string { return body(s, hosts, false) }

// Answer is Body for what is said to people: a command for Precedent in a code span stays in one piece, to
// be copied. Precedent reads no code, and no other program obeys its name.
func Answer(s string, hosts []string) []string { return body(s, hosts, true) }

func body(s string, hosts []string, whole bool) []string {
	p := renderer{[]byte(text.Visible(text.Head(s, maxBody))), hosts, whole}
	return p.blocks(bodies().Parse(source.NewReader(p.source)), 0)
}

// Phrase renders a text of one line, at most 400 bytes of it. start means that it
// begins a line. Links may lead to the hosts.
func Phrase(s string, hosts []string, start bool) string {
	p := renderer{[]byte(strings.TrimSpace(visibleLine(text.Head(s, maxPhrase)))), hosts, false}
	n := phrases().Parse(source.NewReader(p.source)).FirstChild()
	if n == nil {
		return ""
	}
	return strings.Join(p.inline(n, start), " ")
}

// blocks renders the children of n, separated by empty lines.
func (p *renderer) blocks(n ast.Node, depth int) []string {
	var out []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		lines := p.block(c, depth)
		if len(out) > 0 && len(lines) > 0 {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	return out
}

func (p *renderer) block(n ast.Node, depth int) []string {
	switch n := n.(type) {
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return indented(p.lines(n.Lines()))
	case *ast.HTMLBlock:
		lines := p.lines(n.Lines())
		if n.HasClosure() {
			lines = append(lines, strings.TrimSuffix(string(n.ClosureLine.Value(p.source)), "\n"))
		}
		return indented(lines)
	case *ast.Blockquote:
		return prefixed(p.blocks(n, depth+1), depth, "> ", "> ")
	case *ast.List:
		return p.list(n, depth)
	case *ast.ThematicBreak:
		return nil
	}
	if n.Type() == ast.TypeBlock && n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeBlock {
		return p.blocks(n, depth)
	}
	var out []string
	for _, line := range p.inline(n, true) {
		if line == "" {
			continue
		}
		if len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, line)
	}
	return out
}

func (p *renderer) list(n *ast.List, depth int) []string {
	var out []string
	number := min(max(n.Start, 0), 1_000_000)
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "- "
		if n.IsOrdered() {
			mark = fmt.Sprintf("%d. ", number)
			number++
		}
		lines := p.blocks(item, depth+1)
		if len(lines) > 0 {
			out = append(out, prefixed(lines, depth, mark, strings.Repeat(" ", len(mark)))...)
		}
	}
	return out
}

// prefixed puts first before the first line and rest before the others, unless that would nest too deep.
func prefixed(lines []string, depth int, first, rest string) []string {
	if depth >= maxNesting {
		return lines
	}
	for i, line := range lines {
		if i == 0 {
			lines[i] = first + line
		} else {
			lines[i] = strings.TrimRight(rest+line, " ")
		}
	}
	return lines
}

func (p *renderer) lines(segments *source.Segments) []string {
	var lines []string
	for i := range segments.Len() {
		s := segments.At(i)
		lines = append(lines, strings.TrimSuffix(string(s.Value(p.source)), "\n"))
	}
	return lines
}

// indented renders code by a model. Its lines have no numbers in front of them, so
// they get spaces, or a bar if a line looks like a command.
func indented(lines []string) []string {
	if slices.ContainsFunc(lines, func(l string) bool { return command().MatchString(l) || mention().MatchString(l) }) {
		return Fenced("", func(int) string { return "│ " }, lines)
	}
	// A fence that is indented takes as much off its lines.
	out := Fenced("", func(int) string { return "  " }, lines)
	out[0], out[len(out)-1] = "  "+out[0], "  "+out[len(out)-1]
	return out
}

// inline renders the text of a block. Each hard line break starts a new line.
func (p *renderer) inline(n ast.Node, start bool) []string {
	w := inlines{renderer: p, start: start}
	w.children(n)
	w.flush()
	return append(w.lines, strings.TrimRight(w.out.String(), " "))
}
