package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/backoff"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// backoffs are the longest waits for an overloaded server.
var backoffs = []time.Duration{
	2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute,
}

func TestReliable(t *testing.T) {
	ok, overloaded := llmtest.Reply{Text: "fine"}, failed(529, "Overloaded")
	elsewhere := http.Header{"Location": {"http://127.0.0.1:9/steal"}}
	rateLimit := func(wait string) llmtest.Reply { return llmtest.Reply{Status: 429, Header: retryAfterHeader(wait)} }
	for _, test := range []struct {
		name     string
		replies  []llmtest.Reply
		kind     Kind // of the error; empty for none
		requests int
		naps     []time.Duration
	}{
		{"overloaded five times", append(slices.Repeat([]llmtest.Reply{overloaded}, 5), ok), "", 6, backoffs[:5]},
		{"overloaded for ever", []llmtest.Reply{overloaded}, KindOverloaded, 8, backoffs},
		{"a wait that the server names", []llmtest.Reply{rateLimit("17"), ok}, "", 2, []time.Duration{17 * time.Second}},
		{"broken within the stream", []llmtest.Reply{{Broken: "overloaded_error"}, ok}, "", 2, backoffs[:1]},
		{"cut short", []llmtest.Reply{{Text: "fine", Cut: 250}, ok}, "", 2, backoffs[:1]},
		{"a wait that is too long", []llmtest.Reply{rateLimit("86400")}, KindRate, 1, nil},
		{"bad key", []llmtest.Reply{failed(401, "invalid x-api-key")}, KindAuth, 1, nil},
		{"no money left", []llmtest.Reply{{
			Status: 429, Body: `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`,
		}}, KindQuota, 1, nil},
		{"no credit", []llmtest.Reply{failed(400, "Your credit balance is too low to access the API")}, KindQuota, 1, nil},
		{"bad request", []llmtest.Reply{failed(400, "")}, KindRequest, 1, nil},
		{"redirect", []llmtest.Reply{{Status: 302, Header: elsewhere}}, KindRequest, 1, nil},
	} {
		for api, s := range both(t, test.replies...) {
			t.Run(api+" "+test.name, func(t *testing.T) {
				requests := test.requests
				if api == "openai" && test.name == "bad request" {
					requests++ // without a field that older servers do not know
				}
				clock := &fakeTime{}
				_, err := Reliable(clock.waiting(), s.Model).Send(t.Context(), Request{Prompt: "p"})
				if kindOf(err) != test.kind {
					t.Errorf("error %v, want kind %q", err, test.kind)
				}
				if n := len(s.Requests()); n != requests {
					t.Errorf("%d requests, want %d", n, requests)
				}
				// The random part is the whole backoff less one, plus a millisecond.
				near := func(got, want time.Duration) bool { return (got - want).Abs() <= time.Millisecond }
				if !slices.EqualFunc(clock.naps, test.naps, near) {
					t.Errorf("waited %v, want %v", clock.naps, test.naps)
				}
			})
		}
	}
}

// TestBrokenRepliesAreCounted: a reply that breaks off is paid for, also if the next one succeeds or there is none.
func TestBrokenRepliesAreCounted(t *testing.T) {
	const prompt = 300 // tokens
	u := &precedent.Usage{InputTokens: prompt}
	for _, whole := range []llmtest.Reply{{Text: "fine", Usage: u}, failed(401, "")} {
		for api, s := range both(t, llmtest.Reply{Text: "fine", Cut: 420, Usage: u}, whole) {
			model := Reliable((&fakeTime{}).waiting(), s.Model, s.Model)
			reply, err := model.Send(t.Context(), Request{Prompt: strings.Repeat("x", prompt*charsPerToken)})
			want := prompt
			if err == nil {
				want += prompt
			}
			if got := reply.Usage.InputTokens; got != want {
				t.Errorf("%s: %d tokens are counted, want %d, %v", api, got, want, err)
			}
		}
	}
}

// countedRequests counts the requests that a client sends. A server does not see one whose time is
// over before it arrives.
type countedRequests struct{ n atomic.Int32 }

func (c *countedRequests) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return http.DefaultTransport.RoundTrip(r)
}

func TestIdleStreams(t *testing.T) {
	const idle = 300 * time.Millisecond
	for name, reply := range map[string]llmtest.Reply{
		"silent": {Hold: llmtest.Never}, "stops within": {Pause: llmtest.Never}, "drips": {Drip: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, o := llmtest.Anthropic(t, llmtest.Script(reply)), llmtest.OpenAI(t, llmtest.Script(reply))
			for url, api := range map[string]func(Config) (Model, error){a.URL: Anthropic, o.URL: OpenAI} {
				var sent countedRequests
				model, err := api(Config{
					Key: canary, BaseURL: url, Model: "x", Now: time.Now, FirstWait: idle, Idle: idle, Transport: &sent,
				})
				needs.NoError(t, err)
				_, err = Reliable((&fakeTime{}).waiting(), model).Send(t.Context(), Request{Prompt: "p"})
				if n := sent.n.Load(); kindOf(err) != KindTimeout || n != maxTimeoutTries {
					t.Errorf("error %v after %d requests", err, n)
				}
			}
		})
	}
}

