package prompt

import (
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Bounds of what is shown of a discussion. A directive is a sentence or two.
const (
	maxDirectives = 50
	maxDirective  = 600 // characters
	maxQuote      = 300 // characters
	maxSource     = 200 // characters
)

// discuss renders what people said about the change; empty if there is nothing.
func (s *Sheet) discuss(d precedent.Discussion, room int) string {
	var list strings.Builder
	for _, one := range d.Directives[:min(len(d.Directives), maxDirectives)] {
		fmt.Fprintf(&list, "- %s: %s\n", text.Cut(text.VisibleLine(one.Who), maxSource), prose(one.Text, maxDirective))
		if quote := prose(one.Quote, maxQuote); quote != "" {
			fmt.Fprintf(&list, "  in their words: %s\n", quote)
		}
		fmt.Fprintf(&list, "  said at %s\n", text.Cut(text.VisibleLine(one.Source), maxSource))
	}
	if rest := len(d.Directives) - maxDirectives; rest > 0 {
		fmt.Fprintf(&list, "and %d more, left out\n", rest)
	}
	said := struct{ Directives, Claims string }{
		Directives: s.strike(limit(strings.TrimRight(list.String(), "\n"), room)),
		Claims:     s.strike(limit(strings.TrimSpace(text.Clean(string(d.Claims))), room)),
	}
	if said.Directives == "" && said.Claims == "" {
		return ""
	}
	return execute("discussion.md", s.nonce, said)
}

// prose returns a text on one line, without hidden characters.
func prose(u precedent.Untrusted, most int) string {
	return text.Cut(text.Collapse(text.Clean(string(u))), most)
}
