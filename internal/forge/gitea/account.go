package gitea

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/precedent-dev/precedent/internal/forge"
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

// maxUnknown is how often an unknown request is sent before the server counts as one that
// lacks it.
const maxUnknown = 2

// Me returns the account of the token.
func (c *Client) Me(ctx context.Context) (forge.Person, error) {
	c.cached.mu.Lock()
	defer c.cached.mu.Unlock()
	if c.cached.me.ID != "" {
		return c.cached.me, nil
	}
	do, err := c.call(ctx, "look up the account of the token on "+c.host)
	if err != nil {
		return forge.Person{}, err
	}
	u, _, err := do.GetMyUserInfo()
	if err != nil {
		return forge.Person{}, do.fail(err)
	}
	if u.ID == 0 || u.ID == ghostID || u.UserName == "" {
		return forge.Person{}, do.unexpected("it names no account")
	}
	c.cached.me = person(u)
	return c.cached.me, nil
}

// replyMode is how a server replies in a conversation.
type replyMode int

const (
	noReplies        replyMode = iota
	viaReply                   // Gitea since 1.27
	viaReviewComment           // Forgejo since 7: a comment added to a submitted review
)

var release = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^v?(\d{1,4})\.(\d{1,4})`) })

// replyMode returns how the server replies. A server whose version cannot be read counts
// as one that cannot.
func (c *Client) replyMode(ctx context.Context) replyMode {
	c.cached.mu.Lock()
	defer c.cached.mu.Unlock()
	if c.cached.noReplies {
		return noReplies
	}
	if c.cached.version == "" {
		do, err := c.call(ctx, "read version")
		if err != nil {
			return noReplies
		}
		if c.cached.version, _, err = do.ServerVersion(); err != nil {
			return noReplies
		}
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
