package markdown

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent/internal/text"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	source "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

var (
	// pages reads Markdown as forges do.
	pages = sync.OnceValue(func() parser.Parser { return goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser() })
	// outlines reads blocks alone, which costs little however wild the text is.
	outlines = sync.OnceValue(func() parser.Parser {
		return parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...),
			parser.WithInlineParsers(util.Prioritized(parser.NewCodeSpanParser(), 100)))
	})
	// ours are the tags that a page of ours is made of. They have no attributes.
	ours = text.Pattern(`^(?:[^<]|</?(?:details|summary|sub)>)*$`)
)

// Active returns what in a page of Markdown would make a forge show or fetch more
// than text: an image, HTML other than <details>, <summary> and <sub>, or a link to a
// host that is not allowed. It is empty if there is none.
func Active(page string, hosts []string) string {
	text := []byte(page)
	found := ""
	_ = ast.Walk(pages().Parse(source.NewReader(text)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			found = active(n, text, hosts)
		}
		if found != "" {
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return found
}

func active(n ast.Node, text []byte, hosts []string) string {
	switch n := n.(type) {
	case *ast.Image:
		return fmt.Sprintf("an image from %q", n.Destination)
	case *ast.Link:
		return foreignLink(string(n.Destination), hosts)
	case *ast.AutoLink:
		return foreignLink(string(n.URL(text)), hosts)
	case *ast.RawHTML:
		return foreignHTML(n.Segments, text)
	case *ast.HTMLBlock:
		if n.HasClosure() {
			if html := n.ClosureLine.Value(text); !ours().Match(html) {
				return fmt.Sprintf("HTML, %q", html)
			}
		}
		return foreignHTML(n.Lines(), text)
	}
	return ""
}

func foreignLink(to string, hosts []string) string {
	if u, err := url.Parse(to); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.User == nil &&
		slices.Contains(hosts, u.Host) {
		return ""
	}
	return fmt.Sprintf("a link to %q", to)
}

func foreignHTML(segments *source.Segments, text []byte) string {
	html := segments.Value(text)
	if ours().Match(html) {
		return ""
	}
	return fmt.Sprintf("HTML, %q", html)
}

// maxOutline is how much of a line, in bytes, can open or close blocks. Parsing a
// line with thousands of nested quotes would take minutes.
const maxOutline = 400

// LastComment returns the HTML comment that ends a page of Markdown as a block,
// outside of quotes, lists and code blocks.
func LastComment(page string) (string, bool) {
	lines := strings.Split(strings.TrimRight(page, " \t\r\n"), "\n")
	for i, line := range lines[:len(lines)-1] {
		lines[i] = line[:min(len(line), maxOutline)]
	}
	text := []byte(strings.Join(lines, "\n"))
	last, ok := outlines().Parse(source.NewReader(text)).LastChild().(*ast.HTMLBlock)
	if !ok || last.HTMLBlockType != ast.HTMLBlockType2 {
		return "", false
	}
	html := last.Lines().Value(text)
	if last.HasClosure() {
		html = append(html, last.ClosureLine.Value(text)...)
	}
	s := strings.TrimRight(string(html), "\r\n")
	return s, strings.HasPrefix(s, "<!--") && strings.HasSuffix(s, "-->")
}

// fenceLine matches the first line of a code block, after the marks of lists and quotes.
var fenceLine = text.Pattern("^[ >0-9.-]*(`{3,})[a-z]*$")

// Blocks splits a page written by this package and its callers at its empty lines,
// but not within a code block.
func Blocks(page string) []string {
	var blocks []string
	var block []string
	open := ""
	end := func() {
		if len(block) > 0 {
			blocks = append(blocks, strings.Join(block, "\n"))
		}
		block = nil
	}
	for line := range strings.SplitSeq(page, "\n") {
		if m := fenceLine().FindStringSubmatch(line); open == "" && m != nil {
			open = m[1]
		} else if open != "" && strings.Trim(line, " >") == open {
			open = ""
		}
		if open == "" && strings.TrimSpace(line) == "" {
			end()
			continue
		}
		block = append(block, line)
	}
	end()
	return blocks
}

// Address returns a URL as text, if Link would link to it; else it is empty. Unlike a link, it
// does not show on what it leads to.
func Address(to string, hosts []string) string {
	if len(to) > maxCode || !fitsSpan(to) || Link("", to, hosts) == "" {
		return ""
	}
	return span(to)
}

// Link links words, which are trusted Markdown, if the URL is plain and leads to one
// of the hosts; else it returns the words.
func Link(words, to string, hosts []string) string {
	if !leadsTo(strings.Replace(to, "http://", "https://", 1), hosts) {
		return words
	}
	return "[" + words + "](" + to + ")"
}
