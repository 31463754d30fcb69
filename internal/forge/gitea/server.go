package gitea

import (
	"context"
	"net/http"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Checks lists the check runs and the statuses of a commit.
func (c *Client) Checks(ctx context.Context, repo precedent.Repo, commit string) ([]forge.CommitCheck, error) {
	return nil, &forge.Error{Kind: forge.KindUnsupported, Msg: "not yet"}
}

// Repositories lists the repositories of an owner.
func (c *Client) Repositories(ctx context.Context, owner string) ([]precedent.Repo, error) {
	return nil, &forge.Error{Kind: forge.KindUnsupported, Msg: "not yet"}
}

// Pushable tells why the token may not push to a branch.
func (c *Client) Pushable(ctx context.Context, repo precedent.Repo, branch string) (forge.Unsupported, error) {
	return "", &forge.Error{Kind: forge.KindUnsupported, Msg: "not yet"}
}

// Deliveries lists the failed deliveries of a webhook.
func (c *Client) Deliveries(ctx context.Context, repo precedent.Repo, address string, since time.Time) ([]forge.HookDelivery, forge.Unsupported, error) {
	return nil, "not yet", nil
}

// Redeliver sends a delivery again.
func (c *Client) Redeliver(ctx context.Context, repo precedent.Repo, d forge.HookDelivery) (forge.Unsupported, error) {
	return "not yet", nil
}

// VerifyHook checks a request of a webhook.
func (c *Client) VerifyHook(h http.Header, body []byte, secrets []string) (forge.HookHeader, error) {
	return forge.HookHeader{}, forge.ErrUnsigned
}
