package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	key       = "0123456789abcdef"
	ping      = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	calling   = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_repo_memory","arguments":{}}}`
	duplicate = `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`
	folded    = `{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/list"}`
	upper     = `{"jsonrpc":"2.0","id":1,"METHOD":"ping"}`
	inside    = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_threads","arguments":{"pull_request":7,"Pull_Request":8}}}`
	batch     = `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`
)

// TestStrictMessages: "case-folded METHOD, duplicate keys → rejected" (T25), and the next message
// is answered.
func TestStrictMessages(t *testing.T) {
	m, _ := remember(t)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- New(opened(m), Options{}).ServeIO(t.Context(), in, out) }()
	answers := bufio.NewScanner(fromServer)
	answers.Buffer(nil, 1<<20)
	for _, message := range []string{duplicate, folded, upper, inside, batch, "nonsense", strings.Repeat("[", 100_000)} {
		for line, want := range map[string]string{message: `"code":-32600`, ping: `"result":{}`} {
			if _, err := io.WriteString(toServer, line+"\n"); err != nil {
				t.Fatal(err)
			}
			if !answers.Scan() || !strings.Contains(answers.Text(), want) {
				t.Errorf("%.100s: %s, want %s", line, answers.Text(), want)
			}
		}
	}
	needs.NoError(t, toServer.Close())
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestTooLongMessage: a line over the limit ends the session, and is not kept.
func TestTooLongMessage(t *testing.T) {
	m, _ := remember(t)
	long := ping[:len(ping)-1] + `,"params":{"x":"` + strings.Repeat("a", maxMessage) + `"}}` + "\n"
	if err := New(opened(m), Options{}).ServeIO(t.Context(), strings.NewReader(long), io.Discard); err == nil {
		t.Error("it was read")
	}
}

// post sends a message and returns the status and the body.
func post(t *testing.T, url, message string, change func(*http.Request)) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(message))
	needs.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if change != nil {
		change(r)
	}
	response, err := http.DefaultClient.Do(r)
	needs.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	needs.NoError(t, err)
	return response.StatusCode, string(body)
}

// TestHTTPGuards: "HTTP needs token + Origin/Host check" (T25).
func TestHTTPGuards(t *testing.T) {
	m, _ := remember(t)
	server := httptest.NewServer(New(opened(m), Options{}).handler(key))
	defer server.Close()
	address := server.URL + "/mcp"
	host := func(h string) func(*http.Request) { return func(r *http.Request) { r.Host = h } }
	header := func(name string, values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header[name] = values }
	}
	for _, test := range []struct {
		name, message string
		change        func(*http.Request)
		want          int
	}{
		{"right", calling, nil, http.StatusOK},
		{"localhost", calling, host("localhost:80"), http.StatusOK},
		{"IPv6", calling, host("[::1]:80"), http.StatusOK},
		{"own origin", calling, header("Origin", server.URL), http.StatusOK},
		{"no token", calling, header("Authorization"), http.StatusUnauthorized},
		{"wrong token", calling, header("Authorization", "Bearer 0123456789abcdeF"), http.StatusUnauthorized},
		{"token as password", calling, header("Authorization", "Basic "+key), http.StatusUnauthorized},
		{"rebound host", calling, host("evil.example.com"), http.StatusForbidden},
		{"host that begins well", calling, host("localhost.evil.example.com:80"), http.StatusForbidden},
		{"host with an address in it", calling, host("127.0.0.1.evil.example.com"), http.StatusForbidden},
		{"foreign origin", calling, header("Origin", "http://evil.example.com"), http.StatusForbidden},
		{"other port's origin", calling, header("Origin", "http://127.0.0.1:1"), http.StatusForbidden},
		{"null origin", calling, header("Origin", "null"), http.StatusForbidden},
		{"two origins", calling, header("Origin", server.URL, "http://evil.example.com"), http.StatusForbidden},
		{"duplicate key", duplicate, nil, http.StatusBadRequest},
		{"folded key", folded, nil, http.StatusBadRequest},
		{"METHOD", upper, nil, http.StatusBadRequest},
		{"folded argument", inside, nil, http.StatusBadRequest},
		{"too large", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("a", maxMessage) + `"}`, nil, http.StatusRequestEntityTooLarge},
		{"GET", "", func(r *http.Request) { r.Method = http.MethodGet }, http.StatusMethodNotAllowed},
		{"other method without a token", "", func(r *http.Request) {
			r.Method = http.MethodDelete
			r.Header.Del("Authorization")
		}, http.StatusUnauthorized},
	} {
		status, body := post(t, address, test.message, test.change)
		if status != test.want || status == http.StatusOK != strings.Contains(body, "example.com/team/app") {
			t.Errorf("%s: %d %s, want %d", test.name, status, body, test.want)
		}
	}
	if status, _ := post(t, server.URL+"/", calling, nil); status != http.StatusNotFound {
		t.Errorf("/: %d", status)
	}
}

// TestSessionsAreIsolated: "two sessions interleaved → isolated" (T25): two clients with the same
// ids of requests get their own answers, each of its own repository.
func TestSessionsAreIsolated(t *testing.T) {
	m, other := remember(t)
	var wg sync.WaitGroup
	for i, memory := range []Open{opened(m), opened(other)} {
		server := httptest.NewServer(New(memory, Options{}).handler(key))
		defer server.Close()
		own, foreign := "team/app", "team/private"
		if i == 1 {
			own, foreign = foreign, own
		}
		for range 2 {
			c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
				Endpoint: server.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer{}},
			}, nil)
			needs.NoError(t, err)
			defer c.Close()
			wg.Go(func() {
				for n := range 20 {
					if said, failed := call(t, c, "get_repo_memory", nil); failed || !strings.Contains(said, own) || strings.Contains(said, foreign) {
						t.Error(said)
					}
					limit := n%2 + 1
					said, failed := call(t, c, "get_findings", map[string]any{"limit": limit})
					if failed || strings.Count(said, `"last_seen":"`) != limit {
						t.Errorf("limit %d: %s", limit, said)
					}
				}
			})
		}
	}
	wg.Wait()
}

// bearer adds the token to requests.
type bearer struct{}

func (bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+key)
	return http.DefaultTransport.RoundTrip(r)
}

// TestServeHTTPEnds: the server ends with its context.
func TestServeHTTPEnds(t *testing.T) {
	m, _ := remember(t)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	needs.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- New(opened(m), Options{}).ServeHTTP(ctx, l, key) }()
	if status, body := post(t, fmt.Sprintf("http://%s/mcp", l.Addr()), calling, nil); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// FuzzMessages: whatever is sent, a message that passes has each of its members once.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{ping, calling, duplicate, folded, upper, inside, batch} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		if checkMessage(message) != nil {
			return
		}
		var object map[string]json.RawMessage
		needs.NoError(t, json.Unmarshal(message, &object))
		for key := range object {
			if bytes.Contains([]byte("jsonrpc id method params result error"), []byte(key)) && key != "" {
				continue
			}
			t.Errorf("member %q passed", key)
		}
	})
}
