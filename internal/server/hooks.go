package server

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/queue"
)

// Bounds of webhooks. GitHub gives up after 10 seconds ("Handling webhook deliveries").
const (
	hookTime      = 8500 * time.Millisecond // from the first byte to the answer
	hookReadTime  = 5 * time.Second         // for the body
	maxHooks      = 256                     // requests in flight
	maxHookBytes  = 64 << 20                // of all bodies in memory
	hookPart      = 64 << 10                // bytes that are read at a time
	hookRetry     = "10"                    // seconds, for those who are sent away
	maxHookHeader = 16 << 10                // bytes
)

// hookResult is what became of a request; a label of a metric.
type hookResult string

const (
	hookAccepted  hookResult = "accepted"
	hookDuplicate hookResult = "duplicate"
	hookIgnored   hookResult = "ignored"   // an event that makes no work
	hookOwn       hookResult = "own"       // caused by our own account
	hookNotServed hookResult = "notserved" // of another repository
	hookUnsigned  hookResult = "unsigned"
	hookMalformed hookResult = "malformed"
	hookTooLarge  hookResult = "toolarge"
	hookMediaType hookResult = "mediatype"
	hookSlow      hookResult = "slow" // the body did not come
	hookOverload  hookResult = "overload"
	hookDown      hookResult = "unavailable" // it could not be stored
)

// hookStatus is the HTTP status of each result. Those that are missing have 202.
var hookStatus = map[hookResult]int{
	hookUnsigned: http.StatusUnauthorized, hookMalformed: http.StatusBadRequest,
	hookTooLarge: http.StatusRequestEntityTooLarge, hookMediaType: http.StatusUnsupportedMediaType,
	hookSlow:     http.StatusRequestTimeout,
	hookOverload: http.StatusServiceUnavailable, hookDown: http.StatusServiceUnavailable,
}

// hooks takes webhooks. It answers 2xx only after the delivery and its jobs are stored.
type hooks struct {
	*Server
	limit    time.Duration // hookTime
	inFlight chan struct{}
	bytes    atomic.Int64
}

func (h *hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	result, event, err := h.serve(w, r)
	status := cmp.Or(hookStatus[result], http.StatusAccepted)
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", hookRetry)
	}
	said := string(result)
	if result == hookMediaType {
		said += ": set the content type of the webhook to application/json"
	}
	answer(w, status, said)
	h.hookDone(result, event, err)
}

func (h *hooks) serve(w http.ResponseWriter, r *http.Request) (hookResult, string, error) {
	select {
	case h.inFlight <- struct{}{}:
		defer func() { <-h.inFlight }()
	default:
		return hookOverload, "", nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), h.limit)
	defer cancel()
	// Who has no signature at all sends nothing that is read.
	if _, err := h.o.Connection.VerifyHook(r.Header, nil, nil); errors.Is(err, forge.ErrUnsigned) {
		return hookUnsigned, "", err
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" ||
		r.Header.Get("Content-Encoding") != "" {
		return hookMediaType, "", nil
	}
	if r.ContentLength > forge.MaxEvent {
		return hookTooLarge, "", nil
	}
	// where it is not supported, the server's applies
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(hookReadTime))
	body, result, release := h.read(w, r)
	defer release()
	if result != "" {
		return result, "", nil
	}
	header, err := h.o.Connection.VerifyHook(r.Header, body, h.o.Secrets)
	switch {
	case errors.Is(err, forge.ErrNoHookEvent):
		return hookMalformed, "", err
	case err != nil:
		return hookUnsigned, "", err
	}
	e, err := h.o.Connection.ReadEvent(header.Event, body)
	if err != nil {
		return hookMalformed, header.Event, err
	}
	return h.store(ctx, header, e)
}

// read reads a body that fits into the memory that all requests share. release gives it back.
func (h *hooks) read(w http.ResponseWriter, r *http.Request) (body []byte, wrong hookResult, release func()) {
	taken := int64(0)
	release = func() { h.bytes.Add(-taken) }
	from := http.MaxBytesReader(w, r.Body, forge.MaxEvent)
	for {
		if len(body) == cap(body) {
			grow := max(hookPart, min(int64(cap(body)), forge.MaxEvent+1-int64(cap(body))))
			taken += grow
			if h.bytes.Add(grow) > maxHookBytes {
				return nil, hookOverload, release
			}
			body = append(make([]byte, 0, int64(cap(body))+grow), body...)
		}
		n, err := from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		var large *http.MaxBytesError
		switch {
		case errors.Is(err, io.EOF):
			return body, "", release
		case errors.As(err, &large):
			return nil, hookTooLarge, release
		case err != nil:
			return nil, hookSlow, release
		}
	}
}

func (h *hooks) store(ctx context.Context, header forge.HookHeader, e forge.Event) (hookResult, string, error) {
	name := header.Event
	if e.Kind == forge.NoEvent {
		return hookIgnored, name, nil
	}
	if e.Kind == forge.InstallationEvent {
		h.served.Reread()
		return hookAccepted, name, nil
	}
	repo, is, known := h.served.Find(e.Repo)
	if known && !is && h.served.MayBeNew(e.Repo) && h.breaker.Wait("") == 0 {
		if err := h.served.Refresh(ctx); err != nil {
			h.o.Log.Warn("the repositories could not be listed", "error", err)
		}
		repo, is, known = h.served.Find(e.Repo)
	}
	switch {
	case !known:
		return hookDown, name, errors.New("the repositories are not known yet")
	case !is:
		return hookNotServed, name, nil
	case e.Kind == forge.RunEvent && e.Check == forge.CheckName:
		return hookOwn, name, nil
	// CI runs in the name of who pushed, as we do
	case e.Kind != forge.RunEvent && e.Sender.ID != "" && string(e.Sender.ID) == h.ownID():
		return hookOwn, name, nil
	}
	e.Repo = repo
	work := tasks(e)
	if len(work) == 0 {
		return hookIgnored, name, nil
	}
	fresh, err := h.queue.Accept(ctx, queue.Delivery{Forge: repo.Host, ID: header.ID, Event: name}, work)
	switch {
	case err != nil:
		return hookDown, name, err
	case !fresh:
		return hookDuplicate, name, nil
	}
	if len(e.Comments) > 0 {
		h.noteComments(e)
	}
	return hookAccepted, name, nil
}
