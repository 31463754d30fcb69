package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/precedent-dev/precedent/internal/forge"
)

// Call is one operation on a forge, of one or more requests. It lives as long as the operation, and so
// contains its context. All errors of its methods are *forge.Error and begin with what was attempted.
type Call struct {
	t     *Transport
	ctx   context.Context
	doing string
	base  string // of paths
	err   error  // of every request: nothing is sent
}

// Call begins an operation. Paths of its requests begin with base. If err is not nil, it is the error of
// every request, and nothing is sent.
func (t *Transport) Call(ctx context.Context, doing, base string, err error) Call {
	return Call{t: t, ctx: ctx, doing: doing, base: base, err: err}
}

// Context returns the context of the operation.
func (c Call) Context() context.Context { return c.ctx }

// Doing returns what is attempted.
func (c Call) Doing() string { return c.doing }

// With returns a call with a value in its context.
func (c Call) With(key, value any) Call {
	c.ctx = context.WithValue(c.ctx, key, value)
	return c
}

// Only returns a call that sends nothing unless a condition holds; why says what is wrong.
func (c Call) Only(holds bool, why string) Call {
	if !holds && c.err == nil {
		c.err = &forge.Error{Kind: forge.KindRefused, Msg: why}
	}
	return c
}

// Err returns the error for which nothing is sent.
func (c Call) Err() error { return c.Fail(c.err) }

// Get reads an object. The path is formatted, and begins at the base of the call; with a slash, at the root of
// the API.
func (c Call) Get(into any, path string, args ...any) error {
	_, err := c.send(http.MethodGet, nil, into, nil, path, args...)
	return err
}

// Send makes a change. Body and into may be nil; into is unchanged if the response is empty.
func (c Call) Send(method string, body, into any, path string, args ...any) error {
	_, err := c.send(method, body, into, nil, path, args...)
	return err
}

// Post sends a request to an address, as GraphQL needs it, and returns the header of the response.
func (c Call) Post(address string, body, into any) (http.Header, error) {
	r, err := c.send(http.MethodPost, body, into, nil, "%s", address)
	return r.header, err
}

// Reads returns a call whose requests only read, or can be repeated safely, whatever their method is: GraphQL
// queries are sent by POST.
func (c Call) Reads() Call { return c.With(readsKey{}, true) }

// Accept reads text of a media type.
func (c Call) Accept(media, path string, args ...any) ([]byte, error) {
	var text []byte
	_, err := c.With(plainKey{}, true).send(http.MethodGet, nil, &text, http.Header{"Accept": {media}}, path, args...)
	return text, err
}

// reply is what is kept of a response.
type reply struct {
	status int
	header http.Header
	body   []byte
	path   string // of the address that answered
}

func (c Call) send(method string, body, into any, header http.Header, path string, args ...any) (reply, error) {
	if c.err != nil {
		return reply{}, c.Err()
	}
	req, err := c.request(method, body, header, fmt.Sprintf(path, args...))
	if err != nil {
		return reply{}, err
	}
	resp, err := c.t.client.Do(req)
	if err != nil {
		return reply{}, c.Fail(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{}, c.Fail(err)
	}
	if text, ok := into.(*[]byte); ok {
		*text = data
	} else if into != nil && len(data) > 0 {
		if json.Unmarshal(data, into) != nil { // RoundTrip has checked its keys
			return reply{}, c.unexpected("it does not match the API of "+c.t.o.Forge, makesChange(req))
		}
	}
	return reply{resp.StatusCode, resp.Header, data, resp.Request.URL.Path}, nil
}

func (c Call) request(method string, body any, header http.Header, path string) (*http.Request, error) {
	switch {
	case strings.Contains(path, "://"):
	case strings.HasPrefix(path, "/"):
		path = c.t.Home() + path[1:]
	default:
		path = c.t.Home() + c.base + path
	}
	var data bytes.Buffer
	if body != nil {
		e := json.NewEncoder(&data)
		e.SetEscapeHTML(false)
		if err := e.Encode(body); err != nil {
			return nil, c.Fail(&forge.Error{Kind: forge.KindRefused, Msg: "write JSON: " + err.Error()})
		}
	}
	req, err := http.NewRequestWithContext(c.ctx, method, path, bytes.NewReader(data.Bytes()))
	if err != nil {
		return nil, c.Fail(&forge.Error{Kind: forge.KindRefused, Msg: "the address of the request is not valid"})
	}
	for _, set := range []http.Header{c.t.o.Header, header} {
		for name, values := range set {
			req.Header[name] = values
		}
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// Fail returns an error with what was attempted before its text; nil if err is nil.
func (c Call) Fail(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*forge.Error](err); ok {
		said := *e // several requests may share one error
		said.Msg = c.doing + ": " + e.Msg
		return &said
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return c.Fail(c.t.canceledError(err, false))
	}
	return c.Unexpected("it does not match the API of " + c.t.o.Forge)
}

// Refuse returns the error of an operation that is not sent.
func (c Call) Refuse(kind forge.ErrorKind, format string, args ...any) error {
	return &forge.Error{Kind: kind, Msg: c.doing + ": " + fmt.Sprintf(format, args...)}
}

// Unexpected returns the error of a response that does not make sense, to a request that only reads.
func (c Call) Unexpected(why string) error { return c.unexpected(why, false) }

// UnexpectedAfterChange returns the error of such a response to a request that makes a change, which may
// have been carried out.
func (c Call) UnexpectedAfterChange(why string) error { return c.unexpected(why, true) }

// Created returns a new comment if the response contains it.
func (c Call) Created(m forge.Comment, err error) (forge.Comment, error) {
	if err == nil && forge.IsIncomplete(m) {
		err = c.UnexpectedAfterChange(forge.IncompleteComment)
	}
	if err != nil {
		return forge.Comment{}, err
	}
	return m, nil
}

func (c Call) unexpected(why string, unsure bool) error {
	return &forge.Error{Kind: forge.KindAnswer, Msg: c.doing + ": unexpected response: " + why, Unsure: unsure}
}

// UnexpectedAnswer returns the error of text of a forge that does not make sense.
func UnexpectedAnswer(doing, why string) error { return Call{doing: doing}.Unexpected(why) }

// canceledError returns the error for a caller that stopped waiting.
func (t *Transport) canceledError(err error, unsure bool) *forge.Error {
	return &forge.Error{Kind: forge.KindNetwork, Msg: "canceled while waiting for " + t.o.Forge, Err: err, Unsure: unsure}
}

// Status returns the HTTP status of an error; 0 without one.
func Status(err error) int {
	if e, ok := errors.AsType[*forge.Error](err); ok {
		return e.Status
	}
	return 0
}

// Gone reports whether the forge says that something does not exist, or no longer does.
func Gone(err error) bool {
	return Status(err) == http.StatusNotFound || Status(err) == http.StatusGone
}

// Quote makes text of a response safe to repeat in an error.
func (c Call) Quote(said string) string { return quote(said, c.t.rememberedTokens()) }
