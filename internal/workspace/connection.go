package workspace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Connection is the forge that pull requests are on, and how git reaches it.
type Connection struct {
	forge.Forge
	// Token returns the token with which git fetches a repository; empty for none. It
	// is sent only to the forge's own host.
	Token func(ctx context.Context, r precedent.Repo) (string, error)
	// TokenName says where the token is, for hints.
	TokenName string
	Folder    string // where git fetches from, in place of the forge's address; empty for that
	// Known reports whether requests are authenticated.
	Known bool
	// Instant tells that the forge lists a comment at once.
	Instant bool
	// Secrets must never be shown in a comment.
	Secrets []string
	// Key signs our comments; the zero Key does not.
	Key comment.Key
}

// Explain attaches to an error of the forge a hint that names where the token is.
// Other errors are returned as they are.
func (c Connection) Explain(err error) error { return ForgeError(err, c.TokenName) }

const maxPeople = 50

// Permissions asks what people may do, for each once.
type Permissions struct {
	Ask   func(ctx context.Context, who forge.Person) (forge.Permission, error)
	Known map[precedent.ForgeID]forge.Permission
	// resolvers resolved a conversation, which takes write permission, and maintainers
	// are listed in the policy of the base. They may write if the forge does not tell.
	resolvers   map[precedent.ForgeID]bool
	Maintainers []string
	unknown     int   // people whose permission could not be known
	err         error // of the first of them
}

// Permission returns what a person may do; none if that cannot be known.
func (p *Permissions) Permission(ctx context.Context, who forge.Person) forge.Permission {
	got, ok := p.Known[who.ID]
	if ok || len(p.Known) >= maxPeople || who.ID == "" {
		return got
	}
	got, err := p.Ask(ctx, who)
	switch {
	case err == nil:
	case forge.KindOf(err) == forge.KindAuth && p.vouched(who): // the forge does not tell this account
		got = forge.Write
	default:
		got = forge.None
		p.unknown++
		p.err = cmp.Or(p.err, err)
	}
	p.Known[who.ID] = got
	return got
}

// vouched tells whether a person counts although the forge does not tell.
func (p *Permissions) vouched(who forge.Person) bool {
	return p.resolvers[who.ID] || slices.ContainsFunc(p.Maintainers,
		func(login string) bool { return strings.EqualFold(login, who.Login) })
}

// NoteResolvers notes who resolved conversations. Forges let only people with write
// permission do that, and the author of the pull request; me is not a person.
func (p *Permissions) NoteResolvers(convs []forge.Thread, author, me forge.Person) {
	p.resolvers = map[precedent.ForgeID]bool{}
	for _, c := range convs {
		if by := c.ClosedBy; c.Closed && by.ID != "" && by.ID != author.ID && by.ID != me.ID && !by.Bot {
			p.resolvers[by.ID] = true
		}
	}
}

// Failures says once why permissions could not be known, and what follows.
func (p *Permissions) Failures() []precedent.Failure {
	if p.err == nil {
		return nil
	}
	who := "what 1 person wrote counts"
	if p.unknown > 1 {
		who = fmt.Sprintf("what %d people wrote counts", p.unknown)
	}
	return []precedent.Failure{{Step: "discussion", Error: p.err.Error() + "; " + who +
		" as written without write permission"}}
}
