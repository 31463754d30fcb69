// Package wire carries requests to a forge's API: one transport holds the token,
// sends every request, waits when the forge says so, and tells what became of
// what it sent. A request that only reads is tried again when that may help. One
// that changes something is never sent twice unless it is known that the first
// was not carried out, and one is under way at a time.
package wire

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
)

const (
	// maxTries bounds the attempts of one request; the limits that it waits for
	// count among them.
	maxTries = 5
	// maxRedirects is one more than a repository that was renamed twice needs.
	maxRedirects = 3
	// maxAnswer bounds one answer, in bytes: 100 comments of 65,536 characters of
	// 4 bytes each are 25 MiB. It bounds the body of a request as well.
	maxAnswer = 32 << 20
	// maxErrorBody bounds what is read of an answer that is an error.
	maxErrorBody = 64 << 10
	// writeGap is between the end of one request that changes something and the
	// beginning of the next: "If you are making a large number of POST, PATCH, PUT,
	// or DELETE requests, wait at least one second between each request" (GitHub,
	// "Best practices for using the REST API"). Other forges are spared the same.
	writeGap = time.Second

	dialTimeout    = 30 * time.Second // as net/http's own
	defaultMaxWait = 2 * time.Minute  // a secondary limit that names no time asks for one
	defaultTimeout = time.Minute
)

// Network is how requests leave, and by which clock they wait. The zero value is good.
type Network struct {
	// Transport sends requests; nil for one that no environment variable turns
	// to a proxy.
	Transport http.RoundTripper
	// Proxy is the operator's, without Transport; nil for none.
	Proxy *url.URL
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

// Options are what a transport needs. They come from the operator, never from a
// repository.
type Options struct {
	Forge string   // what people call it: "GitHub"
	Home  *url.URL // every request goes below it; its path ends in a slash
	// AlsoHosts are further paths of the same host that requests may go to, exactly.
	AlsoHosts []string

	// Scheme goes before the token in the header: "Bearer".
	Scheme string
	// Token is asked before each attempt. Its errors are *forge.Error, and may have
	// come from this very transport.
	Token func(ctx context.Context) (Token, error)
	// Renew is asked once a request when the forge returned 401, which means that
	// nothing was carried out: whether Token gives another one now. nil for never.
	Renew func(ctx context.Context, refused Token) bool

	// Plain tells which answers are text, not JSON, so that they may be empty; nil
	// for none.
	Plain func(*http.Request) bool
	// Hint is what a person can do about an answer with this status; empty for what
	// is said of any forge. nil for never.
	Hint func(status int, h http.Header) string

	Network
	// Public tells that the forge is on the Internet, and that nobody named its
	// address: without Transport and Proxy no connection to a private one is made. A
	// forge that the operator named may be anywhere.
	Public bool
}

// Static is the source of a token that never changes.
func Static(t Token) func(context.Context) (Token, error) {
	return func(context.Context) (Token, error) { return t, nil }
}

// Transport is an http.RoundTripper for one forge and one operator. It is safe
// for concurrent use.
type Transport struct {
	o       Options
	base    http.RoundTripper
	cache   *cache
	writing chan struct{} // holds one entry while a request that changes something is under way

	mu          sync.Mutex
	quota       forge.Quota
	pausedUntil time.Time // the forge asked that nothing be sent before
	lastWrite   time.Time // when the last request that changes something ended
	sent        []Token   // the tokens of late, which no answer may bring among people
}

// New makes a transport. It sends nothing.
func New(o Options) *Transport {
	o.MaxWait, o.Timeout = cmp.Or(o.MaxWait, defaultMaxWait), cmp.Or(o.Timeout, defaultTimeout)
	if o.Token == nil {
		o.Token = Static(Token{})
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = Sleep
	}
	if o.Rand == nil {
		o.Rand = rand.N[time.Duration]
	}
	t := &Transport{o: o, base: o.Transport, cache: newCache(maxCache), writing: make(chan struct{}, 1)}
	if t.base == nil {
		direct := http.DefaultTransport.(*http.Transport).Clone()
		direct.Proxy = nil // only main reads the environment
		switch {
		case o.Proxy != nil:
			direct.Proxy = http.ProxyURL(o.Proxy)
		case o.Public:
			direct.DialContext = (&net.Dialer{Timeout: dialTimeout, Control: publicOnly}).DialContext
		}
		t.base = direct
	}
	return t
}

// Client is an HTTP client that sends by the transport.
func (t *Transport) Client() *http.Client {
	return &http.Client{Transport: t, CheckRedirect: t.fewRedirects}
}

// fewRedirects lets a renamed repository be found. Where a redirect may lead is
// RoundTrip's to say.
func (t *Transport) fewRedirects(_ *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return &forge.Error{Kind: forge.KindAnswer, Msg: t.o.Forge + " redirected too many times"}
	}
	return nil
}

// Quota is what is left of the rate limit, as the forge said last.
func (t *Transport) Quota() forge.Quota {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.quota
}

// Home is the address that every request goes below, with a slash at its end.
func (t *Transport) Home() string { return t.o.Home.String() }

// Now is the time by the transport's clock.
func (t *Transport) Now() time.Time { return t.o.Now() }

// Address reads the base URL of a forge: https, or http on the loopback
// interface, and nothing in it but host and path. Its errors do not repeat it: it
// may hold a password.
func Address(base string) (*url.URL, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Hostname() == "":
		return nil, errors.New("invalid base URL of the forge: it has no host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("invalid base URL of the forge: it may contain only a host and a path; pass the token separately")
	case u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		return nil, errors.New("invalid base URL of the forge: it must use https, or the token would be sent unencrypted")
	}
	return u, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Sleep waits in real time, or until the context ends.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
