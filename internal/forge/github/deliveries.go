package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/text"
)

// Deliveries lists the failed deliveries of the webhook of a repository, which needs a token with
// admin:repo_hook, or of the app, which needs only its key. GitHub keeps deliveries for 3 days.
func (c *Client) Deliveries(ctx context.Context, repo precedent.Repo, address string, since time.Time) ([]forge.HookDelivery, forge.Unsupported, error) {
	const doing = "list deliveries of the webhook"
	if repo.IsZero() {
		if c.tokens.app == nil {
			return nil, "only a GitHub App has a webhook of its own", nil
		}
		ctx = context.WithValue(ctx, asAppKey{}, true)
		return c.failed(doing, "", since, func(o *gh.ListCursorOptions) ([]*gh.HookDelivery, *gh.Response, error) {
			return c.api.Apps.ListHookDeliveries(ctx, o)
		})
	}
	ctx, err := c.begin(ctx, doing, repo)
	if err != nil {
		return nil, "", err
	}
	hook, cannot, err := c.hookOf(ctx, doing, repo, address)
	if err != nil || cannot != "" {
		return nil, cannot, err
	}
	return c.failed(doing, precedent.NumberID(hook), since, func(o *gh.ListCursorOptions) ([]*gh.HookDelivery, *gh.Response, error) {
		return c.api.Repositories.ListHookDeliveries(ctx, repo.Owner, repo.Name, hook, o)
	})
}

// hookOf finds the webhook of a repository that sends to an address.
func (c *Client) hookOf(ctx context.Context, doing string, repo precedent.Repo, address string) (int64, forge.Unsupported, error) {
	all, err := listAll(c, doing, func(o gh.ListOptions) ([]*gh.Hook, *gh.Response, error) {
		return c.api.Repositories.ListHooks(ctx, repo.Owner, repo.Name, &o)
	})
	e, failed := errors.AsType[*forge.Error](err)
	switch {
	case failed && (wire.Gone(err) || e.Status == http.StatusForbidden):
		return 0, forge.Unsupported(fmt.Sprintf("the token cannot see the webhooks of %s: it needs admin:repo_hook, and its account admin access", repo)), nil
	case err != nil:
		return 0, "", err
	}
	for _, h := range all {
		if address != "" && strings.TrimRight(h.GetConfig().GetURL(), "/") == strings.TrimRight(address, "/") {
			return h.GetID(), "", nil
		}
	}
	return 0, forge.Unsupported(fmt.Sprintf("no webhook of %s sends to %s", repo, address)), nil
}

// failed reads the deliveries since a time, the newest first, and returns those of which the newest
// attempt failed.
func (c *Client) failed(doing string, hook precedent.ForgeID, since time.Time, read func(*gh.ListCursorOptions) ([]*gh.HookDelivery, *gh.Response, error)) ([]forge.HookDelivery, forge.Unsupported, error) {
	newest := map[string]*gh.HookDelivery{}
	delivered := map[string]bool{}
	o := &gh.ListCursorOptions{PerPage: perPage}
	var more error
	for page := 1; ; page++ {
		got, resp, err := read(o)
		if err != nil {
			return nil, "", c.wire.Fail(doing, err)
		}
		done := resp.Cursor == "" || len(got) == 0
		for _, d := range got {
			if d == nil || d.GetGUID() == "" || d.GetID() <= 0 {
				return nil, "", wire.UnexpectedAnswer(doing, "a delivery has no id")
			}
			if d.GetDeliveredAt().Before(since) {
				done = true
				continue
			}
			if old := newest[d.GetGUID()]; old == nil || d.GetID() > old.GetID() {
				newest[d.GetGUID()] = d
			}
			delivered[d.GetGUID()] = delivered[d.GetGUID()] || d.GetStatusCode() >= 200 && d.GetStatusCode() < 300
		}
		if done {
			break
		}
		if page == maxPages {
			more = &forge.Error{Kind: forge.KindTooLarge, Msg: fmt.Sprintf("%s: only the newest %d were read", doing, page*perPage)}
			break
		}
		o.Cursor = resp.Cursor
	}
	var all []forge.HookDelivery
	for guid, d := range newest {
		if !delivered[guid] {
			all = append(all, forge.HookDelivery{
				ID: precedent.NumberID(d.GetID()), Hook: hook, GUID: guid, Event: d.GetEvent(), At: d.GetDeliveredAt().UTC(),
				Status: text.Cut(text.VisibleLine(d.GetStatus()), 100),
			})
		}
	}
	slices.SortFunc(all, func(a, b forge.HookDelivery) int {
		if n := a.At.Compare(b.At); n != 0 {
			return n
		}
		return a.ID.Compare(b.ID)
	})
	return all, "", more
}

// Redeliver sends a delivery again.
func (c *Client) Redeliver(ctx context.Context, repo precedent.Repo, d forge.HookDelivery) (forge.Unsupported, error) {
	doing := "send a delivery of the webhook again"
	ids := []precedent.ForgeID{d.ID}
	if d.Hook != "" {
		ids = append(ids, d.Hook)
	}
	if err := forge.CheckNumbers(ids...); err != nil {
		return "", c.wire.Fail(doing, err)
	}
	path := fmt.Sprintf("app/hook/deliveries/%d/attempts", d.ID.Number())
	switch {
	case d.Hook == "" && c.tokens.app == nil:
		return "only a GitHub App has a webhook of its own", nil
	case d.Hook == "":
		ctx = context.WithValue(ctx, asAppKey{}, true)
	default:
		var err error
		if ctx, err = c.begin(ctx, doing, repo); err != nil {
			return "", err
		}
		path = fmt.Sprintf("repos/%s/%s/hooks/%d/deliveries/%d/attempts", repo.Owner, repo.Name, d.Hook.Number(), d.ID.Number())
	}
	_, err := c.write(ctx, doing, func(ctx context.Context) error {
		req, err := c.api.NewRequest(ctx, http.MethodPost, path, nil)
		if err != nil {
			return err
		}
		_, err = c.api.Do(req, nil)
		if _, ok := errors.AsType[*gh.AcceptedError](err); ok { // 202 is what it answers
			return nil
		}
		return err
	})
	if e, ok := errors.AsType[*forge.Error](err); ok && e.Status == http.StatusForbidden && e.Kind == forge.KindAuth {
		return forge.Unsupported(e.Msg), nil
	}
	return "", err
}
