package forgetest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing/iotest"
	"time"
)

// Fault makes a request fail.
type Fault struct {
	On     string // part of the path and query; empty matches every request
	Method string // empty matches every method
	Times  int    // number of requests that fail; 1 if it is 0
	Skip   int    // number of matching requests to leave alone first
	// Status replaces the server's answer, with Header and Body.
	Status int
	Header map[string]string
	Body   string
	// Cut breaks the connection after this many bytes of the server's answer.
	Cut int
	// Drop breaks the connection before the answer.
	Drop bool
	// Hold delays the answer until the channel is closed or the client is gone.
	Hold <-chan struct{}
	// After lets the server carry out the request before Status, Drop or Hold replace its answer.
	After bool
	// Lag is how many of the newest entries are missing in the server's lists.
	Lag int
	// LagFor is how old an entry must be to appear in the server's lists.
	LagFor time.Duration
	// Call runs when the request has arrived, and CallAfter when it was carried out
	// but not answered. Tests kill clients there.
	Call, CallAfter func()
}

// Request is a request that the server received.
type Request struct {
	Method string
	Path   string // with the query, as sent
	Header http.Header
	Body   string
	At     time.Time // by the stage's clock
	Status int       // of the answer; 0 if the connection was broken before
}

// Writes reports whether the request makes a change. A GraphQL query does not.
func (r Request) Writes() bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return false
	}
	return !strings.HasSuffix(r.Path, "/graphql") || strings.Contains(r.Body, "mutation")
}

// Script plans faults, and records all requests.
type Script struct {
	clock    *Clock
	mu       sync.Mutex
	faults   []Fault
	requests []Request
}

// Plan adds faults. The first one that matches a request is applied.
func (s *Script) Plan(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range faults {
		f.Times = max(f.Times, 1)
		s.faults = append(s.faults, f)
	}
}

// Forget removes the faults that have not been applied yet.
func (s *Script) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// Requests returns the requests so far.
func (s *Script) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Left counts the faults that have not been applied yet.
func (s *Script) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, f := range s.faults {
		n += f.Times
	}
	return n
}

// maxRequest bounds the body of a request in bytes: more than any forge accepts.
const maxRequest = 16 << 20

// next records a request, whose body can be read again, and finds its fault.
func (s *Script) next(r *http.Request) (f Fault, index int) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	again := io.Reader(bytes.NewReader(body))
	if err != nil { // the client is gone, and nobody may take this for all that it sent
		again = io.MultiReader(again, iotest.ErrReader(err))
	}
	r.Body = io.NopCloser(again)
	now := s.clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{
		Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: string(body), At: now,
	})
	for i, planned := range s.faults {
		if planned.Times == 0 || !strings.Contains(r.URL.RequestURI(), planned.On) || planned.Method != "" &&
			planned.Method != r.Method {
			continue
		}
		if planned.Skip > 0 {
			s.faults[i].Skip--
			continue
		}
		s.faults[i].Times--
		f = planned
		break
	}
	return f, len(s.requests) - 1
}

func (s *Script) answered(index, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[index].Status = status
}

type faultKey struct{}

// lag returns how many of the newest entries to hide.
func lag(r *http.Request) int { return fault(r).Lag }

// fault returns the fault of a request.
func fault(r *http.Request) Fault {
	f, _ := r.Context().Value(faultKey{}).(Fault)
	return f
}

// wrap applies the faults to a server.
func (s *Script) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, index := s.next(r)
		w.Header().Set("Date", s.clock.Now().UTC().Format(http.TimeFormat))
		if f.Call != nil {
			f.Call()
		}
		whole := httptest.NewRecorder()
		answer := func(ctx context.Context) {
			next.ServeHTTP(whole, r.WithContext(context.WithValue(ctx, faultKey{}, f)))
			if f.CallAfter != nil {
				f.CallAfter()
			}
		}
		if f.After {
			answer(r.Context())
		}
		if f.Hold != nil {
			select {
			case <-f.Hold:
			case <-r.Context().Done():
				return
			}
		}
		if f.Drop {
			panic(http.ErrAbortHandler)
		}
		for k, v := range f.Header {
			w.Header().Set(k, v)
		}
		if f.Status != 0 {
			s.answered(index, f.Status)
			w.WriteHeader(f.Status)
			_, _ = io.WriteString(w, f.Body)
			return
		}
		if !f.After {
			answer(r.Context())
		}
		for k, v := range whole.Header() {
			w.Header()[k] = v
		}
		s.answered(index, whole.Code)
		body := whole.Body.Bytes()
		if f.Cut == 0 {
			w.WriteHeader(whole.Code)
			_, _ = w.Write(body)
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(whole.Code)
		_, _ = w.Write(body[:max(0, min(f.Cut, len(body)-1))])
		panic(http.ErrAbortHandler)
	})
}
