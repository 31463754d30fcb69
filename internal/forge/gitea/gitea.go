// Package gitea reads and writes pull requests on Gitea and Forgejo, which speak
// the same API with small differences: what a server does not have is done
// otherwise, or said to be unsupported.
//
// Pushes are processed after git has taken them: for some seconds a pull request
// may name the head before. The answers of the API carry no ETag, so each look is
// a whole one.
package gitea

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// Options are what a client needs. They come from the operator, never from a
// repository.
type Options struct {
	// BaseURL is where people look at the forge: https://HOST, with a path if it
	// lies below one. The API's own address, which ends in /api/v1, will do. Plain
	// http is for the loopback interface alone.
	BaseURL string
	Token   wire.Token
	// UserAgent names the caller to the forge; "precedent" if it is empty.
	UserAgent string
	wire.Network
}

// Client is a Gitea or Forgejo server. It is safe for concurrent use.
type Client struct {
	host        string   // as identities name it
	web         *url.URL // where people look, and git fetches
	agent       string
	wire        *wire.Transport
	permissions *wire.Permissions
	postingLock chan struct{} // holds one entry while a review is posted
	cached      cached
}

var _ forge.Forge = (*Client)(nil)

// api is the path of the API below the forge's address.
const api = "api/v1"

// New makes a client. It sends nothing.
func New(o Options) (*Client, error) {
	web, err := wire.Address(o.BaseURL)
	if err != nil {
		return nil, err
	}
	path := strings.Trim(strings.TrimSuffix(strings.TrimRight(web.Path, "/"), "/"+api), "/")
	if path != "" {
		for part := range strings.SplitSeq(path, "/") {
			if !isName(part) {
				return nil, errors.New("invalid base URL of the forge: its path contains unsupported characters")
			}
		}
		path = "/" + path
	}
	web = &url.URL{Scheme: web.Scheme, Host: web.Host, Path: path}
	if o.UserAgent == "" {
		o.UserAgent = "precedent"
	}
	w := wire.New(wire.Options{
		Forge: "Gitea", Home: &url.URL{Scheme: web.Scheme, Host: web.Host, Path: path + "/" + api + "/"},
		Scheme: "token", Token: wire.Static(o.Token), Hint: hintFor,
		Plain:   func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, ".diff") },
		Network: o.Network,
	})
	return &Client{
		host: strings.ToLower(web.Host), web: web, agent: o.UserAgent, wire: w,
		permissions: wire.NewPermissions(w.Now), postingLock: make(chan struct{}, 1),
	}, nil
}

// hintFor says what a person can do about an answer.
func hintFor(status int, _ http.Header) string {
	if status == http.StatusForbidden {
		return "the token is missing a scope or its account a permission: it needs read:user, write:repository and write:issue, and write access to set statuses"
	}
	return ""
}

// Host is the host as identities name it: codeberg.org.
func (c *Client) Host() string { return c.host }

// Quota is what is left of a rate limit. Gitea has none; what stands before it may.
func (c *Client) Quota() forge.Quota { return c.wire.Quota() }

var name = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`) })

// isName tells whether a name can stand in a path, and is one part of it.
func isName(s string) bool { return name().MatchString(s) && s != "." && s != ".." }

// checkRepo refuses a repository that is not on this forge, and names that would
// make another request of this one.
func (c *Client) checkRepo(r precedent.Repo) error {
	for _, s := range []string{r.Owner, r.Name} {
		if !isName(s) {
			return &forge.Error{Kind: forge.KindRefused, Msg: fmt.Sprintf("%q is not a valid name of an owner or a repository on Gitea", s)}
		}
	}
	if r.Host != c.host {
		return &forge.Error{
			Kind: forge.KindRefused, Msg: fmt.Sprintf("%s is not on %s", r, c.host),
			Hint: "set forge in the configuration file, or pass --forge",
		}
	}
	return nil
}

// call is one call of the forge's library.
type call struct {
	*sdk.Client
	doing   string
	attempt *wire.Attempt
}

// begin prepares a call about a repository. The library keeps the context in its
// client, so that each call has one of its own.
func (c *Client) begin(ctx context.Context, repo precedent.Repo, doing string, comments ...precedent.ForgeID) (call, error) {
	if err := cmp.Or(c.checkRepo(repo), forge.CheckNumbers(comments...)); err != nil {
		return call{}, c.wire.Fail(doing, err)
	}
	return c.call(ctx, doing)
}

func (c *Client) call(ctx context.Context, doing string) (call, error) {
	ctx, attempt := c.wire.Watch(ctx)
	client, err := sdk.NewClient(c.web.String(),
		sdk.SetGiteaVersion(""), // or it asks the server for it each time
		sdk.SetContext(ctx), sdk.SetHTTPClient(c.wire.Client()), sdk.SetUserAgent(c.agent))
	if err != nil {
		return call{}, fmt.Errorf("make Gitea client: %w", err)
	}
	return call{client, doing, attempt}, nil
}

// fail is the error of the call.
func (c call) fail(err error) error { return c.attempt.Fail(c.doing, err) }

// unexpected is the error of an answer that cannot be understood.
func (c call) unexpected(why string) error { return c.attempt.UnexpectedAnswer(c.doing, why) }

// statusOf is the HTTP status of a forge's error; 0 without one.
func statusOf(err error) int {
	var e *forge.Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// isUnknownRoute tells whether an error can mean that the server does not have such a
// request at all. Servers answer 405 if they know the path by another method.
func isUnknownRoute(err error) bool {
	s := statusOf(err)
	return s == http.StatusNotFound || s == http.StatusMethodNotAllowed
}
