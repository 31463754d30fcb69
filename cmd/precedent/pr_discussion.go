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

// discuss reads what people said on a pull request. What somebody with write
// permission wrote in a review, on a line, or to @precedent is a directive,
// word for word; what everybody else wrote, and the author, who is not asked
// about their own change, is a claim. Bots are left out. Without comments the
// review goes on.
func discuss(ctx context.Context, f forge.Forge, repo precedent.Repo, pr forge.PullRequest) (precedent.Discussion, []precedent.Failure) {
	var d precedent.Discussion
	var failures []precedent.Failure
	comments, err := f.Comments(ctx, repo, pr.Number)
	if err != nil {
		failures = append(failures, precedent.Failure{Step: "discussion", Error: err.Error() + "; not everything that was said is known"})
	}
	permissions := map[int64]forge.Permission{}
	mayWrite := func(p forge.Person) bool {
		known, ok := permissions[p.ID]
		if !ok && len(permissions) < maxPeople {
			var err error
			if known, err = f.Permission(ctx, repo, p); err != nil {
				known = forge.None
				failures = append(failures, precedent.Failure{Step: "discussion", Error: err.Error() + "; what " + text.VisibleLine(p.Login) + " said is a claim like the author's"})
			}
			permissions[p.ID] = known
		}
		return known.MayWrite()
	}
	var claims []string
	for _, c := range comments {
		said := ownWords(string(c.Body))
		if c.Author.Bot || said == "" {
			continue
		}
		asks := c.Kind != forge.OnThread || strings.Contains(strings.ToLower(said), botName)
		if asks && c.Author.ID != pr.Author.ID && c.Author.ID != 0 && len(d.Directives) < maxDirectives && mayWrite(c.Author) {
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
	return d, failures
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
