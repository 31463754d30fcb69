package github

import (
	"cmp"
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
	do := c.wire.Call(ctx, doing, "", nil)
	if owner != "" && !forge.IsName(owner) {
		return nil, do.Refuse(forge.KindRefused, "not a valid name of an owner on GitHub")
	}
	var listed []*repository
	var err error
	switch {
	case c.tokens.app != nil:
		listed, err = c.installedRepositories(do, owner)
	case owner == "":
		listed, err = wire.List[repository](do, "user/repos?sort=full_name")
	default:
		listed, err = c.ownedRepositories(do, owner)
	}
	if err != nil && !forge.IsPartial(err) {
		return nil, err
	}
	var all []precedent.Repo
	for _, r := range listed {
		repo := precedent.Repo{Host: c.host, Owner: r.Owner.Login, Name: r.Name}
		may := c.tokens.app != nil || r.Permissions.Push
		if !may || r.Archived || r.Disabled || owner != "" && !strings.EqualFold(repo.Owner, owner) {
			continue
		}
		if c.checkRepo(repo) != nil {
			return nil, do.Unexpected("it names no repository")
		}
		all = append(all, repo)
	}
	all, more := forge.SortRepositories(doing, all)
	return all, cmp.Or(err, more)
}

// ownedRepositories lists those of an organization, else of a user.
func (c *Client) ownedRepositories(do wire.Call, owner string) ([]*repository, error) {
	listed, err := wire.List[repository](do, "orgs/%s/repos?sort=full_name", owner)
	if !wire.Gone(err) {
		return listed, err
	}
	me, err := c.Me(do.Context())
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(me.Login, owner) { // with the private ones
		return wire.List[repository](do, "user/repos?affiliation=owner&sort=full_name")
	}
	return wire.List[repository](do, "users/%s/repos?sort=full_name", owner)
}

// installedRepositories lists those of all installations of the app, or of those of an owner.
func (c *Client) installedRepositories(do wire.Call, owner string) ([]*repository, error) {
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
	type page struct{ Repositories []*repository }
	var all []*repository
	for _, id := range slices.Compact(ids) {
		listed, err := wire.ListIn(do.With(installationKey{}, id),
			func(p page) []*repository { return p.Repositories }, "installation/repositories")
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
	do := c.begin(ctx, fmt.Sprintf("look up the branch %q of %s", branch, repo), repo)
	if !git.IsBranch(branch) {
		return "", do.Refuse(forge.KindRefused, "not a valid name of a branch")
	}
	var r repository
	if err := do.Get(&r, "/repos/%s/%s", repo.Owner, repo.Name); err != nil {
		return "", err
	}
	may := r.Permissions.Push
	if c.tokens.app != nil {
		may = c.tokens.mayPush(repo)
	}
	switch {
	case r.Archived || r.Disabled:
		return forge.NotPushable(repo, branch, "the repository is archived"), nil
	case !may:
		return forge.NotPushable(repo, branch, "the token has no write access to the repository's contents"), nil
	case branch == r.DefaultBranch:
		return forge.NotPushable(repo, branch, "it is the default branch"), nil
	}
	var found struct {
		Name      string
		Protected bool
	}
	if err := do.Get(&found, "branches/%s", url.PathEscape(branch)); err != nil {
		return "", err
	}
	switch {
	case found.Name != branch:
		return "", do.Unexpected("it describes another branch")
	case found.Protected:
		return forge.NotPushable(repo, branch, "it is protected"), nil
	}
	var rules []struct{ Type string }
	err := do.Get(&rules, "rules/branches/%s?per_page=%d", url.PathEscape(branch), perPage)
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
