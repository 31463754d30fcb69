package llmtest

import (
	"slices"

	"github.com/precedent-dev/precedent"
)

// Exchange is a request and what its answer is said to have used, nothing before it begins and for an error.
type Exchange struct {
	Request Request
	Usage   precedent.Usage
}

// arrive records a request and determines which part of its prompt is in the cache now.
func (s *Server) arrive(r Request, p prompt) (Request, precedent.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.N = len(s.exchanges)
	s.exchanges = append(s.exchanges, Exchange{Request: r})
	return r, s.cache.look(p)
}

// begin records the first byte of an answer: from now on others can read from
// the cache what the request has written to it.
func (s *Server) begin(n int, p prompt, u precedent.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exchanges[n].Usage = u
	s.cache.keep(p)
}

// Exchanges returns the exchanges so far, in the order of arrival.
func (s *Server) Exchanges() []Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.exchanges)
}

// Requests returns the requests so far, in the order of arrival.
func (s *Server) Requests() []Request {
	var all []Request
	for _, e := range s.Exchanges() {
		all = append(all, e.Request)
	}
	return all
}
