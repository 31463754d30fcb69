package gitea

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/text"
)

// cached is what does not change during the life of a client.
type cached struct {
	mu      sync.Mutex
	version string // lacking if the server lacks what its version suggests
	// resolves is lowered by requests to resolve a conversation that the server does not know,
	// and raised by one that succeeds: a deleted conversation looks like a missing API.
	resolves atomic.Int64
}

const lacking = "lacking"

// maxUnknown is how often an unknown request is sent before the server counts as one that lacks it.
const maxUnknown = 2

// Me returns the account of the token.
func (c *Client) Me(ctx context.Context) (forge.Person, error) {
	do := c.Call(ctx, "look up the account of the token on "+c.Host(), "", nil)
	return c.MeOnce(func(u *wire.User) error {
		if err := do.Get(u, "user"); err != nil {
			return err
		}
		if u.Person().ID == "" || u.Login == "" {
			return do.Unexpected("it names no account")
		}
		return nil
	})
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
	if c.cached.version == "" {
		var got struct{ Version string }
		if c.Call(ctx, "read version", "", nil).Get(&got, "version") != nil {
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
