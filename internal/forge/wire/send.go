package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/precedent-dev/precedent/internal/backoff"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/strict"
)

// answer is a complete response.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// request is a request with its body, so that it can be sent again.
type request struct {
	*http.Request
	body   []byte
	writes bool // it makes a change
}

type (
	readsKey struct{}
	keptKey  struct{}
	plainKey struct{} // the response is text instead of JSON, and may be empty
)

// makesChange reports whether a request makes a change.
func makesChange(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Context().Value(readsKey{}) == nil
}

// RoundTrip returns responses with 2xx and 3xx; everything else is a *forge.Error.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	r := request{Request: req, writes: makesChange(req)}
	if req.Body != nil {
		body, err := io.ReadAll(io.LimitReader(req.Body, maxAnswer+1))
		_ = req.Body.Close() // the read error is reported instead
		if err != nil || len(body) > maxAnswer {
			return nil, &forge.Error{Kind: forge.KindRefused, Msg: "the request body is larger than 32 MiB or cannot be read"}
		}
		r.body = body
	}
	if err := t.checkAddress(req); err != nil {
		return nil, err
	}
	if r.writes {
		done, err := t.waitTurn(req.Context())
		if err != nil {
			return nil, err
		}
		defer done()
	}
	var g answer
	renewed := false
	err := backoff.Do(req.Context(), t.clock(), func() (err error) {
		g, err = t.try(r, &renewed)
		return err
	}, func(err error, failures int) (time.Duration, bool) {
		trouble, ok := errors.AsType[*forge.Error](err)
		if !ok || trouble.Unsure {
			return 0, false
		}
		return t.retryDelay(g, trouble, failures)
	})
	if err != nil {
		if e := req.Context().Err(); e != nil {
			trouble, ok := errors.AsType[*forge.Error](err)
			return nil, t.canceledError(e, ok && trouble.Unsure)
		}
		return nil, err
	}
	return g.response(req), nil
}

// try sends a request once, and once more with a new token if the old one was refused.
func (t *Transport) try(r request, renewed *bool) (answer, error) {
	for {
		if err := t.delay(r.Context(), r.writes); err != nil {
			return answer{}, backoff.Final(err)
		}
		token, err := t.o.Token(r.Context())
		if err != nil {
			return answer{}, backoff.Final(err)
		}
		if r.writes {
			if err := forge.PassFence(r.Context()); err != nil {
				return answer{}, backoff.Final(err)
			}
		}
		g, trouble := t.sendOnce(r.Context(), r, token)
		switch {
		case trouble == nil:
			return g, nil
		case trouble.Status == http.StatusUnauthorized && !*renewed && t.o.Renew != nil && t.o.Renew(r.Context(), token):
			*renewed = true
		default:
			return g, trouble
		}
	}
}

// checkAddress refuses requests that do not go to the forge's API.
func (t *Transport) checkAddress(req *http.Request) error {
	u, home := req.URL, t.o.Home
	path := u.EscapedPath()
	below := strings.HasPrefix(path, home.Path) || path == t.o.Beside && path != ""
	if u.Scheme != home.Scheme || !strings.EqualFold(u.Host, home.Host) || !below {
		return &forge.Error{
			Kind: forge.KindRefused, Msg: t.o.Forge + " redirected outside its API; such redirects are not followed",
			Hint: "check the base URL of the forge; a login page or a proxy may be intercepting requests",
		}
	}
	return nil
}

