package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// blockingRules are the rules of rulesets that refuse a push, without regard to who may bypass them: GitHub does not
// tell whether the token may.
var blockingRules = map[string]string{
	"update": "nobody may update it", "pull_request": "changes need a pull request", "merge_queue": "changes need a merge queue",
	"required_status_checks": "commits need checks before they are pushed", "required_signatures": "commits need signatures",
	"workflows": "commits need workflows before they are pushed",
}

// Pushable tells why the token may not push to a branch: by the repository, the branch's protection, and
// the rulesets that apply to it. That is three requests.
func (c *Client) Pushable(ctx context.Context, repo precedent.Repo, branch string) (forge.Unsupported, error) {
	doing := fmt.Sprintf("look up the branch %q of %s", branch, repo)
	ctx, err := c.begin(ctx, doing, repo)
	if err != nil {
		return "", err
	}
	if !forge.IsBranch(branch) {
		return "", &forge.Error{Kind: forge.KindRefused, Msg: doing + ": not a valid name of a branch"}
	}
	r, _, err := c.api.Repositories.Get(ctx, repo.Owner, repo.Name)
	if err != nil {
		return "", c.wire.Fail(doing, err)
	}
	may := r.GetPermissions().GetPush()
	if c.tokens.app != nil {
		may = c.tokens.mayPush(repo)
	}
	switch {
	case r.GetArchived() || r.GetDisabled():
		return forge.NotPushable(repo, branch, "the repository is archived"), nil
	case !may:
		return forge.NotPushable(repo, branch, "the token has no write access to the repository's contents"), nil
	case branch == r.GetDefaultBranch():
		return forge.NotPushable(repo, branch, "it is the default branch"), nil
	}
	var found gh.Branch
	if err := c.get(ctx, fmt.Sprintf("repos/%s/%s/branches/%s", repo.Owner, repo.Name, url.PathEscape(branch)), &found); err != nil {
		return "", c.wire.Fail(doing, err)
	}
	switch {
	case found.GetName() != branch:
		return "", wire.UnexpectedAnswer(doing, "it describes another branch")
	case found.GetProtected():
		return forge.NotPushable(repo, branch, "it is protected"), nil
	}
	var rules []struct{ Type string }
	err = c.get(ctx, fmt.Sprintf("repos/%s/%s/rules/branches/%s?per_page=%d", repo.Owner, repo.Name, url.PathEscape(branch), perPage), &rules)
	if err != nil && !wire.Gone(err) { // GitHub Enterprise before 3.11 has no rules
		return "", c.wire.Fail(doing, err)
	}
	for _, rule := range rules {
		if why := blockingRules[strings.ToLower(rule.Type)]; why != "" {
			return forge.NotPushable(repo, branch, "a rule of the repository says that "+why), nil
		}
	}
	return "", nil
}

// get reads one object.
func (c *Client) get(ctx context.Context, path string, into any) error {
	req, err := c.api.NewRequest(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	_, err = c.api.Do(req, into)
	return err
}
