// Package wire sends requests to a forge's API. One transport holds the token, waits
// for rate limits, retries, and reports whether a request was carried out.
//
// A request that only reads is retried when that may help. A request that makes a change is retried only if
// it is known that it was not carried out, and only one is in flight at a time.
package wire

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/precedent-dev/precedent/internal/backoff"
	"github.com/precedent-dev/precedent/internal/forge"
)

const (
	// maxTries bounds the attempts of one request, including those after a rate limit.
	maxTries = 5
	// maxRedirects is one more than a repository needs that was renamed twice.
	maxRedirects = 3
	// maxAnswer bounds one response, in bytes: 100 comments of 65,536 characters of
	// 4 bytes each are 25 MiB. It also bounds the body of a request.
	maxAnswer = 32 << 20
	// maxErrorBody bounds what is read of an error response, in bytes.
	maxErrorBody = 64 << 10
	// writeGap is the time from the end of one request that makes a change to the start of the next: "If you
	// are making a large number of POST, PATCH, PUT, or DELETE requests, wait at least one second between each
	// request" (GitHub, "Best practices for using the REST API"). It applies to other forges, too.
	writeGap = time.Second

	dialTimeout = 30 * time.Second // like net/http
	// maxWait is the longest single wait for a rate limit, twice what GitHub asks for after a secondary limit. A longer
	// one is an error at once.
	maxWait        = 2 * time.Minute
	defaultTimeout = time.Minute
)

// Network is how requests are sent, and the clock for waiting. The zero value is ready to use.
type Network struct {
	// Transport sends requests. If it is nil, one is made that ignores proxies set in the environment.
	Transport http.RoundTripper
	// Proxy is the operator's proxy, used if Transport is nil. It may be nil.
	Proxy *url.URL
	// Now and Sleep are the clock, and Rand returns a number in [0, n), n > 0. Real
	// ones are used if they are nil.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
	Rand  func(n time.Duration) time.Duration
	// Timeout bounds one attempt, response body included. The default is 1 minute.
	Timeout time.Duration
}

// Options configure a Transport. They come from the operator, never from a repository.
type Options struct {
	Forge string   // name for the user: "GitHub"
	Home  *url.URL // root of the API, whose path ends in a slash; all requests are below it
	// Beside is a further exact path on the same host that requests may use; empty for none.
	Beside string

	// Scheme is the authentication scheme: "Bearer".
	Scheme string
	// Token is called before each attempt. Its errors are *forge.Error, and may come from this transport.
	Token func(ctx context.Context) (Token, error)
	// Renew is called once for a request that is answered with 401, and reports
	// whether Token now returns a different token. It may be nil.
	Renew func(ctx context.Context, refused Token) bool
	// Limit returns which rate limit a request counts against: forge.Error.Owner. It may be nil if there is one.
	Limit func(ctx context.Context) string

	// Failed returns the status of a failure that the body of a response with status 200 tells, as those of GraphQL do;
	// 0 for none. It may be nil.
	Failed func(r *http.Request, body []byte) int
	// Hint returns what the user can do about a status; empty for the general hint. It may be nil.
	Hint func(status int, h http.Header) string

	// Header is sent with every request.
	Header http.Header
	Paging Paging

	Network
	// Public refuses connections to private addresses, unless Transport or Proxy is
	// set. It is for a forge on the Internet whose address the operator did not name.
	Public bool
}

// Static returns a source of a token that never changes.
func Static(t Token) func(context.Context) (Token, error) {
	return func(context.Context) (Token, error) { return t, nil }
}

// Transport is an http.RoundTripper for one forge and one operator. It is safe for concurrent use.
type Transport struct {
	o       Options
	base    http.RoundTripper
	client  *http.Client
	cache   *bounded[cacheKey, answer]
	writing chan struct{} // holds one entry while a request that makes a change is in flight
	reached atomic.Bool   // a response came

	mu        sync.Mutex
	quota     forge.Quota // as of the last response
	limits    map[string]limit
	answered  time.Time // the Date of the last response
	lastWrite time.Time // when the last request that makes a change ended
	sent      []Token   // recently used tokens, which no error may repeat
}

// limit is a rate limit that has a count of its own.
type limit struct {
	quota       forge.Quota
	pausedUntil time.Time // the forge asked not to send anything before
}

// New returns a Transport. It sends nothing.
func New(o Options) *Transport {
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	if o.Token == nil {
		o.Token = Static(Token{})
	}
	if o.Limit == nil {
		o.Limit = func(context.Context) string { return "" }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = backoff.Sleep
	}
	if o.Rand == nil {
		o.Rand = rand.N[time.Duration]
	}
	t := &Transport{
		o: o, base: o.Transport, cache: newBounded[cacheKey, answer](maxCache), writing: make(chan struct{}, 1), limits: map[string]limit{},
	}
	if t.base == nil {
		direct := http.DefaultTransport.(*http.Transport).Clone()
		direct.Proxy = nil // only cmd/precedent reads the environment
		switch {
		case o.Proxy != nil:
			direct.Proxy = http.ProxyURL(o.Proxy)
		case o.Public:
			direct.DialContext = (&net.Dialer{Timeout: dialTimeout, Control: publicOnly}).DialContext
		}
		t.base = direct
	}
	t.client = &http.Client{Transport: t, CheckRedirect: t.fewRedirects}
	return t
}

// fewRedirects limits redirects to what renamed repositories need. RoundTrip checks where they lead.
func (t *Transport) fewRedirects(_ *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return &forge.Error{Kind: forge.KindAnswer, Msg: t.o.Forge + " redirected too many times"}
	}
	return nil
}

// Quota returns the rate limit as of the last response.
func (t *Transport) Quota() forge.Quota {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.quota
	q.At = t.answered
	return q
}

// Home returns the root of the API, with a slash at its end.
func (t *Transport) Home() string { return t.o.Home.String() }

func (t *Transport) clock() backoff.Clock {
	return backoff.Clock{Now: t.o.Now, Sleep: t.o.Sleep, Rand: t.o.Rand}
}

// Now returns the time of the transport's clock.
func (t *Transport) Now() time.Time { return t.o.Now() }

// Address parses the base URL of a forge: https, or http on the loopback interface, with only a host and a
// path. Its errors do not repeat the URL, which may contain a password.
func Address(base string) (*url.URL, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Hostname() == "":
		return nil, errors.New("invalid base URL of the forge: it has no host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("invalid base URL of the forge: it may contain only a host and a path; pass the token " +
			"separately")
	case u.Scheme != "https" && (u.Scheme != "http" || !IsLoopback(u.Hostname())):
		return nil, errors.New("invalid base URL of the forge: it must use https, or the token would be sent unencrypted")
	}
	return u, nil
}

// HostOf is an address, or a Host header, without its port.
func HostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return strings.Trim(address, "[]")
}

// IsLoopback tells whether a host, without a port, is this machine.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// errPrivate is the reason why a connection is not made.
var errPrivate = errors.New("the forge's name resolves to a private address")

// private are the addresses that a forge on the Internet cannot have: of this
// machine, of private, shared, documentation and multicast networks, and IPv6 forms
// that embed IPv4 (IANA's special-purpose address registries).
var private = parsePrefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"::/128", "::1/128", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16",
	"fc00::/7", "fe80::/10", "ff00::/8",
)

func parsePrefixes(all ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, s := range all {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// publicOnly checks the address of a connection after the name was resolved and right before it is made, so
// that a name that resolves differently the second time is caught.
func publicOnly(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return err
	}
	ip = ip.Unmap().WithZone("")
	if slices.ContainsFunc(private, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return errPrivate
	}
	return nil
}
