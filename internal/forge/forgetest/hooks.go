package forgetest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // forges still send it beside SHA-256
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
)

// Hook is a webhook: it sends signed events to an address when something happens in the world,
// one after the other, and never again by itself.
type Hook struct {
	ID      int64
	Address string
	Secret  string
	// Repo limits it to the events of one repository; nil for all, as the webhook of an app.
	Repo *Repo

	t      testing.TB
	render func(happening) (event, kind string, body any)
	header func(h *Hook, d *Delivery) http.Header
	client *http.Client

	mu      sync.Mutex
	changed *sync.Cond
	queue   []*Delivery
	sent    []*Delivery // also failed ones
	lastID  int64
	closed  bool
}

// Delivery is an event that a Hook sent.
type Delivery struct {
	ID          int64
	GUID        string
	Event, Kind string // the forge's coarse and fine names
	Action      string
	Body        []byte
	Status      int // of the answer; 0 if there was none
}

// happening is something that happened, for webhooks.
type happening struct {
	kind, action  string // in the words of GitHub
	repo          *Repo
	pull          *Pull // nil for those about a commit
	by            forge.Person
	label         string
	reviewer      forge.Person
	comment       forge.Comment
	check         Check
	status        Status
	branch        string
	before, after string
}

// newHook adds a webhook to the world and sends its events until the test ends.
func (s *Stage) newHook(t testing.TB, address, secret string, timeout time.Duration, id int64) *Hook {
	h := &Hook{
		ID: id, Address: address, Secret: secret, t: t, lastID: id * 1_000_000,
		client: &http.Client{Timeout: timeout, Transport: &http.Transport{}},
	}
	h.changed = sync.NewCond(&h.mu)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.sendAll()
	}()
	t.Cleanup(func() {
		h.mu.Lock()
		h.closed = true
		h.changed.Broadcast()
		h.mu.Unlock()
		<-ended
		h.client.CloseIdleConnections()
	})
	return h
}

// happen queues an event for each webhook. Call it under Change.
func (w *World) happen(e happening) {
	if len(w.hooks) == 0 {
		return
	}
	if e.repo == nil {
		e.repo = w.home(e.pull)
	}
	for _, h := range w.hooks {
		if h.Repo != nil && h.Repo != e.repo || e.repo == nil {
			continue
		}
		event, kind, body := h.render(e)
		if event == "" {
			continue
		}
		payload, err := json.Marshal(body)
		if err != nil {
			h.t.Errorf("write payload: %v", err)
		}
		h.add(&Delivery{
			GUID: fmt.Sprintf("00000000-0000-4000-8000-%012x", w.next()), Event: event, Kind: kind,
			Action: e.action, Body: payload,
		})
	}
}

func (h *Hook) add(d *Delivery) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastID++
	d.ID = h.lastID
	h.queue = append(h.queue, d)
	h.changed.Broadcast()
}

// Wait waits until everything that happened was sent, and returns all deliveries.
func (h *Hook) Wait() []Delivery {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.queue) > 0 && !h.closed {
		h.changed.Wait()
	}
	var all []Delivery
	for _, d := range h.sent {
		all = append(all, *d)
	}
	return all
}

// sendAll sends what is queued, in order.
func (h *Hook) sendAll() {
	for {
		h.mu.Lock()
		for len(h.queue) == 0 && !h.closed {
			h.changed.Wait()
		}
		if h.closed {
			h.mu.Unlock()
			return
		}
		d := *h.queue[0]
		h.mu.Unlock()
		h.send(&d)
		h.mu.Lock()
		h.sent, h.queue = append(h.sent, &d), h.queue[1:]
		h.changed.Broadcast()
		h.mu.Unlock()
	}
}

