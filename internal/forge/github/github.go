// Package github reads pull requests from GitHub and GitHub Enterprise. One
// transport holds the token, sends every request, and waits when GitHub says
// so; nothing here writes.
package github

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Options are what a client needs. They come from the operator, never from a
// repository.
type Options struct {
	// BaseURL is https://HOST or https://HOST/api/v3 of GitHub Enterprise; empty for
	// github.com. Plain http is for the loopback interface alone.
	BaseURL string
	Token   Token
	// UserAgent names the caller to GitHub; "precedent" if it is empty.
	UserAgent string
	// Transport sends requests; nil for one that no environment variable turns
	// to a proxy.
	Transport http.RoundTripper
	// Now and Sleep are the clock, and Rand is a number in [0, n), n > 0; the real
	// ones if they are nil.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
	Rand  func(n time.Duration) time.Duration
	// MaxWait is the longest single wait for a rate limit; one that takes longer is
	// an error at once. 2 minutes if it is 0.
	MaxWait time.Duration
	// Timeout bounds one attempt, its body included. 1 minute if it is 0.
	Timeout time.Duration
}

// Client is GitHub. It is safe for concurrent use.
type Client struct {
	host        string   // as identities name it
	web         *url.URL // where people look, and git fetches
	api         *gh.Client
	wire        *transport
	permissions permissions
}

var _ forge.Forge = (*Client)(nil)

// New makes a client. It sends nothing.
func New(o Options) (*Client, error) {
	api, web, err := addresses(o.BaseURL)
	if err != nil {
		return nil, err
	}
	c := &Client{host: strings.ToLower(web.Host), web: web, wire: newTransport(api, o)}
	c.permissions = permissions{now: c.wire.now, known: map[asked]answer{}}
	if o.UserAgent == "" {
		o.UserAgent = "precedent"
	}
	base := api.String()
	c.api, err = gh.NewClient(
		gh.WithHTTPClient(&http.Client{Transport: c.wire, CheckRedirect: fewRedirects}),
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

// addresses finds where the API is, and where its pages are.
func addresses(base string) (api, web *url.URL, err error) {
	if base == "" {
		base = publicAPI
	}
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Hostname() == "":
		return nil, nil, errors.New("the base URL of the forge is not a URL with a host") // err would repeat it, and it may hold a password
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, nil, errors.New("the base URL of the forge holds more than a host and a path; pass the token apart")
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
		return nil, nil, errors.New("the base URL of the forge is not https, so that anybody could read the token on its way")
	}
	path := strings.Trim(u.Path, "/")
	web = &url.URL{Scheme: u.Scheme, Host: u.Host}
	if at, ok := strings.CutPrefix(strings.ToLower(u.Host), "api."); ok && path == "" {
		web.Host = at // github.com, and an enterprise's name.ghe.com
		return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}, web, nil
	}
	if path != "" && path != "api/v3" {
		return nil, nil, errors.New("the base URL of GitHub Enterprise ends in /api/v3")
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/api/v3/"}, web, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Host is the host as identities name it: github.com.
func (c *Client) Host() string { return c.host }

// Quota is what is left of the rate limit, as GitHub said last.
func (c *Client) Quota() forge.Quota { return c.wire.left() }

var (
	name  = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`)
	login = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}(\[bot\])?$`)
)

// check refuses a repository that is not on this forge, and names that would
// make another request of this one.
func (c *Client) check(r precedent.Repo) error {
	for _, s := range []string{r.Owner, r.Name} {
		if !name.MatchString(s) || s == "." || s == ".." {
			return &forge.Error{Kind: forge.KindRefused, Msg: fmt.Sprintf("%q cannot be the name of an owner or a repository on GitHub", s)}
		}
	}
	if r.Host != c.host {
		return &forge.Error{
			Kind: forge.KindRefused, Msg: fmt.Sprintf("%s is not on %s", r, c.host),
			Hint: "name the forge's address in the operator's configuration",
		}
	}
	return nil
}

// realSleep waits in real time.
func realSleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func realRand(n time.Duration) time.Duration { return rand.N(n) }
