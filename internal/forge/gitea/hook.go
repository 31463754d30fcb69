package gitea

import (
	"context"
	"net/http"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// hookHeaders are those of Forgejo and Gitea. The type of an event is finer than its name. Older
// servers of the family sign only as Gogs does.
var hookHeaders = wire.HookHeaders{
	Signatures: []string{"X-Forgejo-Signature", "X-Gitea-Signature", "X-Gogs-Signature", "X-Hub-Signature-256"},
	Events:     []string{"X-Forgejo-Event-Type", "X-Gitea-Event-Type", "X-Forgejo-Event", "X-Gitea-Event"},
	IDs:        []string{"X-Forgejo-Delivery", "X-Gitea-Delivery"},
}

// VerifyHook checks that a request of a webhook is signed with one of the secrets.
func (c *Client) VerifyHook(h http.Header, body []byte, secrets []string) (forge.HookHeader, error) {
	return wire.VerifyHook(hookHeaders, h, body, secrets)
}

// noDeliveries is why a delivery that failed is lost.
const noDeliveries forge.Unsupported = "Gitea does not list the deliveries of a webhook, and does not repeat them: what was missed is found by polling"

// Deliveries is not supported.
func (c *Client) Deliveries(context.Context, precedent.Repo, string, time.Time) ([]forge.HookDelivery, forge.Unsupported, error) {
	return nil, noDeliveries, nil
}

// Redeliver is not supported.
func (c *Client) Redeliver(context.Context, precedent.Repo, forge.HookDelivery) (forge.Unsupported, error) {
	return noDeliveries, nil
}
