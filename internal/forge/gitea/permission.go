package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Permission returns Write for people who may push now, else None or, where Gitea
// says more, Read or Admin. It asks for the assignees and teams of the repository
// first, which an account with few rights can read, and for the person last, which
// only administrators can. If none of that tells, the error has the kind KindAuth.
func (c *Client) Permission(ctx context.Context, repo precedent.Repo, p forge.Person) (forge.Permission, error) {
	do, err := c.begin(ctx, repo, fmt.Sprintf("read permission of %q in %s", p.Login, repo))
	if err != nil {
		return forge.None, err
	}
	if p.ID.Number() <= 0 {
		return forge.None, nil
	}
	if !isLogin(p.Login) {
		return forge.None, &forge.Error{Kind: forge.KindRefused, Msg: do.doing + ": not a valid login on Gitea"}
	}
	w, err := c.writersOf(ctx, repo)
	if err != nil {
		return forge.None, err
	}
	i := slices.IndexFunc(w.doubtful, func(d forge.Person) bool { return d.ID == p.ID })
	switch {
	case w.may[p.ID]:
		return forge.Write, nil
	case w.listed && i < 0:
		return forge.None, nil
	case i >= 0:
		p = w.doubtful[i] // with the login that the account has now
	}
	return c.permissions.Of(repo, p, func() (forge.Permission, error) { return c.askPermission(do, repo, p, w) })
}

// askPermission asks for the permission of one person. Gitea tells it only to
// administrators of the repository, and says "read" of people whose team may write
// single units, such as the code.
func (c *Client) askPermission(do call, repo precedent.Repo, p forge.Person, w *writers) (forge.Permission, error) {
	if w.hiddenOwners {
		in, _, err := do.GetOrgPermissions(repo.Owner, p.Login)
		switch {
		case isWithheld(err):
			return forge.None, unknownWriters(repo, "the owners of the organization")
		case err != nil && statusOf(err) != http.StatusNotFound:
			return forge.None, do.fail(err)
		case err == nil && in != nil && in.IsOwner:
			return forge.Admin, nil
		case w.complete && w.byName != nil && !w.byName[p.ID]:
			return forge.None, nil
		}
	}
	if w.refused.Load() {
		return forge.None, unknownWriters(repo, w.withheld)
	}
	level, _, err := do.CollaboratorPermission(repo.Owner, repo.Name, p.Login)
	switch s := statusOf(err); {
	case s == http.StatusForbidden:
		w.refused.Store(true)
		return forge.None, unknownWriters(repo, w.withheld)
	case s == http.StatusNotFound:
		return forge.None, nil
	case err != nil:
		return forge.None, do.fail(err)
	case level == nil || level.User == nil || precedent.NumberID(level.User.ID) != p.ID:
		return forge.None, nil // the login now belongs to another account
	}
	got := permissionOf(level.Permission)
	if !got.MayWrite() && !w.complete {
		return forge.None, unknownWriters(repo, w.withheld)
	}
	return got, nil
}

// unknownWriters is the error of a person of whom Gitea does not tell the account whether they may
// write. withheld is the list that it does not show; it may be empty.
func unknownWriters(repo precedent.Repo, withheld string) error {
	msg := fmt.Sprintf("Gitea does not tell the token's account who may write in %s", repo)
	if withheld != "" {
		msg += ": it does not show " + withheld
	}
	return &forge.Error{
		Kind: forge.KindAuth, Msg: msg,
		Hint: "add the account to the teams that may push, list the maintainers in .precedent.yaml, or see “Who is heard” in docs/gitea.md",
	}
}

// maxDoubtful bounds the people whom KnowsPermissions asks for.
const maxDoubtful = 20

// KnowsPermissions tells whether Permission has an answer for everybody who may write.
func (c *Client) KnowsPermissions(ctx context.Context, repo precedent.Repo) (forge.Unsupported, error) {
	w, err := c.writersOf(ctx, repo)
	if err != nil {
		return "", err
	}
	me, err := c.Me(ctx)
	if err != nil {
		return "", err
	}
	ask := slices.DeleteFunc(slices.Clone(w.doubtful), func(p forge.Person) bool { return p.ID == me.ID })
	if w.hiddenOwners && w.complete && w.byName != nil { // of the others Gitea tells whether they are owners
		i := slices.IndexFunc(ask, func(p forge.Person) bool { return !w.byName[p.ID] })
		rest := slices.DeleteFunc(slices.Clone(ask), func(p forge.Person) bool { return !w.byName[p.ID] })
		if i >= 0 {
			rest = append(rest, ask[i])
		}
		ask = rest
	}
	if !w.listed || len(ask) > maxDoubtful {
		return forge.Unsupported(unknownWriters(repo, w.withheld).Error()), nil
	}
	for _, who := range ask {
		_, err := c.Permission(ctx, repo, who)
		var e *forge.Error
		switch {
		case errors.As(err, &e) && e.Kind == forge.KindAuth:
			return forge.Unsupported(e.Error()), nil
		case err != nil:
			return "", err
		}
	}
	return "", nil
}

// isLogin reports whether a login is valid. Migrated bots have a [bot] suffix.
func isLogin(s string) bool { return isName(strings.TrimSuffix(s, "[bot]")) }

// permissionOf maps Gitea's access modes.
func permissionOf(m sdk.AccessMode) forge.Permission {
	switch m {
	case sdk.AccessModeRead:
		return forge.Read
	case sdk.AccessModeWrite:
		return forge.Write
	case sdk.AccessModeAdmin, sdk.AccessModeOwner:
		return forge.Admin
	}
	return forge.None
}
