// Package github reads pull requests from GitHub and GitHub Enterprise, and posts to
// them. It uses REST, and GraphQL for what REST lacks: conversations, and the account
// of an app's token.
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

// Options configure a Client. They come from the operator, never from a repository.
type Options struct {
	// BaseURL is https://HOST or https://HOST/api/v3 for GitHub Enterprise, or empty
	// for github.com. Plain http is allowed only on the loopback interface.
	BaseURL string
	// Token is a personal token, or that of a workflow run. Without one, GitHub
	// allows 60 requests an hour to public repositories.
	Token wire.Token
	// App replaces Token. It may be nil.
	App *App
	// UserAgent identifies the caller to GitHub. The default is "precedent".
	UserAgent string
	wire.Network
}

// Client is a client for GitHub. It is safe for concurrent use.
type Client struct {
	host        string   // as repository identities contain it
	web         *url.URL // root of the web pages and of clone URLs
	graphql     string   // URL of the GraphQL API
	api         *gh.Client
	wire        *wire.Transport
	tokens      *tokens
	permissions *wire.Permissions
	me          identity
	polls       *wire.Polls
	posting     chan struct{} // holds one entry while a review is posted
}

var _ forge.Forge = (*Client)(nil)

// New returns a Client. It sends nothing.
func New(o Options) (*Client, error) {
	api, web, graphql, err := addresses(o.BaseURL)
	if err != nil {
		return nil, err
	}
	c := &Client{host: strings.ToLower(web.Host), web: web, graphql: graphql.String(), posting: make(chan struct{}, 1)}
	c.tokens = &tokens{client: c, plain: o.Token, app: o.App, cached: map[precedent.Repo]installationToken{}, whole: map[int64]installationToken{}}
	options := wire.Options{
		Forge: "GitHub", Home: api, AlsoHosts: []string{graphql.Path}, Scheme: "Bearer", Token: c.tokens.forRequest,
		Plain: func(r *http.Request) bool { return r.Header.Get("Accept") == acceptDiff }, Hint: hintFor,
		Network: o.Network, Public: o.BaseURL == "",
	}
	if o.App != nil {
		options.Renew = c.tokens.renew
	}
	c.wire = wire.New(options)
	c.permissions, c.polls = wire.NewPermissions(c.wire.Now), wire.NewPolls(c.wire.Now)
	if o.UserAgent == "" {
		o.UserAgent = "precedent"
	}
	base := api.String()
	c.api, err = gh.NewClient(
		gh.WithHTTPClient(c.wire.Client()),
		gh.WithURLs(&base, &base),
		gh.WithUserAgent(o.UserAgent),
		gh.WithDisableRateLimitCheck(), // it uses the real clock; the transport waits instead
	)
	if err != nil {
		return nil, fmt.Errorf("make GitHub client: %w", err)
	}
	return c, nil
}

// publicAPI is where github.com answers.
const publicAPI = "https://api.github.com"

// addresses returns the roots of the two APIs and of the web pages.
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

// hintFor returns what the user can do about a status.
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

// Host returns the host as repository identities contain it: github.com.
func (c *Client) Host() string { return c.host }

// Quota returns the rate limit as of the last response.
func (c *Client) Quota() forge.Quota { return c.wire.Quota() }

var (
	name  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`) })
	login = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}(\[bot\])?$`) })
)

// begin checks the repository and the ids of comments before anything is sent. The
// returned context carries the repository, for the tokens of an app. Names that would
// change the path of a request are refused.
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

// write makes one request that makes a change.
func (c *Client) write(ctx context.Context, doing string, call func(ctx context.Context) error) (*wire.Attempt, error) {
	ctx, a := c.wire.Watch(ctx)
	return a, a.Fail(doing, call(ctx))
}
