package gitea

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// Permission returns Write for people who may push now, else None or, where Gitea says more, Read or Admin.
// It asks for the assignees and teams of the repository first, which an account with few rights can read, and
// for the person last, which only administrators can. If none of that tells, the error has the kind KindAuth.
func (c *Client) Permission(ctx context.Context, repo precedent.Repo, p forge.Person) (forge.Permission, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("read permission of %q in %s", p.Login, repo))
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
		User       *wire.User
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
	got := forge.PermissionOf(level.Permission)
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

// Bounds of what is read to know who may write.
const (
	maxTeams   = 20    // of one repository
	maxMembers = 3_000 // of all teams together; no more teams are read then
)

// writers is who may push to a repository, as far as lists of Gitea tell it.
type writers struct {
	may map[precedent.ForgeID]bool
	// doubtful are people of whom the lists do not tell. If the assignees were listed,
	// all others may not write.
	doubtful []forge.Person
	listed   bool
	// complete means that nobody else can write by a team, except owners if they are hidden: if Gitea
	// says "read" of somebody, it is true.
	complete bool
	// hiddenOwners means that the members of the team of owners were not listed. Of each person Gitea
	// tells whether they are an owner. byName are those who were added to the repository by name; nil if
	// that is not known.
	hiddenOwners bool
	byName       map[precedent.ForgeID]bool
	withheld     string      // the first list that Gitea does not show, for people
	refused      atomic.Bool // Gitea does not tell the permission of single people
}

// team is a team of an organization. Its permission is the least of its units, unless it administers the
// repository.
type team struct {
	ID         int64
	Name       string
	Permission string
	Units      map[string]string `json:"units_map"`
}

// mayPush reports whether the members of a team may push.
func (t *team) mayPush() bool {
	return forge.PermissionOf(t.Permission) == forge.Admin || forge.PermissionOf(t.Units["repo.code"]).MayWrite()
}

// writersOf returns who may write, from lists that are at most a minute old.
func (c *Client) writersOf(ctx context.Context, repo precedent.Repo) (*writers, error) {
	do := c.Begin(ctx, repo, "list who may write in "+repo.String())
	return c.writers.Of(repo, func() (*writers, error) { return readWriters(do, repo) })
}

// readWriters reads the lists. Every reader of a repository can list its assignees:
// the accounts with write access, its owner unless that is an organization, and the
// members of teams that may write anything or read pull requests.
func readWriters(do wire.Call, repo precedent.Repo) (*writers, error) {
	w := &writers{may: map[precedent.ForgeID]bool{}}
	listed, _, at, err := wire.GetPage[wire.User](do, "assignees")
	if isWithheld(err) {
		w.withheld = "the assignees"
		return w, nil
	}
	if err != nil {
		return nil, err
	}
	people := peopleOf(listed)
	w.listed = true
	owned := slices.ContainsFunc(people, func(p forge.Person) bool { return strings.EqualFold(p.Login, repo.Owner) })
	// After a redirect, the owner in the name may be an earlier one.
	if owned && strings.HasSuffix(at, "/repos/"+repo.Owner+"/"+repo.Name+"/assignees") {
		for _, p := range people { // the owner is a user, and there are no teams
			w.may[p.ID] = true
		}
		w.complete = true
		return w, nil
	}
	found, err := readTeams(do)
	if err != nil {
		return nil, err
	}
	w.complete, w.hiddenOwners, w.withheld = found.allWriters, found.hiddenOwners, found.withheld
	for _, p := range people {
		// People in no team that cannot write are here for another right, which is to write.
		if found.writers[p.ID] || found.allOthers && !found.others[p.ID] {
			w.may[p.ID] = true
		} else {
			w.doubtful = append(w.doubtful, p)
		}
	}
	if len(w.doubtful) == 0 || !w.complete {
		return w, nil
	}
	// The others can write only if they were also added to the repository by name.
	added, err := wire.List[wire.User](do, "collaborators")
	if isWithheld(err) || forge.IsPartial(err) {
		return w, nil
	}
	w.byName = map[precedent.ForgeID]bool{}
	for _, p := range peopleOf(added) {
		w.byName[p.ID] = true
	}
	if !w.hiddenOwners {
		w.doubtful = slices.DeleteFunc(w.doubtful, func(p forge.Person) bool { return !w.byName[p.ID] })
	}
	return w, err
}

// isWithheld reports whether an error means that the server has no such list, or none for this account.
func isWithheld(err error) bool {
	return isUnknownRoute(err) || wire.Status(err) == http.StatusForbidden
}

// peopleOf converts a list of accounts.
func peopleOf(listed []*wire.User) []forge.Person {
	var people []forge.Person
	for _, u := range listed {
		if p := u.Person(); p.ID.Number() > 0 {
			people = append(people, p)
		}
	}
	return people
}

// teams are the members of a repository's teams: of those whose members may push, and of the others.
type teams struct {
	writers, others       map[precedent.ForgeID]bool
	allWriters, allOthers bool // the members of all such teams, except of owners, could be listed
	hiddenOwners          bool
	withheld              string // the first team whose members are not shown, for people
}

// readTeams reads the teams of an organization's repository. Their members are shown
// to members, and to owners of the organization.
func readTeams(do wire.Call) (teams, error) {
	found := teams{writers: map[precedent.ForgeID]bool{}, others: map[precedent.ForgeID]bool{}}
	listed, err := wire.GetList[team](do, "teams")
	if isWithheld(err) {
		found.withheld = "the teams"
		return found, nil
	}
	if err != nil {
		return found, err
	}
	found.allWriters, found.allOthers = true, true
	read := 0
	for i, t := range listed {
		into, all := found.others, &found.allOthers
		if t.mayPush() {
			into, all = found.writers, &found.allWriters
		}
		if i >= maxTeams || read >= maxMembers {
			*all = false
			continue
		}
		members, err := wire.List[wire.User](do, "/teams/%d/members", t.ID)
		read += len(members)
		switch {
		case isWithheld(err) && t.Permission == "owner":
			found.hiddenOwners = true
			continue
		case isWithheld(err) || forge.IsPartial(err):
			*all = false
			if t.mayPush() && found.withheld == "" {
				found.withheld = fmt.Sprintf("the members of the team %q", t.Name)
			}
			continue
		case err != nil:
			return found, err
		}
		for _, p := range peopleOf(members) {
			into[p.ID] = true
		}
	}
	return found, nil
}
