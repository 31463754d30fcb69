package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/queue"
)

// pullEvent is a payload of GitHub's.
func pullEvent(action string, number int, head string) []byte {
	return fmt.Appendf(nil, `{"action":%q,"number":%[2]d,"pull_request":{"number":%[2]d,"state":"open","draft":false,"head":{"sha":%[3]q},"html_url":"https://git.example/acme/shop/pull/%[2]d"},
		"repository":{"id":1,"full_name":"acme/shop","html_url":"https://git.example/acme/shop"},"sender":{"id":7,"login":"ann"}}`, action, number, head)
}

func sha(n int) string { return fmt.Sprintf("%040x", n) }

// delivery is a request as GitHub makes it.
func delivery(ctx context.Context, id, event, secret string, body []byte) *http.Request {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/webhooks/github", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-GitHub-Event", event)
	r.Header.Set("X-GitHub-Delivery", id)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	r.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	return r
}

// deliver sends it, and returns the status and the result.
func (s *stage) deliver(r *http.Request) (int, string) {
	w := httptest.NewRecorder()
	s.web.ServeHTTP(w, r)
	word, _, _ := strings.Cut(strings.TrimSpace(w.Body.String()), ":")
	return w.Code, word
}

// open tells that a pull request was opened.
func (s *stage) open(t *testing.T, id, secret string) (int, string) {
	return s.deliver(delivery(t.Context(), id, "pull_request", secret, pullEvent("opened", 7, sha(1))))
}

// TestWebhookRequests: who may say what (T19), and that a wrong signature is counted, and nothing of the body is read
// as JSON (fault row 8). What else is no signature is in TestFault08AndT19HookSignatures.
func TestWebhookRequests(t *testing.T) {
	s := newStage(t, openSQLite(t), nil)
	body := pullEvent("opened", 7, sha(1))
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(make([]byte, 1<<20)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for _, test := range []struct {
		name   string
		secret string
		body   []byte
		change func(*http.Request)
		status int
		want   string
	}{
		{name: "valid", status: 202, want: "accepted"},
		{name: "the other secret", secret: oldSecret, status: 202, want: "accepted"},
		{
			name: "another host", change: func(r *http.Request) { r.Host, r.RemoteAddr = "evil.example", "203.0.113.9:1" },
			status: 202, want: "accepted",
		},
		{
			name: "no signature", change: func(r *http.Request) { r.Header.Del("X-Hub-Signature-256") }, status: 401,
			want: "unsigned",
		},
		{name: "wrong secret", secret: "guessed", body: bytes.Repeat([]byte("{"), 1000), status: 401, want: "unsigned"},
		{name: "compressed", body: zipped.Bytes(), change: set("Content-Encoding", "gzip"), status: 415, want: "mediatype"},
		{name: "compressed and not said", body: zipped.Bytes(), status: 400, want: "malformed"},
		{
			name: "a form", change: set("Content-Type", "application/x-www-form-urlencoded"), status: 415, want: "mediatype",
		},
		{name: "no event", change: func(r *http.Request) { r.Header.Del("X-GitHub-Event") }, status: 400, want: "malformed"},
		{name: "too large", body: make([]byte, forge.MaxEvent+1), status: 413, want: "toolarge"},
		{
			name: "too large and not said", body: make([]byte, forge.MaxEvent+1),
			change: func(r *http.Request) { r.ContentLength = -1 }, status: 413, want: "toolarge",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			secret, text := test.secret, test.body
			if secret == "" {
				secret = newSecret
			}
			if text == nil {
				text = body
			}
			r := delivery(t.Context(), test.name, "pull_request", secret, text)
			if test.change != nil {
				test.change(r)
			}
			if status, got := s.deliver(r); status != test.status || got != test.want {
				t.Errorf("%d %s, want %d %s", status, got, test.status, test.want)
			}
		})
	}
	if all := s.jobs(t); len(all) != 1 || all[0].Kind != queue.Review || all[0].Pull != 7 || all[0].Repo.Owner != "Acme" {
		t.Errorf("jobs: %+v", all)
	}
	if text := s.get(t, "/metrics", nil).Body.String(); !strings.Contains(text, `precedent_webhooks_total{result="unsigned"} 2`) {
		t.Errorf("metrics:\n%s", text)
	}
	if n := s.hooks.bytes.Load(); n != 0 || len(s.hooks.inFlight) != 0 {
		t.Errorf("%d bytes and %d requests are still counted", n, len(s.hooks.inFlight))
	}
}

// TestNoWebhooks: without a secret there is no address for webhooks.
func TestNoWebhooks(t *testing.T) {
	s := newStage(t, openSQLite(t), func(o *Options) { o.Secrets = nil })
	if status, _ := s.open(t, "1", ""); status != http.StatusNotFound {
		t.Errorf("status %d", status)
	}
}

