package wire

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// server answers with the faults that are planned, then with 201.
type server struct {
	*forgetest.Stage
	*httptest.Server
}

func serve(t *testing.T, faults ...forgetest.Fault) *server {
	t.Helper()
	s := forgetest.NewStage(t)
	s.Script.Plan(faults...)
	return &server{s, s.Bare(t)}
}

// requests are those that came: method, path and body.
func (s *server) requests() (all []string) {
	for _, r := range s.Script.Requests() {
		all = append(all, r.Method+" "+r.Path+" "+r.Body)
	}
	return all
}

func status(code int, body string) forgetest.Fault { return forgetest.Fault{Status: code, Body: body} }

func waiting(code int, after string) forgetest.Fault {
	return forgetest.Fault{Status: code, Header: map[string]string{"Retry-After": after}}
}

func moved(code int, to string) forgetest.Fault {
	return forgetest.Fault{Status: code, Header: map[string]string{"Location": to}}
}

// transport is one to the server, with a clock that nobody waits for.
func transport(t *testing.T, base string, change func(*Options)) (*Transport, *forgetest.Clock) {
	t.Helper()
	home := needs.Value(Address(base + "/api/"))(t)
	token := needs.Value(NewToken(forgetest.Secret))(t)
	clock := forgetest.NewStage(t).Clock
	o := Options{
		Forge: "Forge", Home: home, Scheme: "token", Token: Static(token),
		Network: Network{Now: clock.Now, Sleep: clock.Sleep, Rand: func(n time.Duration) time.Duration { return n / 2 }},
	}
	if change != nil {
		change(&o)
	}
	return New(o), clock
}

// send sends one request by a client, as the libraries do.
func send(ctx context.Context, tr *Transport, method, address, body string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	resp, err := tr.client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	return string(all), err
}

func fault(t *testing.T, err error) *forge.Error {
	t.Helper()
	var e *forge.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is not an error of a forge", err)
	}
	return e
}

// write sends a request that fails, as a call that makes a change.
func write(t *testing.T, tr *Transport, method, address, body string) *forge.Error {
	t.Helper()
	a := tr.Call(t.Context(), "write", "", nil)
	_, err := send(t.Context(), tr, method, address, body)
	return fault(t, a.Fail(err))
}

// TestWritesAreSentOnce: whatever may have been carried out is not sent again, and said to be unsure.
func TestWritesAreSentOnce(t *testing.T) {
	for name, answer := range map[string]forgetest.Fault{
		"500": status(500, ""), "502": status(502, ""), "503 that says when": waiting(503, "1"),
		"408": status(408, ""), "303": moved(303, "/api/x"), "304": status(304, ""), "cut": {Cut: 6},
		"silent": {Hold: make(chan struct{})}, "dropped": {Drop: true}, "too large": status(201, strings.Repeat("x", maxAnswer+1)),
	} {
		for _, method := range []string{http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete} {
			s := serve(t, answer)
			tr, clock := transport(t, s.URL, func(o *Options) {
				if answer.Hold != nil {
					o.Timeout = 100 * time.Millisecond
				}
			})
			e := write(t, tr, method, s.URL+"/api/x", "words")
			if !e.Unsure || len(s.requests()) != 1 || len(clock.Waits()) != 0 || !strings.HasPrefix(e.Msg, "write: ") {
				t.Errorf("%s %s: %+v after %v", method, name, e, s.requests())
			}
		}
	}
}

// TestRefusedWrites: what was refused was not carried out.
func TestRefusedWrites(t *testing.T) {
	for _, test := range []struct {
		code int
		body string
		want forge.ErrorKind
		says string
	}{
		{
			422, `{"message":"Unprocessable Entity","errors":["Line could not be resolved"]}`, forge.KindInvalid,
			"Unprocessable Entity: Line could not be resolved",
		},
		{
			422, `{"message":"Validation Failed","errors":[{"resource":"X","field":"body","code":"missing"},{"message":"No."}]}`,
			forge.KindInvalid, "Validation Failed: body missing: No.",
		},
		{
			422, `{"message":"Unprocessable Entity","errors":["lock prevents review"]}`, forge.KindClosed,
			"lock prevents review",
		},
		{403, `{"message":"Unable to create comment because issue is locked."}`, forge.KindClosed, "locked"},
		{403, `{"message":"Resource not accessible by integration"}`, forge.KindAuth, "Resource not"},
		{401, `{"message":"Bad credentials"}`, forge.KindAuth, "Bad credentials"},
		{404, `{"message":"Not Found"}`, forge.KindClosed, "Not Found"},
		{410, ``, forge.KindClosed, ""},
		{423, `{"message":"repo is archived"}`, forge.KindClosed, "archived"},
		{302, ``, forge.KindRefused, ""},
	} {
		answer := moved(test.code, "/api/elsewhere")
		answer.Body = test.body
		s := serve(t, answer)
		tr, _ := transport(t, s.URL, nil)
		e := write(t, tr, http.MethodPost, s.URL+"/api/x", "")
		if e.Unsure || e.Kind != test.want || !strings.Contains(e.Said, test.says) || len(s.requests()) != 1 ||
			e.Status != test.code {
			t.Errorf("%d %s: %+v, %q after %v", test.code, test.body, e, e.Said, s.requests())
		}
	}
}

