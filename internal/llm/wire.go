package llm

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/precedent-dev/precedent/internal/backoff"
	"github.com/precedent-dev/precedent/internal/text"
)

const (
	// firstByteWait bounds the time to the first byte of a reply. It is long,
	// because a local server may load the model and read the whole prompt first.
	firstByteWait = 5 * time.Minute
	// idleWait bounds the time between two events of a stream.
	idleWait = 60 * time.Second
	// maxReply bounds one reply on the wire, in bytes: DefaultMaxTokens in the smallest
	// events are less than half of it.
	maxReply = 8 << 20
)

var (
	errIdle     = errors.New("timed out waiting for data")
	errTooLarge = errors.New("the reply is larger than 8 MiB")
)

// endpoint is a server, whichever API it has.
type endpoint struct {
	host      string
	key       Secret // a server may repeat it
	header    http.Header
	transport http.RoundTripper
	now       func() time.Time
	first     time.Duration
	idle      time.Duration
}

func newEndpoint(c Config) (endpoint, error) {
	u, err := url.Parse(c.BaseURL)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http"):
		return endpoint{}, errors.New("base URL is not an http or https URL with a host")
	case u.User != nil:
		return endpoint{}, errors.New("base URL contains a user name or password; pass the key separately")
	case c.Model == "" || c.Now == nil:
		return endpoint{}, errors.New("a model's name and a clock are needed")
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}}
	return endpoint{
		host: u.Host, key: c.Key, header: header, transport: c.Transport, now: c.Now,
		first: cmp.Or(c.FirstWait, firstByteWait), idle: cmp.Or(c.Idle, idleWait),
	}, nil
}

// bearer sends the key as OpenAI's API takes it. Local servers need none.
func (e endpoint) bearer() {
	if e.key != "" {
		e.header.Set("Authorization", "Bearer "+string(e.key))
	}
}

// post sends a request and calls read with the body of its reply. The error is an *Error, or
// that of the context.
func (e endpoint) post(
	parent context.Context, url string, body any, firstByte func(), read func(io.Reader) error,
) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	payload, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("write request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(payload))
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	req.Header = e.header.Clone()
	client := http.Client{Transport: &watched{endpoint: e, cancel: cancel, firstByte: firstByte}}
	resp, err := client.Do(req)
	if err != nil {
		return e.errorOf(parent, ctx, err)
	}
	defer resp.Body.Close()
	// With the status 200 a web page is that of a proxy, or of a server at the wrong address.
	if resp.StatusCode != http.StatusOK || strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		return e.statusError(resp.StatusCode, resp.Header, errorMessage(text), text, e.now())
	}
	err = read(resp.Body)
	if _, known := errors.AsType[*Error](err); known || err == nil {
		return err
	}
	return e.errorOf(parent, ctx, err)
}

// events calls add with the data of each server-sent event, until it reports the last one
// or the stream ends. Both APIs write an event's data in one line.
func (e endpoint) events(in *bufio.Reader, add func(data []byte) (last bool, err error)) (last bool, err error) {
	for {
		line, err := in.ReadString('\n')
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return false, err
		}
		data, isEvent := strings.CutPrefix(strings.TrimSpace(line), "data:")
		data = strings.TrimSpace(data)
		switch {
		case isEvent && ended && data != doneMark && !json.Valid([]byte(data)):
			return false, e.cutShort()
		case isEvent:
			if last, err := add([]byte(data)); last || err != nil {
				return last, err
			}
		}
		if ended {
			return false, nil
		}
	}
}

func (e endpoint) cutShort() error {
	return &Error{Kind: KindServer, Host: e.host, Message: "the stream was cut short"}
}

// watched is the transport of one request: it watches the stream, reports the first byte, and follows no
// redirect, so that no other host ever sees the key.
type watched struct {
	endpoint
	cancel    context.CancelCauseFunc
	firstByte func()
}

