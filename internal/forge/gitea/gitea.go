// Package gitea reads and writes pull requests on Gitea and Forgejo, whose APIs are nearly the same. What a
// server lacks is done in another way, or reported as unsupported.
//
// A pull request of an archived repository counts as locked: Gitea accepts reviews there, but no comments.
//
// Pushes are processed after git has accepted them, so a pull request may have its
// old head for some seconds. Responses carry no ETag, so there are no conditional
// requests: an unchanged list of pull requests is one request for its first page.
package gitea

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// Options configure a Client. They come from the operator, never from a repository.
type Options struct {
	// BaseURL is the URL of the web pages: https://HOST, with a path if the server is below one. The URL of the
	// API, which ends in /api/v1, works as well. Plain http is allowed only on the loopback interface.
	BaseURL string
	Token   wire.Token
	wire.Network
}

// Client is a client for a Gitea or Forgejo server. It is safe for concurrent use.
type Client struct {
	wire.Site
	permissions *wire.Recent[wire.PersonIn, forge.Permission] // of single people
	writers     *wire.Recent[precedent.Repo, *writers]
	postingLock chan struct{} // holds one entry while a review is posted
	cached      cached
}

var _ forge.Forge = (*Client)(nil)

// api is the path of the API below the base URL.
const api = "api/v1"

// perPage is the default maximum of a server (MAX_RESPONSE_ITEMS).
const perPage = 50

// New returns a Client. It sends nothing.
func New(o Options) (*Client, error) {
	web, err := wire.Address(o.BaseURL)
	if err != nil {
		return nil, err
	}
	path := strings.Trim(strings.TrimSuffix(strings.TrimRight(web.Path, "/"), "/"+api), "/")
	if path != "" {
		for part := range strings.SplitSeq(path, "/") {
			if !forge.IsName(part) {
				return nil, errors.New("invalid base URL of the forge: its path contains unsupported characters")
			}
		}
		path = "/" + path
	}
	web = &url.URL{Scheme: web.Scheme, Host: web.Host, Path: path}
	c := &Client{postingLock: make(chan struct{}, 1)}
	c.Site = wire.NewSite(wire.Options{
		Forge: "Gitea", Home: &url.URL{Scheme: web.Scheme, Host: web.Host, Path: path + "/" + api + "/"},
		Scheme: "token", Token: wire.Static(o.Token), Hint: hintFor,
		Header: http.Header{"User-Agent": {"precedent"}},
		Paging: wire.Paging{Size: "limit", PerPage: perPage, Most: 100, Last: isLast}, Network: o.Network,
	}, forge.Pages{
		Web: web, Pull: "pulls", Blob: "src/commit", Source: "display=source", FixedLines: true,
	}, hookHeaders)
	c.permissions = wire.NewRecent[wire.PersonIn, forge.Permission](c.Now)
	c.writers = wire.NewRecent[precedent.Repo, *writers](c.Now)
	return c, nil
}

// isLast reports whether a page is the last one. A server may return fewer entries on a page than requested,
// leave out some that the account cannot see, or ignore paging and return everything. The total in the header
// tells whether there are more.
func isLast(h http.Header, page, got, all int) bool {
	total, err := strconv.Atoi(h.Get("X-Total-Count"))
	counted := err == nil && total >= 0
	return counted && all >= total || got == 0 && (!counted || page*perPage >= total)
}

// hintFor returns what the user can do about a status.
func hintFor(status int, _ http.Header) string {
	if status == http.StatusForbidden {
		return "the token is missing a scope or its account a permission: it needs read:user, write:repository and " +
			"write:issue, and write access to set statuses"
	}
	return ""
}

// isUnknownRoute reports whether an error can mean that the server does not have this
// API. Servers return 405 for a known path with another method.
func isUnknownRoute(err error) bool {
	s := wire.Status(err)
	return s == http.StatusNotFound || s == http.StatusMethodNotAllowed
}

// hookHeaders are those of Forgejo and Gitea. The type of an event is finer than its name. Older
// servers of the family sign only as Gogs does.
var hookHeaders = wire.HookHeaders{
	Signatures: []string{"X-Forgejo-Signature", "X-Gitea-Signature", "X-Gogs-Signature", "X-Hub-Signature-256"},
	Events:     []string{"X-Forgejo-Event-Type", "X-Gitea-Event-Type", "X-Forgejo-Event", "X-Gitea-Event"},
	IDs:        []string{"X-Forgejo-Delivery", "X-Gitea-Delivery"},
}
