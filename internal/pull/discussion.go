package pull

import (
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/chat"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/text"
)

// Bounds of a discussion.
const (
	maxDirectives    = 50
	maxDirectiveText = 600      // characters
	maxClaims        = 16 << 10 // bytes; the newest are kept
	botName          = "@precedent"
)

// discussion sorts people's comments on a pull request. Comments of people with write permission in a review,
// on a line, or to @precedent are directives, verbatim. Other comments, and those of the author, are claims.
// Comments of bots and our own are left out.
func discussion(comments []forge.Comment, author forge.Person, ours func(forge.Comment) bool,
	mayWrite func(forge.Person) bool,
) precedent.Discussion {
	var d precedent.Discussion
	var claims []string
	for _, c := range comments {
		words := strings.TrimSpace(text.Clean(chat.Words(c.Body)))
		if c.Author.Bot || words == "" || ours(c) {
			continue
		}
		asks := c.Kind != forge.OnThread || strings.Contains(strings.ToLower(words), botName)
		if asks && c.Author.ID != author.ID && c.Author.ID != "" && len(d.Directives) < maxDirectives && mayWrite(c.Author) {
			if c.Span.Path != "" {
				words = "(on " + c.Span.String() + ") " + words
			}
			d.Directives = append(d.Directives, precedent.Directive{
				Text: precedent.Untrusted(text.Cut(words, maxDirectiveText)), Who: c.Author.Login, Source: c.URL,
			})
			continue
		}
		claims = append(claims, text.VisibleLine(c.Author.Login)+": "+text.Cut(words, maxDirectiveText))
	}
	d.Claims = newestClaims(claims)
	return d
}

// newestClaims joins the claims that fit, from the last one backwards.
func newestClaims(claims []string) precedent.Untrusted {
	size, from := 0, len(claims)
	for from > 0 && size+len(claims[from-1])+1 <= maxClaims {
		from--
		size += len(claims[from]) + 1
	}
	return precedent.Untrusted(strings.Join(claims[from:], "\n"))
}