// TestFault5DatabaseLocked: while the database does not answer, the sender is told to come again within 9 seconds, and
// afterwards all is as before (fault row 5). That nobody hangs, the test of the queue shows.
func TestFault5DatabaseLocked(t *testing.T) {
	if hookTime+500*time.Millisecond > 9*time.Second {
		t.Errorf("the limit is %s", hookTime)
	}
	s := newStage(t, openSQLite(t), nil)
	s.hooks.limit = 0 // which the database never meets
	w := httptest.NewRecorder()
	s.web.ServeHTTP(w, delivery(t.Context(), "1", "pull_request", newSecret, pullEvent("opened", 1, sha(1))))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("status %d %s", w.Code, w.Body)
	}
	s.hooks.limit = hookTime
	if status, got := s.open(t, "1", newSecret); status != http.StatusAccepted || got != "accepted" {
		t.Errorf("%d %s", status, got)
	}
}

// TestFault6Malformed: a signed body that is not an event is refused and logged once a second, and
// makes no job (fault row 6).
func TestFault6Malformed(t *testing.T) {
	s := newStage(t, openSQLite(t), nil)
	whole := pullEvent("opened", 7, sha(1))
	for i, body := range []string{
		string(whole[:len(whole)/2]), "", "null", "[]", `{"pull_request":{}}`,
		strings.Repeat("[", 100_000), `{"action":"opened","action":"closed"}`,
	} {
		if status, got := s.deliver(delivery(t.Context(), fmt.Sprint(i), "pull_request", newSecret,
			[]byte(body))); status != 400 {
			t.Errorf("%.30q: %d %s", body, status, got)
		}
	}
	if n := strings.Count(s.log.String(), "malformed"); n != 1 || len(s.jobs(t)) != 0 {
		t.Errorf("%d lines, %d jobs\n%s", n, len(s.jobs(t)), s.log)
	}
}

// TestFault7Ignored: events that make no work are taken, so that the forge does not count them as
// failed (fault row 7); own events are among them.
func TestFault7Ignored(t *testing.T) {
	s := newStage(t, openSQLite(t), nil)
	needs.Value(s.account(t.Context()))(t)
	mine := bytes.Replace(pullEvent("labeled", 7, sha(1)), []byte(`"id":7`), []byte(`"id":500`), 1)
	other := bytes.ReplaceAll(pullEvent("opened", 7, sha(1)), []byte("acme/shop"), []byte("acme/other"))
	for _, test := range []struct {
		event string
		body  []byte
		want  string
	}{
		{"star", []byte(`{"action":"created"}`), "ignored"},
		{"ping", []byte(`{"zen":"x"}`), "ignored"},
		{"pull_request", pullEvent("assigned", 7, sha(1)), "ignored"},
		{"pull_request", pullEvent("<script>", 7, sha(1)), "ignored"},
		{"pull_request", mine, "own"},
		{"pull_request", other, "notserved"},
	} {
		if status, got := s.deliver(delivery(t.Context(), test.event+test.want, test.event, newSecret,
			test.body)); status != 202 || got != test.want {
			t.Errorf("%s: %d %s, want %s", test.event, status, got, test.want)
		}
	}
	needs.Equal(t, 0, len(s.jobs(t)))
}

// TestUnknownRepositories: as long as nobody knows what is served, no event is thrown away, and the forge is asked
// once whether a repository is new.
func TestUnknownRepositories(t *testing.T) {
	s := newStage(t, openSQLite(t), func(o *Options) { o.Repositories = Repositories{Owners: []string{"acme"}} })
	fail, asked, all := true, 0, []precedent.Repo{}
	s.forge.repositories = func(_ context.Context, owner string) ([]precedent.Repo, error) {
		if fail || owner != "acme" {
			return nil, &forge.Error{Kind: forge.KindServer, Msg: "it fails"}
		}
		asked++
		return all, nil
	}
	ask := func() string {
		_, got := s.open(t, "1", newSecret)
		return got
	}
	if err := s.served.Refresh(t.Context()); err == nil || ask() != "unavailable" {
		t.Error("the event was taken")
	}
	fail = false
	if err := s.served.Refresh(t.Context()); err != nil || ask() != "notserved" || ask() != "notserved" || asked != 2 {
		t.Errorf("the forge was asked %d times, %v", asked, err)
	}
	clear(s.served.others)
	all = []precedent.Repo{shop}
	if ask() != "notserved" || asked != 2 {
		t.Errorf("the forge was asked %d times in a minute", asked)
	}
	s.served.asked = time.Time{}
	if ask() != "accepted" {
		t.Error("the event of a new repository was not taken")
	}
}

// TestOverload: who comes when all places are taken is told to come again, and so is who would
// need more memory than there is. Then it recovers.
func TestOverload(t *testing.T) {
	s := newStage(t, openSQLite(t), nil)
	ask := func() int {
		status, _ := s.open(t, "1", newSecret)
		return status
	}
	for range maxHooks {
		s.hooks.inFlight <- struct{}{}
	}
	needs.Equal(t, http.StatusServiceUnavailable, ask())
	<-s.hooks.inFlight
	s.hooks.bytes.Store(maxHookBytes)
	needs.Equal(t, http.StatusServiceUnavailable, ask())
	s.hooks.bytes.Store(0)
	if status := ask(); status != http.StatusAccepted || s.hooks.bytes.Load() != 0 {
		t.Errorf("status %d", status)
	}
}
