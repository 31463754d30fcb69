package mcp

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precedent-dev/precedent/internal/needs"
)

const (
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
	for _, message := range []string{
		duplicate, folded, upper, inside, batch, "nonsense", strings.Repeat("[", 100_000),
		`{"jsonrpc":"2.0","id":true,"method":"ping"}`, `{"jsonrpc":"2.0"}`, ping + strings.Repeat(" ", 2*maxMessage) + "x",
	} {
		for line, want := range map[string]string{message: `"code":-32600`, ping: `"result":{}`} {
			needs.Value(io.WriteString(toServer, line+"\n"))(t)
			if !answers.Scan() || !strings.Contains(answers.Text(), want) {
				t.Errorf("%.100s: %s, want %s", line, answers.Text(), want)
			}
		}
	}
	needs.NoError(t, toServer.Close())
	needs.NoError(t, <-done)
}

// TestEndOfInput: what was asked before the input ended is answered, and a request that was cancelled does not
// keep the session.
func TestEndOfInput(t *testing.T) {
	m, _ := remember(t)
	first := `{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"t","version":"1"}}}`
	cancelled := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	var out bytes.Buffer
	in := strings.Join([]string{first, calling, calling, cancelled, strings.Replace(calling, "1,", "2.0,", 1)}, "\n")
	needs.NoError(t, New(opened(m), Options{}).ServeIO(t.Context(), strings.NewReader(in), &out))
	for _, id := range []string{`"id":"a"`, `"id":1`, `"id":2`} {
		if !strings.Contains(out.String(), id) {
			t.Errorf("%s is missing in %s", id, out.String())
		}
	}
}

// TestHTTPMessages: over HTTP, messages are as strict, and only posted.
func TestHTTPMessages(t *testing.T) {
	m, _ := remember(t)
	server := httptest.NewServer(New(opened(m), Options{}).Handler())
	defer server.Close()
	for _, test := range []struct {
		name, method, message string
		want                  int
	}{
		{"right", http.MethodPost, calling, http.StatusOK},
		{"duplicate key", http.MethodPost, duplicate, http.StatusBadRequest},
		{
			"too large", http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("a", maxMessage) + `"}`,
			http.StatusRequestEntityTooLarge,
		},
		{"GET", http.MethodGet, "", http.StatusMethodNotAllowed},
	} {
		r := needs.Value(http.NewRequestWithContext(t.Context(), test.method, server.URL, strings.NewReader(test.message)))(t)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		response, err := http.DefaultClient.Do(r)
		needs.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		needs.NoError(t, err)
		right := strings.Contains(string(body), "example.com/team/app")
		if response.StatusCode != test.want || right != (test.want == http.StatusOK) {
			t.Errorf("%s: %d %s, want %d", test.name, response.StatusCode, body, test.want)
		}
	}
}

// TestSessionsAreIsolated: "two sessions interleaved → isolated" (T25): two clients with the same
// ids of requests get their own answers, each of its own repository.
func TestSessionsAreIsolated(t *testing.T) {
	m, other := remember(t)
	var wg sync.WaitGroup
	for i, memory := range []Open{opened(m), opened(other)} {
		server := httptest.NewServer(New(memory, Options{}).Handler())
		defer server.Close()
		own, foreign := "team/app", "team/private"
		if i == 1 {
			own, foreign = foreign, own
		}
		for range 2 {
			c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
				Endpoint: server.URL,
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
