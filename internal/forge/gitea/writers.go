package gitea

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Bounds of what is read to know who may write.
const (
	maxTeams       = 20 // of one repository
	maxMemberPages = 60 // of all teams together, 50 people each
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

// writersOf returns who may write, from lists that are at most a minute old.
func (c *Client) writersOf(ctx context.Context, repo precedent.Repo) (*writers, error) {
	do, err := c.begin(ctx, repo, "list who may write in "+repo.String())
	if err != nil {
		return nil, err
	}
	return c.writers.Of(repo, func() (*writers, error) { return readWriters(do, repo) })
}

// readWriters reads the lists. Every reader of a repository can list its assignees:
// the accounts with write access, its owner unless that is an organization, and the
// members of teams that may write anything or read pull requests.
func readWriters(do call, repo precedent.Repo) (*writers, error) {
	w := &writers{may: map[precedent.ForgeID]bool{}}
	listed, resp, err := do.GetAssignees(repo.Owner, repo.Name)
	if isWithheld(err) {
		w.withheld = "the assignees"
		return w, nil
	}
	people, err := peopleOf(do, listed, err)
	if err != nil {
		return nil, err
	}
	w.listed = true
	owned := slices.ContainsFunc(people, func(p forge.Person) bool { return strings.EqualFold(p.Login, repo.Owner) })
	// After a redirect, the owner in the name may be an earlier one.
	if owned && strings.HasSuffix(resp.Request.URL.Path, "/repos/"+repo.Owner+"/"+repo.Name+"/assignees") {
		for _, p := range people { // the owner is a user, and there are no teams
			w.may[p.ID] = true
		}
		w.complete = true
		return w, nil
	}
	found, err := readTeams(do, repo)
	if err != nil {
		return nil, err
	}
	w.complete, w.hiddenOwners, w.withheld = found.allWriters, found.hiddenOwners, found.withheld
	for _, p := range people {
		// People in no team that cannot write are here for another right, which is to
		// write.
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
	added, err := listAll(do, func(o sdk.ListOptions) ([]*sdk.User, *sdk.Response, error) {
		return do.ListCollaborators(repo.Owner, repo.Name, sdk.ListCollaboratorsOptions{ListOptions: o})
	})
	if isWithheld(err) || isTooMany(err) {
		return w, nil
	}
	byName, err := peopleOf(do, added, err)
	w.byName = map[precedent.ForgeID]bool{}
	for _, p := range byName {
		w.byName[p.ID] = true
	}
	if !w.hiddenOwners {
		w.doubtful = slices.DeleteFunc(w.doubtful, func(p forge.Person) bool { return !w.byName[p.ID] })
	}
	return w, err
}

// isWithheld reports whether an error means that the server has no such list, or none
// for this account.
func isWithheld(err error) bool { return isUnknownRoute(err) || statusOf(err) == http.StatusForbidden }

// peopleOf converts a list of accounts, or its error.
func peopleOf(do call, listed []*sdk.User, err error) ([]forge.Person, error) {
	if err != nil {
		return nil, do.fail(err)
	}
	var people []forge.Person
	for _, u := range listed {
		if u == nil {
			return nil, do.unexpected("a list entry is null")
		}
		if p := person(u); p.ID.Number() > 0 {
			people = append(people, p)
		}
	}
	return people, nil
}

// teams are the members of a repository's teams: of those whose members may push, and
// of the others.
type teams struct {
	writers, others       map[precedent.ForgeID]bool
	allWriters, allOthers bool // the members of all such teams, except of owners, could be listed
	hiddenOwners          bool
	withheld              string // the first team whose members are not shown, for people
}

// readTeams reads the teams of an organization's repository. Their members are shown
// to members, and to owners of the organization.
func readTeams(do call, repo precedent.Repo) (teams, error) {
	found := teams{writers: map[precedent.ForgeID]bool{}, others: map[precedent.ForgeID]bool{}}
	listed, _, err := do.GetRepoTeams(repo.Owner, repo.Name)
	if isWithheld(err) {
		found.withheld = "the teams"
		return found, nil
	}
	if err != nil {
		return found, do.fail(err)
	}
	found.allWriters, found.allOthers = true, true
	pages := 0
	for i, t := range listed {
		if t == nil {
			return found, do.unexpected("a list entry is null")
		}
		into, all := found.others, &found.allOthers
		if mayPush(t) {
			into, all = found.writers, &found.allWriters
		}
		if i >= maxTeams || pages >= maxMemberPages {
			*all = false
			continue
		}
		members, err := listAll(do, func(o sdk.ListOptions) ([]*sdk.User, *sdk.Response, error) {
			if pages++; pages > maxMemberPages {
				return nil, nil, &forge.Error{Kind: forge.KindTooLarge, Msg: fmt.Sprintf("the teams have more than %d members", maxMemberPages*perPage)}
			}
			return do.ListTeamMembers(t.ID, sdk.ListTeamMembersOptions{ListOptions: o})
		})
		if isWithheld(err) && t.Permission == sdk.AccessModeOwner {
			found.hiddenOwners = true
			continue
		}
		if isWithheld(err) || isTooMany(err) {
			*all = false
			if mayPush(t) && found.withheld == "" {
				found.withheld = fmt.Sprintf("the members of the team %q", t.Name)
			}
			continue
		}
		people, err := peopleOf(do, members, err)
		if err != nil {
			return found, err
		}
		for _, p := range people {
			into[p.ID] = true
		}
	}
	return found, nil
}

// mayPush tells whether the members of a team may push. Its permission is the least
// of its units, unless it administers the repository.
func mayPush(t *sdk.Team) bool {
	level, ok := t.UnitsMap[string(sdk.RepoUnitCode)]
	if !ok && len(t.UnitsMap) == 0 && slices.Contains(t.Units, sdk.RepoUnitCode) {
		level = string(t.Permission) // an old server
	}
	return permissionOf(t.Permission) == forge.Admin || permissionOf(sdk.AccessMode(level)).MayWrite()
}