// TestWritesAfterLimits: a rate limit does not answer the request, so it is waited for and
// the request sent again.
func TestWritesAfterLimits(t *testing.T) {
	secondary := status(403, `{"message":"You have exceeded a secondary rate limit."}`)
	s := serve(t, secondary, secondary, waiting(429, "7"))
	tr, clock := transport(t, s.URL, nil)
	got, err := send(t.Context(), tr, http.MethodPost, s.URL+"/api/x", "words")
	if want := []time.Duration{time.Minute, 2 * time.Minute, 7 * time.Second}; err != nil || got != `{"id":1}` ||
		!slices.Equal(clock.Waits(), want) {
		t.Errorf("%q, %v after the waits %v", got, err, clock.Waits())
	}
	if came := s.requests(); len(came) != 4 || came[3] != "POST /api/x words" {
		t.Errorf("came %q", came)
	}
}

// TestLimitOfEachOwner: a rate limit that is exceeded does not delay requests that count against another one.
func TestLimitOfEachOwner(t *testing.T) {
	type ownerKey struct{}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/acme" {
			w.Header().Set("Retry-After", "3600")
			http.Error(w, `{"message":"API rate limit exceeded"}`, http.StatusForbidden)
			return
		}
		_, _ = io.WriteString(w, "{}")
	}))
	defer site.Close()
	tr, clock := transport(t, site.URL, func(o *Options) {
		o.Limit = func(ctx context.Context) string { owner, _ := ctx.Value(ownerKey{}).(string); return owner }
	})
	began := clock.Now()
	for _, owner := range []string{"acme", "other", "acme", "other"} {
		_, err := send(context.WithValue(t.Context(), ownerKey{}, owner), tr, http.MethodGet, site.URL+"/api/"+owner, "")
		e, limited := errors.AsType[*forge.Error](err)
		if limited != (owner == "acme") || limited && (e.Kind != forge.KindRate || e.Owner != owner) {
			t.Errorf("%s: %v", owner, err)
		}
	}
	needs.Equal(t, time.Duration(0), clock.Now().Sub(began))
}

// TestNoConnection: what could not be sent was not carried out. It is sent again if the forge was reached before.
func TestNoConnection(t *testing.T) {
	s := serve(t)
	reached, waits := transport(t, s.URL, nil)
	needs.Value(send(t.Context(), reached, http.MethodGet, s.URL+"/api/x", ""))(t)
	s.Close()
	_, err := send(t.Context(), reached, http.MethodGet, s.URL+"/api/x", "")
	grows := []time.Duration{time.Second / 2, time.Second, 2 * time.Second, 4 * time.Second} // half of what they may be
	if e := fault(t, err); e.Unreached || !slices.Equal(waits.Waits(), grows) {
		t.Errorf("%+v after the waits %v", e, waits.Waits())
	}
	tr, clock := transport(t, s.URL, nil)
	if e := write(t, tr, http.MethodPost, s.URL+"/api/x", ""); e.Unsure || !e.Unreached || e.Kind != forge.KindNetwork || len(clock.Waits()) != 0 {
		t.Errorf("%+v after the waits %v", e, clock.Waits())
	}
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	tr, clock = transport(t, secure.URL, nil) // which does not know who signed the certificate
	_, err = send(t.Context(), tr, http.MethodPost, secure.URL+"/api/x", "")
	if e := fault(t, err); e.Unsure || !e.Unreached || e.Kind != forge.KindNetwork || len(clock.Waits()) != 0 {
		t.Errorf("%+v after the waits %v", e, clock.Waits())
	}
}