func (h *Hook) send(d *Delivery) {
	req, err := http.NewRequest(http.MethodPost, h.Address, bytes.NewReader(d.Body)) //nolint:noctx // the client has a time-out
	if err != nil {
		h.t.Errorf("webhook: %v", err)
		return
	}
	req.Header = h.header(h, d)
	req.Header.Set("Content-Type", "application/json")
	resp, err := h.client.Do(req)
	if err != nil {
		return
	}
	_ = resp.Body.Close()
	d.Status = resp.StatusCode
}

// Sign returns the hex HMAC of a body.
func sign(with func() hash.Hash, secret string, body []byte) string {
	m := hmac.New(with, []byte(secret))
	m.Write(body)
	return hex.EncodeToString(m.Sum(nil))
}

// The time-outs of deliveries: GitHub's documentation, and Gitea's DELIVER_TIMEOUT.
const (
	githubHookTimeout = 10 * time.Second
	giteaHookTimeout  = 5 * time.Second
)

// Hook sends the events of a repository to an address, or those of all repositories, as the
// webhook of the app, if it is nil.
func (g *GitHub) Hook(address, secret string, of *Repo) *Hook {
	g.t.Helper()
	var id int64
	g.stage.World.Change(func() { id = g.stage.World.next() - firstID })
	h := g.stage.newHook(g.t, address, secret, githubHookTimeout, id)
	h.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	h.Repo, h.render, h.header = of, g.payload, githubHeader
	g.stage.World.Change(func() { g.stage.World.hooks = append(g.stage.World.hooks, h) })
	return h
}

func githubHeader(h *Hook, d *Delivery) http.Header {
	target := "integration"
	if h.Repo != nil {
		target = "repository"
	}
	return http.Header{
		"User-Agent": {"GitHub-Hookshot/044aadd"}, "X-Github-Event": {d.Event}, "X-Github-Delivery": {d.GUID},
		"X-Github-Hook-Id": {strconv.FormatInt(h.ID, 10)}, "X-Github-Hook-Installation-Target-Type": {target},
		"X-Hub-Signature":     {"sha1=" + sign(sha1.New, h.Secret, d.Body)},
		"X-Hub-Signature-256": {"sha256=" + sign(sha256.New, h.Secret, d.Body)},
	}
}

// Hook sends the events of a repository to an address, or those of all, as a webhook of the
// server, if it is nil.
func (g *Gitea) Hook(address, secret string, of *Repo) *Hook {
	g.t.Helper()
	var id int64
	g.stage.World.Change(func() { id = g.stage.World.next() - firstID })
	h := g.stage.newHook(g.t, address, secret, giteaHookTimeout, id)
	h.Repo, h.render, h.header = of, g.payload, giteaHeader
	if g.Kind == Forgejo {
		h.header = forgejoHeader
	}
	g.stage.World.Change(func() { g.stage.World.hooks = append(g.stage.World.hooks, h) })
	return h
}

func giteaHeader(h *Hook, d *Delivery) http.Header {
	out := http.Header{"User-Agent": {"Go-http-client/1.1"}}
	for _, of := range []string{"Github", "Gitea", "Gogs"} {
		out.Set("X-"+of+"-Delivery", d.GUID)
		out.Set("X-"+of+"-Event", d.Event)
		out.Set("X-"+of+"-Event-Type", d.Kind)
	}
	sum := sign(sha256.New, h.Secret, d.Body)
	out.Set("X-Gitea-Signature", sum)
	out.Set("X-Gogs-Signature", sum)
	out.Set("X-Hub-Signature", "sha1="+sign(sha1.New, h.Secret, d.Body))
	out.Set("X-Hub-Signature-256", "sha256="+sum)
	return out
}

// forgejoHeader has the names of Forgejo, too.
func forgejoHeader(h *Hook, d *Delivery) http.Header {
	out := giteaHeader(h, d)
	out.Set("X-Forgejo-Delivery", d.GUID)
	out.Set("X-Forgejo-Event", d.Event)
	out.Set("X-Forgejo-Event-Type", d.Kind)
	out.Set("X-Forgejo-Signature", out.Get("X-Gitea-Signature"))
	return out
}
