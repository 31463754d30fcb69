// Package gitea reads and writes pull requests on Gitea and Forgejo, whose APIs are
// nearly the same. What a server lacks is done in another way, or reported as
// unsupported.
//
// A pull request of an archived repository counts as locked: Gitea accepts reviews
// there, but no comments.
//
// Pushes are processed after git has accepted them, so a pull request may have its
// old head for some seconds. Responses carry no ETag, so there are no conditional
// requests: an unchanged list of pull requests is one request for its first page.
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

// Options configure a Client. They come from the operator, never from a repository.
type Options struct {
	// BaseURL is the URL of the web pages: https://HOST, with a path if the server is
	// below one. The URL of the API, which ends in /api/v1, works as well. Plain http
	// is allowed only on the loopback interface.
	BaseURL string
	Token   wire.Token
	// UserAgent identifies the caller to the server. The default is "precedent".
	UserAgent string
	wire.Network
}

// Client is a client for a Gitea or Forgejo server. It is safe for concurrent use.
type Client struct {
	host        string   // as repository identities contain it
	web         *url.URL // root of the web pages and of clone URLs
	agent       string
	wire        *wire.Transport
	permissions *wire.Permissions // of single people
	writers     *wire.Recent[precedent.Repo, *writers]
	polls       *wire.Polls
	postingLock chan struct{} // holds one entry while a review is posted
	cached      cached
}

var _ forge.Forge = (*Client)(nil)

// api is the path of the API below the base URL.
const api = "api/v1"

// New returns a Client. It sends nothing.
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
		permissions: wire.NewPermissions(w.Now), writers: wire.NewRecent[precedent.Repo, *writers](w.Now), polls: wire.NewPolls(w.Now), postingLock: make(chan struct{}, 1),
	}, nil
}

// hintFor returns what the user can do about a status.
func hintFor(status int, _ http.Header) string {
	if status == http.StatusForbidden {
		return "the token is missing a scope or its account a permission: it needs read:user, write:repository and write:issue, and write access to set statuses"
	}
	return ""
}

// Host returns the host as repository identities contain it: codeberg.org.
func (c *Client) Host() string { return c.host }

// Quota returns the rate limit as of the last response. Gitea has none, but a proxy
// in front of it may.
func (c *Client) Quota() forge.Quota { return c.wire.Quota() }

var name = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`) })

// isName reports whether a name is a single path element.
func isName(s string) bool { return name().MatchString(s) && s != "." && s != ".." }

// checkRepo refuses a repository on another forge, and names that would change the
// path of a request.
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

// call is one call of the SDK.
type call struct {
	*sdk.Client
	doing   string
	attempt *wire.Attempt
}

// begin checks the repository and the ids of comments, and prepares a call. The SDK
// stores the context in its client, so each call has its own.
func (c *Client) begin(ctx context.Context, repo precedent.Repo, doing string, comments ...precedent.ForgeID) (call, error) {
	if err := cmp.Or(c.checkRepo(repo), forge.CheckNumbers(comments...)); err != nil {
		return call{}, c.wire.Fail(doing, err)
	}
	return c.call(ctx, doing)
}

func (c *Client) call(ctx context.Context, doing string) (call, error) {
	ctx, attempt := c.wire.Watch(ctx)
	client, err := sdk.NewClient(c.web.String(),
		sdk.SetGiteaVersion(""), // skip the version request on each call
		sdk.SetContext(ctx), sdk.SetHTTPClient(c.wire.Client()), sdk.SetUserAgent(c.agent))
	if err != nil {
		return call{}, fmt.Errorf("make Gitea client: %w", err)
	}
	return call{client, doing, attempt}, nil
}

// fail returns the error of the call.
func (c call) fail(err error) error { return c.attempt.Fail(c.doing, err) }

// unexpected returns the error of a response that does not make sense.
func (c call) unexpected(why string) error { return c.attempt.UnexpectedAnswer(c.doing, why) }

// statusOf returns the HTTP status of an error; 0 without one.
func statusOf(err error) int {
	var e *forge.Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// isUnknownRoute reports whether an error can mean that the server does not have this
// API. Servers return 405 for a known path with another method.
func isUnknownRoute(err error) bool {
	s := statusOf(err)
	return s == http.StatusNotFound || s == http.StatusMethodNotAllowed
}