// TestAuthorization is the transport's to give: a client's own idea of it, and
// where it comes from, are not sent.
func TestAuthorization(t *testing.T) {
	s := serve(t)
	for _, change := range []func(*Options){nil, func(o *Options) { o.Token = nil }} {
		tr, _ := transport(t, s.URL, change)
		req := needs.Value(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/api/x", nil))(t)
		req.Header.Set("Authorization", "Basic eDp5")
		req.Header.Set("Referer", "https://intranet.example/")
		resp, err := tr.client.Do(req)
		needs.NoError(t, err)
		resp.Body.Close()
	}
	first, second := s.Script.Requests()[0].Header, s.Script.Requests()[1].Header
	if a, b := first.Get("Authorization"), second.Get("Authorization"); a != "token "+forgetest.Secret ||
		b != "" || first.Get("Referer") != "" {
		t.Errorf("sent %q, %q, from %q", a, b, first.Get("Referer"))
	}
}

// TestWhoStopsWaiting for a write is told whether it may have been carried out.
func TestWhoStopsWaiting(t *testing.T) {
	arrived, never := make(chan struct{}), make(chan struct{})
	defer close(never)
	s := serve(t, forgetest.Fault{Hold: never, Call: func() { close(arrived) }})
	tr, _ := transport(t, s.URL, nil)
	under, cancel := context.WithCancel(t.Context())
	sent := make(chan error)
	go func() {
		a := tr.Call(under, "write", "", nil)
		_, err := send(under, tr, http.MethodPost, s.URL+"/api/x", "")
		if e := fault(t, err); !e.Unsure {
			t.Errorf("%+v", e)
		}
		sent <- a.Fail(err)
	}()
	<-arrived
	behind, stop := context.WithCancel(t.Context())
	stop()
	a := tr.Call(behind, "write", "", nil)
	_, err := send(behind, tr, http.MethodPost, s.URL+"/api/x", "")
	if e := fault(t, a.Fail(errors.Join(err, behind.Err()))); e.Unsure || !errors.Is(e, context.Canceled) {
		t.Errorf("one that never had its turn: %+v", e)
	}
	cancel()
	if e := fault(t, <-sent); !e.Unsure || e.Kind != forge.KindNetwork || !errors.Is(e, context.Canceled) {
		t.Errorf("one that was under way: %+v", e)
	}
	needs.Equal(t, 1, len(s.requests()))
}

// TestWhereRequestsGo: below the API's base, and to what is named beside it; a redirect within repeats
// a write as it was, and one to another host is refused (row 20 of the fault matrix).
func TestWhereRequestsGo(t *testing.T) {
	s := serve(t, moved(307, "/api/moved"))
	tr, _ := transport(t, s.URL, func(o *Options) { o.Beside = "/beside" })
	needs.Value(send(t.Context(), tr, http.MethodPost, s.URL+"/api/x", "words"))(t)
	needs.Value(send(t.Context(), tr, http.MethodPost, s.URL+"/beside", ""))(t)
	needs.Equal(t, []string{"POST /api/x words", "POST /api/moved words", "POST /beside "}, s.requests())
	for _, address := range []string{
		s.URL + "/other", s.URL + "/beside/x", s.URL + "/apix", strings.Replace(s.URL, "http:", "https:", 1) + "/api/x",
		strings.Replace(s.URL, "127.0.0.1", "localhost", 1) + "/api/x", "http://169.254.169.254/api/x",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			_, err := send(t.Context(), tr, method, address, "")
			if e := fault(t, err); e.Kind != forge.KindRefused || e.Unsure {
				t.Errorf("%s %s: %v", method, address, err)
			}
		}
	}
	for range 2 {
		s.Script.Plan(moved(307, "http://127.0.0.1:1/api/x"), moved(308, "/login"))
	}
	for range 2 {
		if e := write(t, tr, http.MethodPost, s.URL+"/api/x", "words"); e.Kind != forge.KindRefused || e.Unsure {
			t.Errorf("%+v", e)
		}
	}
}

// TestProxy: the operator's proxy is used, and no other.
func TestProxy(t *testing.T) {
	through := serve(t)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	at := needs.Value(url.Parse(through.URL))(t)
	tr, _ := transport(t, "http://127.0.0.1:9", func(o *Options) { o.Proxy = at })
	if got, err := send(t.Context(), tr, http.MethodPost, "http://127.0.0.1:9/api/x", ""); err != nil ||
		got != `{"id":1}` {
		t.Errorf("%q, %v", got, err)
	}
	if came := through.requests(); len(came) != 1 {
		t.Errorf("the proxy was asked %q", came)
	}
}

// TestCacheIsBounded: what was put last is kept, within the bound.
func TestCacheIsBounded(t *testing.T) {
	c := newBounded[int, string](100)
	for i := range 102 {
		c.put(i, "", i)
		if _, ok := c.get(i); ok != (i <= 100) || c.size > 100 {
			t.Fatalf("%d of %d entries of %d", i, len(c.known), c.size)
		}
	}
}
