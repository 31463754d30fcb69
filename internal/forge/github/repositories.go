package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// maxInstallations bounds the installations of an app that are looked at.
const maxInstallations = 100

// Repositories lists the repositories of an owner that the token may write to. Those of an app are
// those of its installations: what the app may do there is the same in all.
func (c *Client) Repositories(ctx context.Context, owner string) ([]precedent.Repo, error) {
	doing := "list repositories"
	if owner != "" {
		doing += " of " + owner
		if !name().MatchString(owner) || owner == "." || owner == ".." {
			return nil, &forge.Error{Kind: forge.KindRefused, Msg: doing + ": not a valid name of an owner on GitHub"}
		}
	}
	var listed []*gh.Repository
	var err error
	switch {
	case c.tokens.app != nil:
		listed, err = c.installedRepositories(ctx, doing)
	case owner == "":
		listed, err = listAll(c, doing, func(o gh.ListOptions) ([]*gh.Repository, *gh.Response, error) {
			return c.api.Repositories.ListByAuthenticatedUser(ctx, &gh.RepositoryListByAuthenticatedUserOptions{Sort: "full_name", ListOptions: o})
		})
	default:
		listed, err = c.ownedRepositories(ctx, doing, owner)
	}
	if err != nil && !isTooMany(err) {
		return nil, err
	}
	var all []precedent.Repo
	for _, r := range listed {
		repo := precedent.Repo{Host: c.host, Owner: r.GetOwner().GetLogin(), Name: r.GetName()}
		may := c.tokens.app != nil || r.GetPermissions().GetPush()
		if !may || r.GetArchived() || r.GetDisabled() || owner != "" && !strings.EqualFold(repo.Owner, owner) {
			continue
		}
		if c.checkRepo(repo) != nil {
			return nil, wire.UnexpectedAnswer(doing, "it names no repository")
		}
		all = append(all, repo)
	}
	all, more := forge.SortRepositories(doing, all)
	if err == nil {
		err = more
	}
	return all, err
}

// ownedRepositories lists those of an organization, else of a user.
func (c *Client) ownedRepositories(ctx context.Context, doing, owner string) ([]*gh.Repository, error) {
	listed, err := listAll(c, doing, func(o gh.ListOptions) ([]*gh.Repository, *gh.Response, error) {
		return c.api.Repositories.ListByOrg(ctx, owner, &gh.RepositoryListByOrgOptions{Sort: "full_name", ListOptions: o})
	})
	if !wire.Gone(err) {
		return listed, err
	}
	me, err := c.Me(ctx)
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(me.Login, owner) { // with the private ones
		return listAll(c, doing, func(o gh.ListOptions) ([]*gh.Repository, *gh.Response, error) {
			return c.api.Repositories.ListByAuthenticatedUser(ctx, &gh.RepositoryListByAuthenticatedUserOptions{Affiliation: "owner", Sort: "full_name", ListOptions: o})
		})
	}
	return listAll(c, doing, func(o gh.ListOptions) ([]*gh.Repository, *gh.Response, error) {
		return c.api.Repositories.ListByUser(ctx, owner, &gh.RepositoryListByUserOptions{Sort: "full_name", ListOptions: o})
	})
}

// installedRepositories lists those of the configured installation of the app, else of all.
func (c *Client) installedRepositories(ctx context.Context, doing string) ([]*gh.Repository, error) {
	ids := []int64{c.tokens.app.installation}
	if ids[0] == 0 {
		all, err := listAll(c, doing, func(o gh.ListOptions) ([]*gh.Installation, *gh.Response, error) {
			return c.api.Apps.ListInstallations(context.WithValue(ctx, asAppKey{}, true), &o)
		})
		if err != nil {
			return nil, err
		}
		ids = nil
		for _, i := range all {
			if i.GetSuspendedAt().IsZero() {
				ids = append(ids, i.GetID())
			}
		}
	}
	var all []*gh.Repository
	for _, id := range slices.Compact(ids) {
		if len(ids) > maxInstallations {
			return nil, &forge.Error{Kind: forge.KindTooLarge, Status: http.StatusOK, Msg: fmt.Sprintf("%s: the app has more than %d installations", doing, maxInstallations)}
		}
		listed, err := listAll(c, doing, func(o gh.ListOptions) ([]*gh.Repository, *gh.Response, error) {
			found, resp, err := c.api.Apps.ListRepos(context.WithValue(ctx, installationKey{}, id), &o)
			if err != nil {
				return nil, resp, err
			}
			return found.Repositories, resp, nil
		})
		all = append(all, listed...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}
