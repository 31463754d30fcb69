package forgetest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Listener is the address of a webhook, which keeps what comes.
type Listener struct {
	URL string

	mu     sync.Mutex
	status int
	came   []HookRequest
}

// HookRequest is a request of a webhook.
type HookRequest struct {
	Header http.Header
	Body   []byte
}

// Listen receives the events of webhooks until the test ends, and accepts them.
func Listen(t testing.TB) *Listener {
	t.Helper()
	l := &Listener{status: http.StatusAccepted}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
		if err != nil {
			t.Error(err)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.came = append(l.came, HookRequest{r.Header, body})
		w.WriteHeader(l.status)
	}))
	l.URL = server.URL
	t.Cleanup(server.Close)
	return l
}

// Requests returns what came, oldest first. Call Hook.Wait before.
func (l *Listener) Requests() []HookRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]HookRequest(nil), l.came...)
}