func (w *watched) RoundTrip(req *http.Request) (*http.Response, error) {
	timer := time.AfterFunc(w.first, func() { w.cancel(errIdle) })
	resp, err := w.transport.RoundTrip(req)
	if err != nil {
		timer.Stop()
		return nil, err
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		timer.Stop()
		resp.Body.Close()
		return nil, &Error{
			Kind: KindRequest, Status: resp.StatusCode, Host: w.host,
			Message: "the redirect to another place was not followed",
		}
	}
	report := w.firstByte
	if resp.StatusCode != http.StatusOK {
		report = nil // the body is an error, not a reply
	}
	resp.Body = &stream{rc: resp.Body, timer: timer, idle: w.idle, firstByte: report, left: maxReply}
	return resp, nil
}

// stream watches a body: the timer restarts with every complete event, not with every
// byte, so that a server that sends single bytes times out, too.
type stream struct {
	rc        io.ReadCloser
	timer     *time.Timer
	idle      time.Duration
	firstByte func()
	once      sync.Once
	newline   bool
	left      int
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.rc.Read(p)
	if n > 0 {
		s.once.Do(func() {
			s.timer.Reset(s.idle)
			if s.firstByte != nil {
				s.firstByte()
			}
		})
		if s.sawEvent(p[:n]) {
			s.timer.Reset(s.idle)
		}
		if s.left -= n; s.left < 0 {
			return n, errTooLarge
		}
	}
	if err != nil {
		s.timer.Stop()
	}
	return n, err
}

// sawEvent tells whether an empty line, the end of a server-sent event, ends in b.
func (s *stream) sawEvent(b []byte) bool {
	saw := false
	for _, c := range b {
		switch c {
		case '\r':
		case '\n':
			saw = saw || s.newline
			s.newline = true
		default:
			s.newline = false
		}
	}
	return saw
}

func (s *stream) Close() error {
	s.timer.Stop()
	return s.rc.Close()
}

// errorOf returns why a request failed: because the caller gave up, or an *Error.
func (e endpoint) errorOf(parent, ctx context.Context, err error) error {
	var known *Error
	switch {
	case parent.Err() != nil:
		return parent.Err()
	case errors.As(err, &known):
		return known
	case errors.Is(err, errTooLarge):
		return &Error{Kind: KindTooLarge, Host: e.host, Message: errTooLarge.Error()}
	case errors.Is(context.Cause(ctx), errIdle):
		return &Error{Kind: KindTimeout, Host: e.host, Message: errIdle.Error()}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return e.cutShort()
	}
	var op *net.OpError
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	unreached := untrusted || errors.As(err, &op) && op.Op == "dial"
	if of, ok := errors.AsType[*url.Error](err); ok {
		err = of.Err // without the address: the host is named
	}
	return &Error{Kind: KindNetwork, Host: e.host, Message: e.quote(err.Error()), unreached: unreached}
}

// statusError returns the *Error for an HTTP response that is not a reply. message is
// the part of body for people.
func (e endpoint) statusError(status int, header http.Header, message string, body []byte, now time.Time) *Error {
	out := &Error{Status: status, Host: e.host, Message: e.quote(message)}
	switch {
	case isTooLong(status, message, body):
		out.Kind = KindContext
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		out.Kind = KindAuth
	case status == http.StatusPaymentRequired, status == http.StatusBadRequest && strings.Contains(message, "credit balance"),
		status == http.StatusTooManyRequests && bytes.Contains(body, []byte("insufficient_quota")):
		out.Kind = KindQuota
	case status == http.StatusTooManyRequests:
		out.Kind = KindRate
	case status == 529 || status == http.StatusServiceUnavailable:
		out.Kind = KindOverloaded
	case status == http.StatusRequestTimeout:
		out.Kind = KindTimeout
	case status >= 500:
		out.Kind = KindServer
	default:
		out.Kind = KindRequest
	}
	out.RetryAfter, _ = backoff.After(header, now)
	out.Message = cmp.Or(out.Message, http.StatusText(status))
	return out
}

var tag = text.Pattern(`<[^>]*>`)

// quote returns what a server said in one line without the key, in at most 300 bytes: of a web page, its text.
func (e endpoint) quote(message string) string {
	if e.key != "" {
		message = strings.ReplaceAll(message, string(e.key), "[key]")
	}
	if strings.HasPrefix(strings.TrimSpace(message), "<") {
		message = tag().ReplaceAllString(message, " ")
	}
	return text.Head(text.Collapse(message), 300)
}
