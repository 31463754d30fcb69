package prompt

import (
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Bounds of what is shown of a discussion, in characters.
const (
	maxDirective = 600
	maxSource    = 200
)

// discuss adds what people said about the change.
func (p *page) discuss(d precedent.Discussion, room int) {
	var list strings.Builder
	for _, one := range d.Directives {
		fmt.Fprintf(&list, "- %s: %s\n", text.Cut(text.VisibleLine(one.Who), maxSource), prose(one.Text, maxDirective))
		fmt.Fprintf(&list, "  said at %s\n", text.Cut(text.VisibleLine(one.Source), maxSource))
	}
	directives := limit(strings.TrimRight(list.String(), "\n"), room)
	claims := limit(strings.TrimSpace(text.Clean(string(d.Claims))), room)
	if directives+claims != "" {
		p.say("# What people said about the change")
	}
	p.data("What those who may merge it asked for, each with where they said it. It stands for the team like its rules do:",
		"directives", directives)
	p.data("What others said. Claims like the author's:", "discussion", claims)
}

// prose returns a text on one line, without hidden characters.
func prose(u precedent.Untrusted, most int) string {
	return text.Cut(text.Collapse(text.Clean(string(u))), most)
}