func (t *Transport) sendOnce(ctx context.Context, r request, token Token) (answer, *forge.Error) {
	ctx, cancel := context.WithTimeout(ctx, t.o.Timeout)
	defer cancel()
	sent := r.Clone(ctx) // a RoundTripper must not modify the request
	if r.Body != nil {
		sent.Body, sent.GetBody, sent.ContentLength = io.NopCloser(bytes.NewReader(r.body)), nil, int64(len(r.body))
	}
	sent.Header.Del("Referer")
	sent.Header.Del("Authorization") // set by the client library
	if secret := token.Reveal(); secret != "" {
		sent.Header.Set("Authorization", t.o.Scheme+" "+secret)
		t.rememberToken(token)
	}
	key := cacheKey{sent.URL.String(), sent.Header.Get("Accept")}
	var known answer
	cached := false
	// What the caller keeps of the answer is less than the answer, which is not cached then: a list of pull
	// requests of GitHub has 20 KB for each.
	kept, plain := r.Context().Value(keptKey{}) != nil, r.Context().Value(plainKey{}) != nil
	if r.Method == http.MethodGet && !kept {
		if known, cached = t.cache.get(key); cached {
			sent.Header.Set("If-None-Match", known.header.Get("ETag"))
		}
	}
	resp, err := t.base.RoundTrip(sent)
	if err != nil {
		return answer{}, t.unreachableError(r, err)
	}
	defer resp.Body.Close()
	t.reached.Store(true)
	t.noteQuota(ctx, resp.Header)
	limit := maxAnswer
	if resp.StatusCode >= 300 {
		limit = maxErrorBody
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	g := answer{resp.StatusCode, resp.Header, body}
	moved := g.status == http.StatusTemporaryRedirect || g.status == http.StatusPermanentRedirect
	switch {
	case err != nil:
		return g, t.unreachableError(r, err)
	case g.status == http.StatusNotModified && cached:
		return known, nil
	case g.status == http.StatusNotModified && kept:
		return g, nil
	case g.status == http.StatusNotModified || g.status >= 400 || g.status < 200:
		return g, t.errorOf(r, g)
	case r.writes && g.status >= 300 && !moved: // package http would follow with a GET
		return g, t.errorOf(r, g)
	case g.status < 300 && len(body) > limit:
		return g, &forge.Error{
			Kind: forge.KindTooLarge, Status: g.status, Msg: "the response is larger than 32 MiB", Unsure: r.writes,
		}
	case g.status == http.StatusOK && len(body) == 0 && r.Method == http.MethodGet && !plain:
		return g, &forge.Error{Kind: forge.KindAnswer, Status: g.status, Msg: "the response is empty"}
	}
	if g.status < 300 && !plain {
		if err := strict.Check(body, strict.Default); err != nil {
			return g, &forge.Error{
				Kind: forge.KindAnswer, Status: g.status, Msg: "unexpected response: " + err.Error(), Unsure: r.writes,
			}
		}
	}
	if t.o.Failed != nil && g.status == http.StatusOK {
		if failed := t.o.Failed(r.Request, body); failed != 0 {
			g.status = failed
			return g, t.errorOf(r, g)
		}
	}
	if g.status == http.StatusOK && r.Method == http.MethodGet && !kept {
		t.keep(key, g)
	}
	return g, nil
}

// response converts the answer for package http.
func (g answer) response(req *http.Request) *http.Response {
	return &http.Response{
		Status: http.StatusText(g.status), StatusCode: g.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: g.header, Body: io.NopCloser(bytes.NewReader(g.body)), ContentLength: int64(len(g.body)), Request: req,
	}
}

// unreachableError explains a missing or incomplete response. Text of the cause may
// contain the address and is not repeated.
func (t *Transport) unreachableError(r request, err error) *forge.Error {
	why := "the connection failed"
	switch {
	case errors.Is(err, errPrivate):
		return &forge.Error{
			Kind: forge.KindRefused, Msg: t.o.Home.Host + " cannot be reached: its name resolves to a private address",
			Hint: "check DNS on this machine; use --forge for a self-hosted forge",
		}
	case errors.Is(err, context.DeadlineExceeded):
		why = "no complete response within " + t.o.Timeout.String()
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		why = "the connection closed before the response was complete"
	}
	e := &forge.Error{
		Kind: forge.KindNetwork, Msg: t.o.Home.Host + " cannot be reached: " + why,
		Hint: "check your network connection and the forge's address",
	}
	dial := isConnectError(err)
	e.Unsure, e.Unreached = r.writes && !dial, dial && !t.reached.Load()
	return e
}

// isConnectError reports whether no connection was made, so that nothing was sent.
func isConnectError(err error) bool {
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") || errors.As(err, &cert)
}
