// Package github reads pull requests from GitHub and GitHub Enterprise, and posts to them. It uses REST, and
// GraphQL for what REST lacks: conversations, and the account of an app's token.
package github

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strings"

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
	wire.Network
}

// Client is a client for GitHub. It is safe for concurrent use.
type Client struct {
	wire.Site
	graphql     string // URL of the GraphQL API
	tokens      *tokens
	permissions *wire.Recent[wire.PersonIn, forge.Permission]
}

var _ forge.Forge = (*Client)(nil)

// New returns a Client. It sends nothing.
func New(o Options) (*Client, error) {
	api, web, graphql, err := addresses(o.BaseURL)
	if err != nil {
		return nil, err
	}
	c := &Client{graphql: graphql.String()}
	c.tokens = &tokens{client: c, plain: o.Token, app: o.App, cached: map[tokenScope]installationToken{}}
	options := wire.Options{
		Forge: "GitHub", Home: api, Beside: graphql.Path, Scheme: "Bearer", Token: c.tokens.forRequest,
		Hint: hintFor,
		Failed: func(r *http.Request, body []byte) int {
			if r.URL.Path != graphql.Path {
				return 0
			}
			return graphFailure(body)
		},
		Header: http.Header{
			"Accept": {"application/vnd.github+json"}, "X-Github-Api-Version": {"2022-11-28"},
			"User-Agent": {"precedent"},
		},
		Paging:  wire.Paging{Size: "per_page", PerPage: perPage, Most: maxPages, Last: isLast},
		Network: o.Network, Public: o.BaseURL == "",
	}
	if o.App != nil {
		options.Renew, options.Limit = c.tokens.renew, limitOf
	}
	c.Site = wire.NewSite(options, forge.Pages{
		Web: web, Pull: "pull", Blob: "blob", Source: "plain=1",
	}, hookHeaders)
	c.permissions = wire.NewRecent[wire.PersonIn, forge.Permission](c.Now)
	return c, nil
}

// Limits of lists.
const (
	perPage  = 100 // GitHub's maximum
	maxPages = 50  // of one list
)

// isLast reports whether a page is the last one: it is not full and has no next link. Only the presence of the
// link is used, not its URL: an unchanged page comes from the cache with its old header, and the URL could lead
// anywhere.
func isLast(h http.Header, _, got, _ int) bool {
	return got == 0 || got < perPage && !strings.Contains(h.Get("Link"), `rel="next"`)
}

// publicAPI is where github.com answers.
const publicAPI = "https://api.github.com"

// addresses returns the roots of the two APIs and of the web pages.
func addresses(base string) (api, web, graphql *url.URL, err error) {
	base = cmp.Or(base, publicAPI)
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

// hookHeaders are GitHub's. X-Hub-Signature, which is by SHA-1, is not among them.
var hookHeaders = wire.HookHeaders{
	Signatures: []string{"X-Hub-Signature-256"}, Events: []string{"X-GitHub-Event"}, IDs: []string{"X-GitHub-Delivery"},
}
