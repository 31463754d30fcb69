package workflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
	maxPeople        = 50       // whose permission is asked for
	maxClaims        = 16 << 10 // bytes; the newest are kept
	botName          = "@precedent"
)

// permissions asks what people may do, for each once.
type permissions struct {
	ask   func(ctx context.Context, who forge.Person) (forge.Permission, error)
	known map[precedent.ForgeID]forge.Permission
	// resolvers resolved a conversation, which takes write permission, and maintainers
	// are listed in the policy of the base. They may write if the forge does not tell.
	resolvers   map[precedent.ForgeID]bool
	maintainers []string
	unknown     int   // people whose permission could not be known
	err         error // of the first of them
}

// permission returns what a person may do; none if that cannot be known.
func (p *permissions) permission(ctx context.Context, who forge.Person) forge.Permission {
	got, ok := p.known[who.ID]
	if ok || len(p.known) >= maxPeople || who.ID == "" {
		return got
	}
	got, err := p.ask(ctx, who)
	switch {
	case err == nil:
	case isWithheld(err) && p.vouched(who):
		got = forge.Write
	default:
		got = forge.None
		p.unknown++
		p.err = cmp.Or(p.err, err)
	}
	p.known[who.ID] = got
	return got
}

// isWithheld tells whether the forge does not tell the permission to this account.
func isWithheld(err error) bool {
	var e *forge.Error
	return errors.As(err, &e) && e.Kind == forge.KindAuth
}

// vouched tells whether a person counts although the forge does not tell.
func (p *permissions) vouched(who forge.Person) bool {
	return p.resolvers[who.ID] || slices.ContainsFunc(p.maintainers, func(login string) bool { return strings.EqualFold(login, who.Login) })
}

// noteResolvers notes who resolved conversations. Forges let only people with write
// permission do that, and the author of the pull request; me is not a person.
func (p *permissions) noteResolvers(convs []forge.Thread, author, me forge.Person) {
	p.resolvers = map[precedent.ForgeID]bool{}
	for _, c := range convs {
		if by := c.ClosedBy; c.Closed && by.ID != "" && by.ID != author.ID && by.ID != me.ID && !by.Bot {
			p.resolvers[by.ID] = true
		}
	}
}

// failures says once why permissions could not be known, and what follows.
func (p *permissions) failures() []precedent.Failure {
	if p.err == nil {
		return nil
	}
	who := "what 1 person wrote counts"
	if p.unknown > 1 {
		who = fmt.Sprintf("what %d people wrote counts", p.unknown)
	}
	return []precedent.Failure{{Step: "discussion", Error: p.err.Error() + "; " + who + " as written without write permission"}}
}

// discussion sorts people's comments on a pull request. Comments of people with write
// permission in a review, on a line, or to @precedent are directives, verbatim. Other
// comments, and those of the author, are claims. Comments of bots and our own are
// left out.
func discussion(comments []forge.Comment, author forge.Person, ours func(forge.Comment) bool, mayWrite func(forge.Person) bool) precedent.Discussion {
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
