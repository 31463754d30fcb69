package gitea

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/text"
)

// cached is what does not change during the life of a client.
type cached struct {
	mu      sync.Mutex
	me      forge.Person
	version string
	// noReplies tells that the server lacks what its version suggests.
	noReplies bool
	// resolves is lowered by requests to resolve a conversation that the server does not know,
	// and raised by one that succeeds: a deleted conversation looks like a missing API.
	resolves atomic.Int64
}

// maxUnknown is how often an unknown request is sent before the server counts as one that lacks it.
const maxUnknown = 2

// Accounts that Gitea has no row for. A workflow's own token acts as the second.
const (
	ghostID   = -1
	actionsID = -2
)

// person converts an account. Gitea marks no accounts as bots; only that of its workflows is known.
func person(u *user) forge.Person {
	if u == nil || u.ID == ghostID || u.ID == 0 {
		return forge.Person{Login: "ghost"}
	}
	return forge.Person{ID: precedent.NumberID(u.ID), Login: u.Login, Bot: u.ID == actionsID}
}

// Me returns the account of the token.
func (c *Client) Me(ctx context.Context) (forge.Person, error) {
	c.cached.mu.Lock()
	defer c.cached.mu.Unlock()
	if c.cached.me.ID != "" {
		return c.cached.me, nil
	}
	do := c.wire.Call(ctx, "look up the account of the token on "+c.host, "", nil)
	var u user
	if err := do.Get(&u, "user"); err != nil {
		return forge.Person{}, err
	}
	if u.ID == 0 || u.ID == ghostID || u.Login == "" {
		return forge.Person{}, do.Unexpected("it names no account")
	}
	c.cached.me = person(&u)
	return c.cached.me, nil
}

// replyMode is how a server replies in a conversation.
type replyMode int

const (
	noReplies        replyMode = iota
	viaReply                   // Gitea since 1.27
	viaReviewComment           // Forgejo since 7: a comment added to a submitted review
)

var release = text.Pattern(`^v?(\d{1,4})\.(\d{1,4})`)

// replyMode returns how the server replies. A server whose version cannot be read counts as one that cannot.
func (c *Client) replyMode(ctx context.Context) replyMode {
	c.cached.mu.Lock()
	defer c.cached.mu.Unlock()
	if c.cached.noReplies {
		return noReplies
	}
	if c.cached.version == "" {
		var got struct{ Version string }
		if c.wire.Call(ctx, "read version", "", nil).Get(&got, "version") != nil {
			return noReplies
		}
		c.cached.version = got.Version
	}
	found := release().FindStringSubmatch(c.cached.version)
	if found == nil {
		return noReplies
	}
	major, _ := strconv.Atoi(found[1]) // four digits are a number
	minor, _ := strconv.Atoi(found[2])
	switch {
	case strings.Contains(c.cached.version, "+gitea-") && major >= 7:
		return viaReviewComment
	case major == 1 && minor >= 27 || major > 1:
		return viaReply
	}
	return noReplies
}
