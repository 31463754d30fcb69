package llmtest

import (
	"net/http"
	"slices"

	"github.com/precedent-dev/precedent"
)

// Exchange is a request and its result.
type Exchange struct {
	Request Request
	// Arrived and Answered are places in the order of all arrivals and first bytes on the server, from 0.
	// Answered is -1 before the first byte, and for an error.
	Arrived, Answered int
	Status            int             // 0 before the answer
	Usage             precedent.Usage // of an answer that is not an error
}

// arrive records a request and determines which part of its prompt is in the cache now.
func (s *Server) arrive(r Request, p prompt) (Request, precedent.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.N = len(s.exchanges)
	s.exchanges = append(s.exchanges, Exchange{Request: r, Arrived: s.clock, Answered: -1})
	s.clock++
	return r, s.cache.look(p)
}

// begin records the first byte of an answer: from now on others can read from
// the cache what the request has written to it.
func (s *Server) begin(n int, p prompt, u precedent.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &s.exchanges[n]
	e.Answered, e.Status, e.Usage = s.clock, http.StatusOK, u
	s.clock++
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

// Totals sum up the exchanges.
type Totals struct {
	// Input is all input tokens of the answers; Cached and Written are those of
	// them that were read from the cache and written to it.
	Input, Cached, Written int
	// BeforeFirstByte is how many requests had arrived when the first byte of the first answer was sent.
	BeforeFirstByte int
}

// ReadShare is the share of the input that was read from the cache, 0 to 1.
func (t Totals) ReadShare() float64 {
	if t.Input == 0 {
		return 0
	}
	return float64(t.Cached) / float64(t.Input)
}

// Billed is the input in tokens at the base price: cache reads count 0.1 and writes
// 1.25, as in Anthropic's price list.
func (t Totals) Billed() float64 {
	return float64(t.Input-t.Cached-t.Written) + 0.1*float64(t.Cached) + 1.25*float64(t.Written)
}

// Totals sums up the exchanges so far.
func (s *Server) Totals() Totals {
	var t Totals
	first := -1
	all := s.Exchanges()
	for _, e := range all {
		t.Input += e.Usage.InputTokens
		t.Cached += e.Usage.CachedTokens
		t.Written += e.Usage.CacheWriteTokens
		if e.Answered >= 0 && (first < 0 || e.Answered < first) {
			first = e.Answered
		}
	}
	for _, e := range all {
		if first < 0 || e.Arrived < first {
			t.BeforeFirstByte++
		}
	}
	return t
}