func TestFailover(t *testing.T) {
	for name, test := range map[string]struct {
		first llmtest.Reply
		fails bool
	}{
		"down":           {failed(503, ""), false},
		"a small window": {failed(400, "prompt is too long: 203284 tokens > 200000 maximum"), false},
		"retired":        {failed(404, "model: claude-2.1"), false},
		"a bad request":  {failed(400, "messages: at least one message is required"), true},
	} {
		clock := &fakeTime{}
		s := llmtest.Anthropic(t, llmtest.Script(test.first))
		next := llmtest.Anthropic(t, llmtest.Script(llmtest.Reply{Text: "fine"}))
		model := Reliable(clock.waiting(), anthropicAt(t, s.URL), anthropicAt(t, next.URL))
		reply, err := model.Send(t.Context(), Request{Prompt: "p"})
		if (err != nil) != test.fails || (reply.Text == "fine") == test.fails {
			t.Errorf("%s: %+v, %v", name, reply, err)
		}
	}
}

// TestSharedBackoff: requests that an overloaded server refuses together wait together,
// and those that come later wait with them.
func TestSharedBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		server := &overloadedUntil{well: began.Add(20 * time.Second), takes: 50 * time.Millisecond}
		model := Reliable(Waiting{
			Now: time.Now, Sleep: backoff.Sleep,
			Rand: func(n time.Duration) time.Duration { return n - time.Millisecond },
		}, server)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				if err := backoff.Sleep(t.Context(), time.Duration(i)*100*time.Millisecond); err != nil {
					t.Error(err)
				}
				if _, err := model.Send(t.Context(), Request{}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		// Waits of 2, 4, 8 and 16 seconds, after the first request, which is alone.
		if took := time.Since(began); took != 30*time.Second+250*time.Millisecond || server.refused != 1+3*8 {
			t.Errorf("it took %s, with %d refused requests", took, server.refused)
		}
	})
}

// TestBackoffWithinDeadline: a wait beyond the deadline is not begun, and the reason is
// the server's, also for a request that was never sent.
func TestBackoffWithinDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		server := &overloadedUntil{well: began.Add(time.Hour), retry: 5 * time.Minute}
		model := Reliable(RealWaiting(), server)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for range 2 {
			var e *Error
			if _, err := model.Send(ctx, Request{}); !errors.As(err, &e) || e.Message != "Overloaded" {
				t.Errorf("error %v", err)
			}
		}
		if server.refused != 1 || time.Since(began) != 0 {
			t.Errorf("%d requests in %s", server.refused, time.Since(began))
		}
	})
}

// overloadedUntil is a model that is overloaded until a time.
type overloadedUntil struct {
	well         time.Time
	retry, takes time.Duration

	mu      sync.Mutex
	refused int
}

func (*overloadedUntil) Name() string { return "m" }
func (*overloadedUntil) Host() string { return "example.com" }

func (o *overloadedUntil) Send(ctx context.Context, _ Request) (Reply, error) {
	if err := backoff.Sleep(ctx, o.takes); err != nil {
		return Reply{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Now().Before(o.well) {
		o.refused++
		return Reply{}, &Error{
			Kind: KindOverloaded, Status: 529, Message: "Overloaded", Host: "example.com", RetryAfter: o.retry,
		}
	}
	return Reply{Text: "fine"}, nil
}

// TestFailoverRemembers: a model that is down is not tried by each request, until its back-off is over.
func TestFailoverRemembers(t *testing.T) {
	clock := &fakeTime{}
	s := llmtest.Anthropic(t, llmtest.Script(failed(529, "Overloaded"), failed(529, "Overloaded"),
		failed(529, "Overloaded"), failed(529, "Overloaded"), llmtest.Reply{Text: "back"}))
	next := llmtest.Anthropic(t, llmtest.Script(llmtest.Reply{Text: "fine"}))
	model := Reliable(clock.waiting(), anthropicAt(t, s.URL), anthropicAt(t, next.URL))
	for range 3 {
		if reply, err := model.Send(t.Context(), Request{Prompt: "p"}); err != nil || reply.Text != "fine" {
			t.Errorf("%+v, %v", reply, err)
		}
	}
	if n := len(s.Requests()); n != maxTries {
		t.Errorf("the dead model got %d requests", n)
	}
	clock.slept += maxBackoff
	if reply, err := model.Send(t.Context(), Request{Prompt: "p"}); err != nil || reply.Text != "back" {
		t.Errorf("%+v, %v", reply, err)
	}
}

// TestServersReason: of a web page, the reason is its text.
func TestServersReason(t *testing.T) {
	page := "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n</html>\r\n"
	for _, status := range []int{200, 502} {
		header := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
		for api, s := range both(t, llmtest.Reply{Status: status, Body: page, Header: header}) {
			_, err := s.Send(t.Context(), Request{Prompt: "p"})
			want := fmt.Sprintf("%s answered %d: 502 Bad Gateway", s.Host(), status)
			if err == nil || err.Error() != want {
				t.Errorf("%s: %v, want %s", api, err, want)
			}
		}
	}
}
