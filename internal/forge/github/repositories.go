package github

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/git"
)

// maxInstallations bounds the installations of an app that are looked at.
const maxInstallations = 100

// Repositories lists the repositories of an owner that the token may write to. Those of an app are
// those of its installations: what the app may do there is the same in all.
func (c *Client) Repositories(ctx context.Context, owner string) ([]precedent.Repo, error) {
	doing := strings.TrimSuffix("list repositories of "+owner, " of ")
	do := c.Call(ctx, doing, "", nil).Only(owner == "" || forge.IsName(owner), "not a valid name of an owner on GitHub")
	var listed []*wire.Repository
	var err error
	switch {
	case c.tokens.app != nil:
		listed, err = c.installedRepositories(do, owner)
		for _, r := range listed { // what the app may do is the same in all
			r.Permissions.Push = true
		}
	case owner == "":
		listed, err = wire.List[wire.Repository](do, "user/repos?sort=full_name")
	default:
		listed, err = c.ownedRepositories(do, owner)
	}
	return c.Writable(do, owner, listed, err)
}

// ownedRepositories lists those of an organization, else of a user.
func (c *Client) ownedRepositories(do wire.Call, owner string) ([]*wire.Repository, error) {
	listed, err := wire.List[wire.Repository](do, "orgs/%s/repos?sort=full_name", owner)
	if !wire.Gone(err) {
		return listed, err
	}
	me, err := c.Me(do.Context())
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(me.Login, owner) { // with the private ones
		return wire.List[wire.Repository](do, "user/repos?affiliation=owner&sort=full_name")
	}
	return wire.List[wire.Repository](do, "users/%s/repos?sort=full_name", owner)
}

// installedRepositories lists those of all installations of the app, or of those of an owner.
func (c *Client) installedRepositories(do wire.Call, owner string) ([]*wire.Repository, error) {
	type installation struct {
		ID          int64
		Account     struct{ Login string }
		SuspendedAt time.Time `json:"suspended_at"`
	}
	installed, err := wire.List[installation](do.With(asAppKey{}, true), "app/installations")
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, i := range installed {
		if i.SuspendedAt.IsZero() && (owner == "" || strings.EqualFold(i.Account.Login, owner)) {
			ids = append(ids, i.ID)
		}
	}
	var more error
	if len(ids) > maxInstallations {
		ids = ids[:maxInstallations]
		more = do.Refuse(forge.KindTooLarge, "only the first %d installations of the app were read", maxInstallations)
	}
	type page struct{ Repositories []*wire.Repository }
	var all []*wire.Repository
	for _, id := range slices.Compact(ids) {
		listed, err := wire.ListIn(do.With(installationKey{}, id),
			func(p page) []*wire.Repository { return p.Repositories }, "installation/repositories")
		all = append(all, listed...)
		if err != nil {
			return all, err
		}
	}
	return all, more
}

// blockingRules are the rules of rulesets that refuse a push, without regard to who may bypass them: GitHub does
// not tell whether the token may.
var blockingRules = map[string]string{
	"update":                 "nobody may update it",
	"pull_request":           "changes need a pull request",
	"merge_queue":            "changes need a merge queue",
	"required_status_checks": "commits need checks before they are pushed",
	"required_signatures":    "commits need signatures",
	"workflows":              "commits need workflows before they are pushed",
}

// Pushable tells why the token may not push to a branch: by the repository, the branch's protection, and
// the rulesets that apply to it. That is three requests.
func (c *Client) Pushable(ctx context.Context, repo precedent.Repo, branch string) (forge.Unsupported, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("look up the branch %q of %s", branch, repo)).
		Only(git.IsBranch(branch), "not a valid name of a branch")
	var mayPush func() bool
	if c.tokens.app != nil {
		mayPush = func() bool { return c.tokens.mayPush(repo) }
	}
	no, err := c.Site.Pushable(do, repo, branch, url.PathEscape(branch), mayPush)
	if no != "" || err != nil {
		return no, err
	}
	var rules []struct{ Type string }
	err = do.Get(&rules, "rules/branches/%s?per_page=%d", url.PathEscape(branch), perPage)
	if err != nil && !wire.Gone(err) { // GitHub Enterprise before 3.11 has no rules
		return "", err
	}
	for _, rule := range rules {
		if why := blockingRules[strings.ToLower(rule.Type)]; why != "" {
			return forge.NotPushable(repo, branch, "a rule of the repository says that "+why), nil
		}
	}
	return "", nil
}
