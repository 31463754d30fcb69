package markdown

import (
	"net/url"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/text"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// inlines collects a line of Markdown. Adjacent texts are joined before they are
// escaped, because a command may be spread over several of them.
type inlines struct {
	*renderer
	lines []string
	out   strings.Builder
	text  strings.Builder
	start bool
}

func (w *inlines) flush() {
	if s := w.text.String(); s != "" {
		w.text.Reset()
		w.raw(escapeLine(s, w.start && w.out.Len() == 0))
	}
}

// raw writes Markdown. It separates two code spans that would merge.
func (w *inlines) raw(s string) {
	if strings.HasPrefix(s, "`") && strings.HasSuffix(w.out.String(), "`") {
		w.out.WriteByte(' ')
	}
	w.out.WriteString(s)
}

func (w *inlines) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.node(c)
	}
}

func (w *inlines) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		w.text.WriteString(decode(n.Segment.Value(w.source)))
		switch {
		case n.HardLineBreak():
			w.flush()
			w.lines = append(w.lines, w.out.String())
			w.out.Reset()
			w.start = true
		case n.SoftLineBreak():
			w.text.WriteByte(' ')
		}
	case *ast.String:
		w.text.Write(n.Value)
	case *ast.CodeSpan:
		w.code(string(rawText(n, w.source)))
	case *ast.RawHTML:
		w.code(string(n.Segments.Value(w.source)))
	case *ast.AutoLink:
		w.link(string(n.URL(w.source)))
	case *ast.Link:
		w.children(n)
		w.text.WriteByte(' ')
		w.link(decode(n.Destination))
	case *ast.Image:
		w.children(n)
		w.text.WriteByte(' ')
		w.code(decode(n.Destination))
	default: // emphasis loses its marks
		w.children(n)
	}
}

// code writes a code span, or text that joins its neighbors.
func (w *inlines) code(s string) {
	s = visibleLine(strings.ReplaceAll(s, "\n", " "))
	rest, ours := strings.CutPrefix(s, "@precedent")
	if ours = ours && w.whole && (rest == "" || rest[0] == ' ') && fitsSpan(rest); !ours && !fitsSpan(s) {
		w.text.WriteString(s)
		return
	}
	w.flush()
	w.raw(span(s))
}

// link writes a link if its target is allowed, else the URL as text.
func (w *inlines) link(to string) {
	if !leadsTo(to, w.hosts) || pinging().MatchString(to) {
		w.code(to)
		return
	}
	w.flush()
	w.raw("<" + to + ">")
}

var (
	// linkable is an address in which nothing can end the link or be taken for a name.
	linkable = text.Pattern(`^https://[a-z0-9.-]+(?::[0-9]+)?(?:/[A-Za-z0-9._~/%?=&#+,:;-]*)?$`)
	// pinging addresses leave a mark on what they lead to.
	pinging = text.Pattern(`/(?:issues|pull|pulls|merge_requests|commit|discussions)/`)
)

// leadsTo reports whether an address is plain and leads to one of the hosts.
func leadsTo(to string, hosts []string) bool {
	u, err := url.Parse(to)
	return err == nil && u.User == nil && slices.Contains(hosts, u.Host) && linkable().MatchString(to) &&
		!trigger().MatchString(to)
}

// decode resolves backslash escapes and entities: forges recognize names that are spelled with entities.
func decode(b []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(b))))
}

func rawText(n ast.Node, source []byte) []byte {
	var out []byte
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			out = append(out, c.Segment.Value(source)...)
		case *ast.String:
			out = append(out, c.Value...)
		}
	}
	return out
}
