package main

import (
	"context"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/text"
)

// Bounds of a discussion.
const (
	maxDirectives    = 50
	maxDirectiveText = 600      // characters
	maxPeople        = 50       // whose permission is asked for
	maxClaims        = 16 << 10 // bytes; the newest are kept
	botName          = "@precedent"
)

// listen reads everything that was said on a pull request. Without it the
// review goes on.
func (p *pull) listen(ctx context.Context, f forge.Forge, repo precedent.Repo) error {
	var err error
	if p.comments, err = f.Comments(ctx, repo, p.Number); err != nil {
		if ctx.Err() != nil {
			return err
		}
		p.unheard = true
		p.failures = append(p.failures, precedent.Failure{Step: "discussion", Error: err.Error() + "; not everything that was said is known"})
	}
	return nil
}

// discuss sorts what people said on a pull request. What somebody with write
// permission wrote in a review, on a line, or to @precedent is a directive,
// word for word; what everybody else wrote, and the author, who is not asked
// about their own change, is a claim. Bots and what we posted are left out.
func (p *pull) discuss(ours func(forge.Comment) bool, permission func(forge.Person) forge.Permission) {
	var d precedent.Discussion
	var claims []string
	for _, c := range p.comments {
		said := ownWords(string(c.Body))
		if c.Author.Bot || said == "" || ours(c) {
			continue
		}
		asks := c.Kind != forge.OnThread || strings.Contains(strings.ToLower(said), botName)
		if asks && c.Author.ID != p.Author.ID && c.Author.ID != "" && len(d.Directives) < maxDirectives && permission(c.Author).MayWrite() {
			if c.Span.Path != "" {
				said = "(on " + c.Span.String() + ") " + said
			}
			d.Directives = append(d.Directives, precedent.Directive{
				Text: precedent.Untrusted(text.Cut(said, maxDirectiveText)), Who: c.Author.Login, Source: c.URL,
			})
			continue
		}
		claims = append(claims, text.VisibleLine(c.Author.Login)+": "+text.Cut(said, maxDirectiveText))
	}
	d.Claims = newest(claims)
	p.discussion = d
}

// ownWords leaves out quoted lines: they are somebody else's words.
func ownWords(body string) string {
	var b strings.Builder
	for line := range strings.Lines(text.Clean(body)) {
		if !strings.HasPrefix(strings.TrimSpace(line), ">") {
			b.WriteString(line)
		}
	}
	return strings.TrimSpace(b.String())
}

// newest joins the claims that fit, from the last one backwards.
func newest(claims []string) precedent.Untrusted {
	size, from := 0, len(claims)
	for from > 0 && size+len(claims[from-1])+1 <= maxClaims {
		from--
		size += len(claims[from]) + 1
	}
	return precedent.Untrusted(strings.Join(claims[from:], "\n"))
}
