package server

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/precedent-dev/precedent/internal/forge"
)

// TestReadyForOthers: somebody who asks and goes away does not make a server look as if it could not
// work, and those who ask at the same time make one look at the database and the forge.
func TestReadyForOthers(t *testing.T) {
	s := newStage(t, openSQLite(t), nil)
	var asked atomic.Int64
	s.forge.me = func(ctx context.Context) (forge.Person, error) {
		asked.Add(1)
		return forge.Person{ID: "500", Login: "precedent-bot"}, ctx.Err()
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		if w := s.get(t, "/readyz", func(r *http.Request) { *r = *r.WithContext(gone) }); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the forge was asked %d times", n)
	}
}

// TestReadyUnknown: a server is not ready before the forge has said whose token it has.
func TestReadyUnknown(t *testing.T) {
	s := newStage(t, openSQLite(t), nil)
	asking, answer := make(chan struct{}, 10), make(chan struct{})
	s.forge.me = func(context.Context) (forge.Person, error) {
		asking <- struct{}{}
		<-answer
		return forge.Person{}, &forge.Error{Kind: forge.KindAuth, Status: http.StatusUnauthorized, Msg: "bad credentials"}
	}
	learning := make(chan struct{})
	go func() {
		defer close(learning)
		_, _ = s.account(t.Context())
	}()
	<-asking
	status := make(chan int)
	go func() { status <- s.get(t, "/readyz", nil).Code }()
	<-asking
	close(answer)
	if got := <-status; got != http.StatusServiceUnavailable {
		t.Errorf("status %d", got)
	}
	<-learning
}

// TestAccountIsNotBlamed: a request for our account that was given up does not count as an answer.
func TestAccountIsNotBlamed(t *testing.T) {
	s := newStage(t, openSQLite(t), nil)
	s.forge.me = func(ctx context.Context) (forge.Person, error) {
		return forge.Person{ID: "500"}, ctx.Err()
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.account(gone); err == nil {
		t.Error("it was not given up")
	}
	if me, err := s.account(t.Context()); err != nil || me.ID != "500" {
		t.Errorf("%v, %v", me, err)
	}
}
