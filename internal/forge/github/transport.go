package github

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
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
	// 4 bytes each are 25 MiB.
	maxAnswer = 32 << 20
	// maxTrouble bounds what is read of an answer that is an error.
	maxTrouble = 64 << 10

	defaultMaxWait = 2 * time.Minute // a secondary limit that names no time asks for one
	defaultTimeout = time.Minute
)

// transport alone holds the token. It sends reading requests to the forge's API
// and nowhere else, asks for what it knows only whether that has changed, tries
// again what may work the next time, and waits as long as GitHub says.
type transport struct {
	base    http.RoundTripper
	home    *url.URL // every request goes below it
	token   Token
	now     func() time.Time
	sleep   func(ctx context.Context, d time.Duration) error
	rand    func(n time.Duration) time.Duration
	maxWait time.Duration
	timeout time.Duration
	cache   *cache

	mu    sync.Mutex
	quota forge.Quota
	until time.Time // GitHub asked that nothing be sent before
}

func newTransport(home *url.URL, o Options) *transport {
	t := &transport{
		base: o.Transport, home: home, token: o.Token, now: o.Now, sleep: o.Sleep, rand: o.Rand,
		maxWait: cmp.Or(o.MaxWait, defaultMaxWait), timeout: cmp.Or(o.Timeout, defaultTimeout), cache: newCache(maxCache),
	}
	if t.base == nil {
		direct := http.DefaultTransport.(*http.Transport).Clone()
		direct.Proxy = nil // only main reads the environment
		t.base = direct
	}
	if t.now == nil {
		t.now = time.Now
	}
	if t.sleep == nil {
		t.sleep = realSleep
	}
	if t.rand == nil {
		t.rand = realRand
	}
	return t
}

// fewRedirects lets a renamed repository be found. Where a redirect may lead is
// the transport's to say.
func fewRedirects(_ *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return &forge.Error{Kind: forge.KindAnswer, Msg: "GitHub redirects in circles"}
	}
	return nil
}

// got is one answer, read to its end.
type got struct {
	status int
	header http.Header
	body   []byte
}

// RoundTrip answers with 2xx and 3xx; everything else is a *forge.Error.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.mayGo(req); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		if err := t.holdBack(req.Context()); err != nil {
			return nil, err
		}
		g, trouble := t.once(req)
		if trouble == nil {
			return g.response(req), nil
		}
		if err := req.Context().Err(); err != nil {
			return nil, abandoned(err)
		}
		pause, again := t.pause(g, trouble, try)
		if !again {
			return nil, trouble
		}
		if pause <= 0 {
			continue
		}
		if err := t.sleep(req.Context(), pause); err != nil {
			return nil, abandoned(err)
		}
	}
}

// mayGo refuses requests that are not for the forge, or would change something.
func (t *transport) mayGo(req *http.Request) error {
	u := req.URL
	switch {
	case req.Method != http.MethodGet:
		return &forge.Error{Kind: forge.KindRefused, Msg: "this client only reads"}
	case u.Scheme != t.home.Scheme || !strings.EqualFold(u.Host, t.home.Host) || !strings.HasPrefix(u.EscapedPath(), t.home.Path):
		return &forge.Error{
			Kind: forge.KindRefused, Msg: "GitHub redirects to another place, which is not followed",
			Hint: "check the base URL of the forge; a sign-on page or a proxy may stand in between",
		}
	}
	return nil
}

// once sends the request a single time.
func (t *transport) once(req *http.Request) (got, *forge.Error) {
	ctx, cancel := context.WithTimeout(req.Context(), t.timeout)
	defer cancel()
	sent := req.Clone(ctx) // a RoundTripper leaves the request as it is
	sent.Header.Del("Referer")
	if secret := t.token.secret(); secret != "" {
		sent.Header.Set("Authorization", "Bearer "+secret)
	}
	key := cacheKey{sent.URL.String(), sent.Header.Get("Accept")}
	known, cached := t.cache.get(key)
	if cached {
		sent.Header.Set("If-None-Match", known.header.Get("ETag"))
	}
	resp, err := t.base.RoundTrip(sent)
	if err != nil {
		return got{}, t.unreachable(err)
	}
	defer resp.Body.Close()
	t.learn(resp.Header)
	limit := maxAnswer
	if resp.StatusCode >= 300 {
		limit = maxTrouble
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	g := got{resp.StatusCode, resp.Header, body}
	switch {
	case err != nil:
		return g, t.unreachable(err)
	case g.status == http.StatusNotModified && cached:
		return known, nil
	case g.status == http.StatusNotModified || g.status >= 400 || g.status < 200:
		return g, t.trouble(g)
	case g.status < 300 && len(body) > limit:
		return g, &forge.Error{Kind: forge.KindTooLarge, Status: g.status, Msg: "the answer is larger than 32 MiB"}
	case g.status == http.StatusOK && len(body) == 0 && key.accept != acceptDiff:
		return g, &forge.Error{Kind: forge.KindAnswer, Status: g.status, Msg: "the answer is empty"}
	}
	if g.status == http.StatusOK {
		t.cache.put(key, g)
	}
	return g, nil
}

// response is the answer as package http hands it on.
func (g got) response(req *http.Request) *http.Response {
	return &http.Response{
		Status: http.StatusText(g.status), StatusCode: g.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: g.header, Body: io.NopCloser(bytes.NewReader(g.body)), ContentLength: int64(len(g.body)), Request: req,
	}
}

// unreachable says why there is no whole answer. The cause's own words may hold
// the address, and are left out but for what is known to be harmless.
func (t *transport) unreachable(err error) *forge.Error {
	why := "the connection failed"
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		why = "no whole answer in " + t.timeout.String()
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		why = "the answer was cut off"
	}
	return &forge.Error{Kind: forge.KindNetwork, Msg: t.home.Host + " cannot be reached: " + why, Hint: "check the network and the forge's address"}
}

// abandoned is the error of a caller who has stopped waiting.
func abandoned(err error) *forge.Error {
	return &forge.Error{Kind: forge.KindNetwork, Msg: "stopped waiting for GitHub", Err: err}
}
