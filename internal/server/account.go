package server

import (
	"context"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
)

// How long what the forge said of our account is believed.
const (
	accountFor  = 10 * time.Minute
	accountTime = 10 * time.Second // of the request
	accountWait = 30 * time.Second // after one that failed
)

// account returns our account on the forge, asked for not long ago.
func (s *Server) account(ctx context.Context) (forge.Person, error) {
	s.mu.Lock()
	now := time.Since(s.started)
	valid := accountFor
	if s.meErr != nil {
		valid = accountWait
	}
	if known := s.me.ID != "" || s.meErr != nil; known && s.asked > 0 && now-s.asked < valid {
		defer s.mu.Unlock()
		return s.me, s.meErr
	}
	s.asked = now // others use what is known until the forge has answered
	s.mu.Unlock()
	limited, cancel := context.WithTimeout(ctx, accountTime)
	defer cancel()
	me, err := s.o.Connection.Me(limited)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.me = me // the last known one stays otherwise
	}
	s.meErr = err
	return s.me, err
}

// ownID is the id of our account; empty if it is not known yet. Then our own events make jobs that
// find nothing to do.
func (s *Server) ownID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.me.ID)
}

// learnAccount asks for our account until the forge has told it, or the context ends.
func (s *Server) learnAccount(ctx context.Context) {
	for wait := accountWait; ; wait = min(2*wait, accountFor) {
		if me, _ := s.account(ctx); me.ID != "" || s.o.Sleep(ctx, wait) != nil {
			return
		}
	}
}
