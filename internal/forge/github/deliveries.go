package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/text"
)

// hookHeaders are GitHub's. X-Hub-Signature, which is by SHA-1, is not among them.
var hookHeaders = wire.HookHeaders{
	Signatures: []string{"X-Hub-Signature-256"}, Events: []string{"X-GitHub-Event"}, IDs: []string{"X-GitHub-Delivery"},
}

// VerifyHook checks that a request of a webhook is signed with one of the secrets.
func (c *Client) VerifyHook(h http.Header, body []byte, secrets []string) (forge.HookHeader, error) {
	return wire.VerifyHook(hookHeaders, h, body, secrets)
}

const noAppHook forge.Unsupported = "only a GitHub App has a webhook of its own"

// Deliveries lists the failed deliveries of the webhook of a repository, which needs a token with
// admin:repo_hook, or of the app, which needs only its key. GitHub keeps deliveries for 3 days.
func (c *Client) Deliveries(ctx context.Context, repo precedent.Repo, address string,
	since time.Time,
) ([]forge.HookDelivery, forge.Unsupported, error) {
	const doing = "list deliveries of the webhook"
	if repo.IsZero() {
		if c.tokens.app == nil {
			return nil, noAppHook, nil
		}
		all, err := failed(c.wire.Call(ctx, doing, "", nil).With(asAppKey{}, true), "app/hook/deliveries", "", since)
		return all, "", err
	}
	do := c.begin(ctx, doing, repo)
	hook, cannot, err := hookOf(do, repo, address)
	if err != nil || cannot != "" {
		return nil, cannot, err
	}
	all, err := failed(do, fmt.Sprintf("hooks/%d/deliveries", hook), precedent.NumberID(hook), since)
	return all, "", err
}

// hookOf finds the webhook of a repository that sends to an address.
func hookOf(do wire.Call, repo precedent.Repo, address string) (int64, forge.Unsupported, error) {
	type hook struct {
		ID     int64
		Config struct{ URL string }
	}
	all, err := wire.List[hook](do, "hooks")
	switch {
	case wire.Gone(err) || wire.Status(err) == http.StatusForbidden:
		return 0, forge.Unsupported(fmt.Sprintf(
			"the token cannot see the webhooks of %s: it needs admin:repo_hook, and its account admin access", repo)), nil
	case err != nil:
		return 0, "", err
	}
	for _, h := range all {
		if address != "" && strings.TrimRight(h.Config.URL, "/") == strings.TrimRight(address, "/") {
			return h.ID, "", nil
		}
	}
	return 0, forge.Unsupported(fmt.Sprintf("no webhook of %s sends to %s", repo, address)), nil
}

// delivery is one attempt to deliver an event.
type delivery struct {
	ID                  int64
	GUID, Event, Status string
	StatusCode          int       `json:"status_code"`
	DeliveredAt         time.Time `json:"delivered_at"`
}

// nextCursor finds the cursor of the next page in a Link header.
var nextCursor = text.Pattern(`[?&]cursor=([^&>]+)[^>]*>; *rel="next"`)

// failed reads the deliveries since a time, the newest first, and returns those of which the newest
// attempt failed.
func failed(do wire.Call, path string, hook precedent.ForgeID, since time.Time) ([]forge.HookDelivery, error) {
	newest, delivered := map[string]*delivery{}, map[string]bool{}
	var more error
	for page, cursor := 1, ""; ; page++ {
		address := fmt.Sprintf("%s?per_page=%d", path, perPage)
		if cursor != "" {
			address += "&cursor=" + url.QueryEscape(cursor)
		}
		got, header, _, err := wire.GetPage[delivery](do, "%s", address)
		if err != nil {
			return nil, err
		}
		next := nextCursor().FindStringSubmatch(header.Get("Link"))
		done := next == nil || len(got) == 0
		for _, d := range got {
			if d.GUID == "" || d.ID <= 0 {
				return nil, do.Unexpected("a delivery has no id")
			}
			if d.DeliveredAt.Before(since) {
				done = true
				continue
			}
			if old := newest[d.GUID]; old == nil || d.ID > old.ID {
				newest[d.GUID] = d
			}
			delivered[d.GUID] = delivered[d.GUID] || d.StatusCode >= 200 && d.StatusCode < 300
		}
		if done {
			break
		}
		if page == maxPages {
			more = do.Refuse(forge.KindTooLarge, "only the newest %d were read", page*perPage)
			break
		}
		if cursor, err = url.QueryUnescape(next[1]); err != nil {
			return nil, do.Unexpected("the cursor of the next page is not valid")
		}
	}
	var all []forge.HookDelivery
	for guid, d := range newest {
		if !delivered[guid] {
			all = append(all, forge.HookDelivery{
				ID: precedent.NumberID(d.ID), Hook: hook, GUID: guid, Event: d.Event, At: d.DeliveredAt.UTC(),
				Status: text.Cut(text.VisibleLine(d.Status), 100),
			})
		}
	}
	slices.SortFunc(all, func(a, b forge.HookDelivery) int { return cmp.Or(a.At.Compare(b.At), a.ID.Compare(b.ID)) })
	return all, more
}

// Redeliver sends a delivery again.
func (c *Client) Redeliver(ctx context.Context, repo precedent.Repo, d forge.HookDelivery) (forge.Unsupported, error) {
	const doing = "send a delivery of the webhook again"
	var err error
	switch {
	case d.Hook != "":
		do := c.begin(ctx, doing, repo, d.ID, d.Hook)
		err = do.Send(http.MethodPost, nil, nil, "hooks/%d/deliveries/%d/attempts", d.Hook.Number(), d.ID.Number())
	case c.tokens.app == nil:
		return noAppHook, forge.CheckNumbers(d.ID)
	default:
		do := c.wire.Call(ctx, doing, "", forge.CheckNumbers(d.ID)).With(asAppKey{}, true)
		err = do.Send(http.MethodPost, nil, nil, "app/hook/deliveries/%d/attempts", d.ID.Number())
	}
	return unlessForbidden(err)
}
