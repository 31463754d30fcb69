package gitea

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// Permission returns Write for people who may push now, else None or, where Gitea says more, Read or Admin.
// It asks for the assignees and teams of the repository first, which an account with few rights can read, and
// for the person last, which only administrators can. If none of that tells, the error has the kind KindAuth.
func (c *Client) Permission(ctx context.Context, repo precedent.Repo, p forge.Person) (forge.Permission, error) {
	do := c.begin(ctx, repo, fmt.Sprintf("read permission of %q in %s", p.Login, repo))
	if p.ID.Number() <= 0 {
		return forge.None, do.Err()
	}
	if !forge.IsLogin(p.Login) {
		return forge.None, do.Refuse(forge.KindRefused, "not a valid login on Gitea")
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
	return c.permissions.Of(wire.PersonIn{Repo: repo, Person: p},
		func() (forge.Permission, error) { return askPermission(do, repo, p, w) })
}

// askPermission asks for the permission of one person. Gitea tells it only to administrators of the
// repository, and says "read" of people whose team may write single units, such as the code.
func askPermission(do wire.Call, repo precedent.Repo, p forge.Person, w *writers) (forge.Permission, error) {
	if w.hiddenOwners {
		var in struct {
			IsOwner bool `json:"is_owner"`
		}
		err := do.Get(&in, "/users/%s/orgs/%s/permissions", url.PathEscape(p.Login), repo.Owner)
		switch {
		case isWithheld(err):
			return forge.None, unknownWriters(repo, "the owners of the organization")
		case err != nil && wire.Status(err) != http.StatusNotFound:
			return forge.None, err
		case in.IsOwner:
			return forge.Admin, nil
		case w.complete && w.byName != nil && !w.byName[p.ID]:
			return forge.None, nil
		}
	}
	if w.refused.Load() {
		return forge.None, unknownWriters(repo, w.withheld)
	}
	var level struct {
		Permission string
		User       *user
	}
	err := do.Get(&level, "collaborators/%s/permission", url.PathEscape(p.Login))
	switch s := wire.Status(err); {
	case s == http.StatusForbidden:
		w.refused.Store(true)
		return forge.None, unknownWriters(repo, w.withheld)
	case s == http.StatusNotFound:
		return forge.None, nil
	case err != nil:
		return forge.None, err
	case level.User == nil || precedent.NumberID(level.User.ID) != p.ID:
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
		Hint: "add the account to the teams that may push, list the maintainers in .precedent.yaml, or see “Who is heard” " +
			"in docs/gitea.md",
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
	var ask []forge.Person
	asked := false // one of those of whom Gitea tells whether they are owners; then it tells of all
	for _, p := range w.doubtful {
		ownersTold := w.hiddenOwners && w.complete && w.byName != nil && !w.byName[p.ID]
		if p.ID == me.ID || ownersTold && asked {
			continue
		}
		asked = asked || ownersTold
		ask = append(ask, p)
	}
	if !w.listed || len(ask) > maxDoubtful {
		return forge.Unsupported(unknownWriters(repo, w.withheld).Error()), nil
	}
	for _, who := range ask {
		_, err := c.Permission(ctx, repo, who)
		if forge.KindOf(err) == forge.KindAuth {
			return forge.Unsupported(err.Error()), nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", nil
}

// permissionOf maps Gitea's access modes.
func permissionOf(mode string) forge.Permission {
	switch p := forge.Permission(mode); p {
	case forge.Read, forge.Write, forge.Admin:
		return p
	case "owner":
		return forge.Admin
	}
	return forge.None
}
