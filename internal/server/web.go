package server

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// Bounds of the web server.
const (
	headerTime         = 5 * time.Second
	requestTime        = 9 * time.Second
	idleTime           = time.Minute
	defaultConnections = 512
	rejectTime         = time.Second
)

var hookPaths = map[forge.Kind]string{forge.GitHub: "/webhooks/github", forge.Gitea: "/webhooks/gitea"}

// web returns the HTTP server. It does not look at the Host header: nothing that it answers itself
// depends on it. The pages do.
func (s *Server) web() *http.Server {
	mux := http.NewServeMux()
	if path := hookPaths[s.o.Job.Settings.Forge.Value.Kind]; s.hooks != nil && path != "" {
		mux.Handle("POST "+path, s.hooks)
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if !s.mayLook(r) {
			answer(w, http.StatusForbidden, "metrics are for this machine, or for those who have the token")
			return
		}
		s.metrics.show(w)
	})
	if s.o.Pages != nil {
		mux.Handle("/", s.o.Pages)
	}
	web := &http.Server{
		Handler: mux, ReadHeaderTimeout: headerTime, ReadTimeout: requestTime,
		WriteTimeout: 2 * requestTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHookHeader,
		ErrorLog: slog.NewLogLogger(s.o.Log.Handler(), slog.LevelWarn), ConnState: s.limit(),
	}
	if s.o.Pages != nil {
		web.RegisterOnShutdown(s.o.Pages.Close)
	}
	return web
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // the client may be gone
}

// mayLook tells whether a request comes from this machine, neither through a proxy on it nor from a
// page that a browser on it shows under a name of its own, or has the token.
func (s *Server) mayLook(r *http.Request) bool {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && s.o.Token != "" {
		return subtle.ConstantTimeCompare([]byte(token), []byte(s.o.Token)) == 1
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Forwarded-") || slices.Contains(proxyHeaders, name) {
			return false
		}
	}
	return wire.IsLoopback(wire.HostOf(r.RemoteAddr)) && wire.IsLoopback(wire.HostOf(r.Host))
}

var proxyHeaders = []string{"Forwarded", "Via", "X-Real-Ip", "Cf-Connecting-Ip", "True-Client-Ip"}

type readiness struct {
	Ready    bool   `json:"ready"`
	Database string `json:"database"`
	Forge    string `json:"forge"`
	Sandbox  string `json:"sandbox"` // for information: reviews need none
	Account  string `json:"account,omitempty"`
	Repos    int    `json:"repositories"`
}

// readyFor is how long a readiness is shown: anyone who asks more often learns nothing new, and makes
// no work.
const readyFor = time.Second

// lookReady finds out whether this replica can work: its database can be written, and its token is valid.
func (s *Server) lookReady(ctx context.Context) readiness {
	ctx = context.WithoutCancel(ctx) // one who goes away must not make it fail for others
	s.readying.Lock()
	defer s.readying.Unlock()
	if now := time.Since(s.started); s.readyAt == 0 || now-s.readyAt >= readyFor {
		is := readiness{Ready: true, Database: "ok", Forge: "ok", Repos: len(s.served.All())}
		bounded, cancel := context.WithTimeout(ctx, statsTime)
		defer cancel()
		const probe = "readiness" // what a full disk or a standby refuses
		if _, err := s.o.Reviewer.Shared.Claim(bounded, probe, probe, readyFor); err != nil {
			is.Ready, is.Database = false, "failed"
			s.o.Log.Warn("the database does not take what is written", "error", err)
		}
		me, err := s.account(ctx)
		if err != nil {
			is.Ready, is.Forge = false, "failed"
			s.o.Log.Warn("the forge does not accept the token, or does not answer", "error", err)
		}
		is.Account = me.Login
		s.readyIs, s.readyAt = is, time.Since(s.started)
	}
	return s.readyIs
}

// ready answers whether this replica can work. Those who may not look at the rest see only that.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	is := s.lookReady(r.Context())
	status := http.StatusOK
	if !is.Ready {
		status = http.StatusServiceUnavailable
	}
	if !s.mayLook(r) {
		answer(w, status, map[bool]string{true: "ready", false: "not ready"}[is.Ready])
		return
	}
	is.Sandbox = "unknown"
	if s.o.Sandbox != nil {
		is.Sandbox = s.o.Sandbox()
	}
	text, _ := json.Marshal(is) // a struct of texts always has a form
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // the client may be gone
}

// hookDone counts and logs a request of a webhook. Results that anybody can cause are logged once
// a second at most.
func (s *Server) hookDone(result hookResult, event string, err error) {
	s.metrics.Webhook(string(result))
	log := s.o.Log.Warn
	switch result {
	case hookOverload, hookDown:
		log = s.o.Log.Error
	case hookUnsigned, hookMalformed, hookTooLarge, hookMediaType, hookSlow:
	default:
		s.o.Log.Debug("webhook", "result", string(result), "event", event)
		return
	}
	if s.mayLog(result) { // the metrics count all
		log("a webhook was refused", slog.String("result", string(result)), slog.String("event", event),
			slog.Any("error", err))
	}
}

// mayLog lets one message of a result pass each second.
func (s *Server) mayLog(result hookResult) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Since(s.started)
	if last, logged := s.logged[result]; logged && now-last < time.Second {
		return false
	}
	s.logged[result] = now
	return true
}

// tooMany is the answer to a connection that is one too many.
const tooMany = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: " + hookRetry +
	"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

// limit returns a hook of an HTTP server that sends connections away that are too many.
func (s *Server) limit() func(net.Conn, http.ConnState) {
	most := int64(s.o.Connections)
	if most <= 0 {
		most = defaultConnections
	}
	var open atomic.Int64
	return func(c net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			if open.Add(1) > most {
				_ = c.SetWriteDeadline(time.Now().Add(rejectTime)) // if it fails, closing is enough
				_, _ = io.WriteString(c, tooMany)
				_ = c.Close()                                                    // the server notes that it is closed
				s.hookDone(hookOverload, "", errors.New("too many connections")) // it may have been a delivery
			}
		case http.StateClosed, http.StateHijacked:
			open.Add(-1)
		}
	}
}
