package gitea

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

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
	Units      []string
	UnitsMap   map[string]string `json:"units_map"`
}

// mayPush reports whether the members of a team may push.
func (t *team) mayPush() bool {
	const code = "repo.code"
	level, ok := t.UnitsMap[code]
	if !ok && len(t.UnitsMap) == 0 && slices.Contains(t.Units, code) {
		level = t.Permission // an old server
	}
	return permissionOf(t.Permission) == forge.Admin || permissionOf(level).MayWrite()
}

// writersOf returns who may write, from lists that are at most a minute old.
func (c *Client) writersOf(ctx context.Context, repo precedent.Repo) (*writers, error) {
	do := c.begin(ctx, repo, "list who may write in "+repo.String())
	return c.writers.Of(repo, func() (*writers, error) { return readWriters(do, repo) })
}

// readWriters reads the lists. Every reader of a repository can list its assignees:
// the accounts with write access, its owner unless that is an organization, and the
// members of teams that may write anything or read pull requests.
func readWriters(do wire.Call, repo precedent.Repo) (*writers, error) {
	w := &writers{may: map[precedent.ForgeID]bool{}}
	listed, _, at, err := wire.GetPage[user](do, "assignees")
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
	added, err := wire.List[user](do, "collaborators")
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
func peopleOf(listed []*user) []forge.Person {
	var people []forge.Person
	for _, u := range listed {
		if p := person(u); p.ID.Number() > 0 {
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
		members, err := wire.List[user](do, "/teams/%d/members", t.ID)
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
