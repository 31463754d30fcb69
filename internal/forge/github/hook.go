package github

import (
	"net/http"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// hookHeaders are GitHub's. X-Hub-Signature, which is by SHA-1, is not among them.
var hookHeaders = wire.HookHeaders{
	Signatures: []string{"X-Hub-Signature-256"}, Events: []string{"X-GitHub-Event"}, IDs: []string{"X-GitHub-Delivery"},
}

// VerifyHook checks that a request of a webhook is signed with one of the secrets.
func (c *Client) VerifyHook(h http.Header, body []byte, secrets []string) (forge.HookHeader, error) {
	return wire.VerifyHook(hookHeaders, h, body, secrets)
}
