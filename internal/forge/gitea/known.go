package gitea

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent/internal/forge"
)

// known is what does not change while a client lives.
type known struct {
	mu      sync.Mutex
	me      forge.Person
	version string
}

// Me is the account of the token.
func (c *Client) Me(ctx context.Context) (forge.Person, error) {
	c.known.mu.Lock()
	defer c.known.mu.Unlock()
	if c.known.me.ID != "" {
		return c.known.me, nil
	}
	do, err := c.call(ctx, "ask "+c.host+" whose token this is")
	if err != nil {
		return forge.Person{}, err
	}
	u, _, err := do.GetMyUserInfo()
	if err != nil {
		return forge.Person{}, do.fail(err)
	}
	if u.ID == 0 || u.ID == ghostID || u.UserName == "" {
		return forge.Person{}, do.strange("it names no account")
	}
	c.known.me = person(u)
	return c.known.me, nil
}

// answering is how a server answers in a conversation.
type answering int

const (
	byReview answering = iota // with a review of its own on the same line
	byReply                   // Gitea since 1.27
	byAdding                  // Forgejo since 7: a comment for a review that was sent
)

var release = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^v?(\d{1,4})\.(\d{1,4})`) })

// answers tells how the server answers. One whose version cannot be read answers
// in the way that all do.
func (c *Client) answers(ctx context.Context) answering {
	c.known.mu.Lock()
	defer c.known.mu.Unlock()
	if c.known.version == "" {
		do, err := c.call(ctx, "read version")
		if err != nil {
			return byReview
		}
		if c.known.version, _, err = do.ServerVersion(); err != nil {
			return byReview
		}
	}
	found := release().FindStringSubmatch(c.known.version)
	if found == nil {
		return byReview
	}
	major, _ := strconv.Atoi(found[1]) // four digits are a number
	minor, _ := strconv.Atoi(found[2])
	switch {
	case strings.Contains(c.known.version, "+gitea-") && major >= 7:
		return byAdding
	case major == 1 && minor >= 27 || major > 1:
		return byReply
	}
	return byReview
}
