package forgetest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
)

// Fault is something that goes wrong with a request.
type Fault struct {
	On    string // part of the path and query; any request if it is empty
	Times int    // to how many requests; 1 if it is 0
	// Status answers in place of the server, with Header and Body.
	Status int
	Header map[string]string
	Body   string
	// Cut breaks the connection after so many bytes of the server's own answer.
	Cut int
	// Drop breaks it before any.
	Drop bool
	// Hold answers only when it is closed, or the client is gone.
	Hold <-chan struct{}
	// Lag is how many of the newest entries the server's lists do not show yet.
	Lag int
}

// Request is one request that came.
type Request struct {
	Method string
	Path   string // and query, as sent
	Header http.Header
	Status int // of the answer; 0 if the connection was broken without one
}

// Script plans faults, and notes all requests.
type Script struct {
	mu       sync.Mutex
	faults   []Fault
	requests []Request
}

// Plan adds faults. The first one that fits a request happens to it.
func (s *Script) Plan(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range faults {
		f.Times = max(f.Times, 1)
		s.faults = append(s.faults, f)
	}
}

// Requests are those that came so far.
func (s *Script) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Left counts the faults that have not happened yet.
func (s *Script) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, f := range s.faults {
		n += f.Times
	}
	return n
}

func (s *Script) next(r *http.Request) (f Fault, index int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone()})
	for i := range s.faults {
		if s.faults[i].Times > 0 && strings.Contains(r.URL.RequestURI(), s.faults[i].On) {
			s.faults[i].Times--
			f = s.faults[i]
			break
		}
	}
	return f, len(s.requests) - 1
}

func (s *Script) answered(index, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[index].Status = status
}

type lagKey struct{}

// lag is how many of the newest entries are not to be shown.
func lag(r *http.Request) int {
	n, _ := r.Context().Value(lagKey{}).(int)
	return n
}

// wrap lets the faults happen to a server.
func (s *Script) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, index := s.next(r)
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
		whole := httptest.NewRecorder()
		next.ServeHTTP(whole, r.WithContext(context.WithValue(r.Context(), lagKey{}, f.Lag)))
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
		_, _ = w.Write(body[:min(f.Cut, len(body)-1)])
		panic(http.ErrAbortHandler)
	})
}
