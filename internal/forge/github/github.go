// Package github reads pull requests from GitHub and GitHub Enterprise, and posts
// to them. Requests are by REST; GraphQL is asked for what REST has not:
// conversations, and who a token of an app is.
package github

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

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// Options are what a client needs. They come from the operator, never from a
// repository.
type Options struct {
	// BaseURL is https://HOST or https://HOST/api/v3 of GitHub Enterprise; empty for
	// github.com. Plain http is for the loopback interface alone.
	BaseURL string
	// Token is a personal one, or the one of a workflow's run. Without any, GitHub
	// allows 60 requests an hour for public repositories.
	Token wire.Token
	// App takes the place of Token; nil for none.
	App *App
	// UserAgent names the caller to GitHub; "precedent" if it is empty.
	UserAgent string
	wire.Network
}

// Client is GitHub. It is safe for concurrent use.
type Client struct {
	host        string   // as identities name it
	web         *url.URL // where people look, and git fetches
	graphql     string   // address of the other API
	api         *gh.Client
	wire        *wire.Transport
	tokens      *tokens
	permissions *wire.Permissions
	me          identity
	posting     chan struct{} // holds one entry while a review is posted
}

var _ forge.Forge = (*Client)(nil)

// New makes a client. It sends nothing.
func New(o Options) (*Client, error) {
	api, web, graphql, err := addresses(o.BaseURL)
	if err != nil {
		return nil, err
	}
	c := &Client{host: strings.ToLower(web.Host), web: web, graphql: graphql.String(), posting: make(chan struct{}, 1)}
	c.tokens = &tokens{client: c, plain: o.Token, app: o.App, cached: map[precedent.Repo]installationToken{}}
	options := wire.Options{
		Forge: "GitHub", Home: api, AlsoHosts: []string{graphql.Path}, Scheme: "Bearer", Token: c.tokens.forRequest,
		Plain: func(r *http.Request) bool { return r.Header.Get("Accept") == acceptDiff }, Hint: hintFor,
		Network: o.Network, Public: o.BaseURL == "",
	}
	if o.App != nil {
		options.Renew = c.tokens.renew
	}
	c.wire = wire.New(options)
	c.permissions = wire.NewPermissions(c.wire.Now)
	if o.UserAgent == "" {
		o.UserAgent = "precedent"
	}
	base := api.String()
	c.api, err = gh.NewClient(
		gh.WithHTTPClient(c.wire.Client()),
		gh.WithURLs(&base, &base),
		gh.WithUserAgent(o.UserAgent),
		gh.WithDisableRateLimitCheck(), // it would use the real clock; the transport waits instead
	)
	if err != nil {
		return nil, fmt.Errorf("make GitHub client: %w", err)
	}
	return c, nil
}

// publicAPI is where github.com answers.
const publicAPI = "https://api.github.com"

// addresses finds where the two APIs are, and where the pages are.
func addresses(base string) (api, web, graphql *url.URL, err error) {
	if base == "" {
		base = publicAPI
	}
	u, err := wire.Address(base)
	if err != nil {
		return nil, nil, nil, err
	}
	path := strings.Trim(u.Path, "/")
	at := func(host, path string) *url.URL { return &url.URL{Scheme: u.Scheme, Host: host, Path: path} }
	if pages, ok := strings.CutPrefix(strings.ToLower(u.Host), "api."); ok && path == "" {
		// github.com, and an enterprise's name.ghe.com
		return at(u.Host, "/"), at(pages, ""), at(u.Host, "/graphql"), nil
	}
	if path != "" && path != "api/v3" {
		return nil, nil, nil, errors.New("invalid base URL of GitHub Enterprise: its path must be empty or /api/v3")
	}
	return at(u.Host, "/api/v3/"), at(u.Host, ""), at(u.Host, "/api/graphql"), nil
}

// hintFor is what a person can do about a status that GitHub answers with.
func hintFor(status int, h http.Header) string {
	switch {
	case status == http.StatusForbidden && h.Get("X-GitHub-SSO") != "":
		return "the organization requires single sign-on: authorize the token for it in GitHub's settings"
	case status == http.StatusForbidden:
		return "the token is missing a permission: it needs contents: read, pull requests: write and issues: write"
	case status >= http.StatusInternalServerError:
		return "try again later; see https://www.githubstatus.com for outages"
	}
	return ""
}

// Host is the host as identities name it: github.com.
func (c *Client) Host() string { return c.host }

// Quota is what is left of the rate limit, as GitHub said last.
func (c *Client) Quota() forge.Quota { return c.wire.Quota() }

var (
	name  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`) })
	login = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}(\[bot\])?$`) })
)

// begin begins something in a repository: the context carries it, for the tokens
// of an app. A repository that is not on this forge is refused, and so are names
// that would make another request of this one.
func (c *Client) begin(ctx context.Context, doing string, r precedent.Repo, comments ...precedent.ForgeID) (context.Context, error) {
	if err := cmp.Or(c.checkRepo(r), forge.CheckNumbers(comments...)); err != nil {
		return ctx, c.wire.Fail(doing, err)
	}
	return context.WithValue(ctx, repoKey{}, r), nil
}

type repoKey struct{}

func (c *Client) checkRepo(r precedent.Repo) error {
	for _, s := range []string{r.Owner, r.Name} {
		if !name().MatchString(s) || s == "." || s == ".." {
			return &forge.Error{Kind: forge.KindRefused, Msg: fmt.Sprintf("%q is not a valid name of an owner or a repository on GitHub", s)}
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

// write makes one request that changes something.
func (c *Client) write(ctx context.Context, doing string, call func(ctx context.Context) error) (*wire.Attempt, error) {
	ctx, a := c.wire.Watch(ctx)
	return a, a.Fail(doing, call(ctx))
}
