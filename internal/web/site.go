// Package web serves pages about what Precedent did and remembers, to the team of a server and to a
// person on their own computer.
//
// # Who may see and do what
//
// A page names one repository, and every read of it goes through the rows of that repository. Before
// that, the site asks what the person may do there: the forge answers, and the answer counts for a
// minute at most. People who may not read a repository get the same answer as for one that does not
// exist. Those who may write may change its memory. Operators, whom the configuration names, may change
// the jobs of the server; they see of a repository what the forge allows them. A reader's token reads
// all repositories and changes nothing.
//
// # How a page is made
//
// Handlers read by the functions that the commands use, build the page as a tree of nodes, which
// escapes all text, and send it with a policy that lets no script run but the site's own. Pages work
// without scripts: forms are plain forms and searches plain links. With scripts, htmx replaces parts
// of a page, and the list of running jobs follows a stream of events.
//
// # Changes
//
// A change is a POST from the same origin with the token of the session. It is written to the audit
// log before it is made, and what it led to after it.
package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

//go:embed static
var static embed.FS

// Options say what a site shows, and to whom.
type Options struct {
	Env *workspace.Env
	// DB is the database of a server. For a local user it is nil: then Local opens
	// the memory of the repository that the site is about.
	DB    *workspace.Database
	Local func(ctx context.Context) (*workspace.Workspace, error)
	// User is the name of that person.
	User string

	// Forge asks the forge of a server. Pages are the addresses of its pages.
	Forge workspace.Connection
	Jobs  *queue.Queue
	// URL is the address of the site, as browsers know it; zero for one that only this machine reaches.
	URL *url.URL
	// SignIn lets people sign in through the forge; nil if they cannot.
	SignIn *SignIn
	// ReaderToken lets its holder read everything; empty for nobody.
	ReaderToken string
	// StartToken lets the holder in once, on the local machine.
	StartToken string
	Operators  []string // logins
	// DayBudget and PullBudget limit what the reviews of a repository cost in a day, and those of a pull request, in
	// dollars; 0 for no limit.
	DayBudget, PullBudget float64
	// Health says what works and what does not.
	Health func(ctx context.Context) []Fact
	// Agents serves the memory of a repository to agents; nil for no agents.
	Agents func(repo precedent.Repo, open func(ctx context.Context) (*workspace.Workspace, error)) http.Handler

	Version string
	Log     *slog.Logger
	Now     func() time.Time
	// PageTime limits how long a page is made: then the database or the forge does not answer. 5 s if it is 0.
	PageTime time.Duration
}

// Fact is something that works, or does not.
type Fact struct {
	Name, State, Text, Hint string
}

// Site serves the pages. It is safe for concurrent use.
type Site struct {
	o      Options
	mux    *http.ServeMux
	secure bool // it has an address with https
	hosts  map[string]bool
	origin *http.CrossOriginProtection
	rates  rates
	stats  statsCache

	agentsMu sync.Mutex
	agents   map[precedent.Repo]http.Handler // servers of the protocol

	// localKey is the secret of the session on the local machine; empty until StartToken was used. localSpace is its
	// memory.
	localMu    sync.Mutex
	localKey   string
	localSpace *workspace.Workspace

	ending chan struct{}
	end    sync.Once
}

// New returns a site.
func New(o Options) *Site {
	s := &Site{o: o, mux: http.NewServeMux(), hosts: map[string]bool{}, ending: make(chan struct{})}
	s.o.PageTime = cmp.Or(o.PageTime, 5*time.Second)
	s.origin = http.NewCrossOriginProtection()
	if o.URL != nil {
		_ = s.origin.AddTrustedOrigin(o.URL.Scheme + "://" + o.URL.Host) // an address without a path always has a form
		s.secure = o.URL.Scheme == "https"
		s.hosts[strings.ToLower(o.URL.Host)] = true
	}
	s.rates.now, s.stats.now = o.Now, o.Now
	s.routes()
	return s
}

// Close ends the streams of events, so that a server can stop.
func (s *Site) Close() { s.end.Do(func() { close(s.ending) }) }

func (s *Site) routes() {
	s.mux.HandleFunc("GET /static/{name}", s.serveStatic)
	s.mux.HandleFunc("GET /signin", s.signInPage)
	s.mux.HandleFunc("POST /signin", s.signInWithToken)
	s.mux.HandleFunc("GET /signin/forge", s.toForge)
	s.mux.HandleFunc("GET /signin/callback", s.fromForge)
	s.mux.HandleFunc("GET /start", s.start)
	s.mux.Handle("POST /signout", s.change(s.signOut))
	s.agentRoutes()
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.failed(&request{w: w, r: r}, errNotFound) })

	s.mux.Handle("GET /{$}", s.page(s.timed(s.today)))
	s.mux.Handle("GET /live", s.page(s.live))
	s.mux.Handle("GET /health", s.page(s.health))
	s.mux.Handle("GET /jobs", s.page(s.timed(s.jobs)))
	s.mux.Handle("POST /jobs/{id}/{do}", s.change(s.changeJob))
	s.mux.Handle("GET /audit", s.page(s.timed(s.serverAudit)))

	const repo = "/repos/{host}/{owner}/{name}"
	read := func(path string, do func(*request) error) {
		s.mux.Handle("GET "+repo+path, s.page(s.timed(s.inRepo(do))))
	}
	write := func(path string, do func(*request) error) {
		s.mux.Handle("POST "+repo+path, s.change(s.inRepo(s.writing(do))))
	}
	read("", s.repository)
	read("/pulls/{pull}", s.pull)
	read("/reviews/{id}", s.review)
	read("/findings", s.findings)
	read("/findings/{id}", s.finding)
	write("/findings/{id}/{do}", s.changeFinding)
	read("/learnings", s.learnings)
	write("/learnings", s.addLearning)
	read("/learnings/{id}", s.learning)
	write("/learnings/{id}/{do}", s.changeLearning)
	read("/dismissals", s.dismissals)
	read("/insights", s.insights)
	write("/insights/{id}/{do}", s.changeInsight)
	read("/precedents", s.precedents)
	read("/hotspots", s.hotspots)
	read("/by/{id}", s.by)
	read("/trends", s.trends)
	read("/audit", func(q *request) error { return s.showAudit(q, q.path("/audit"), q.rows) })
}

var security = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin",
	"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	"Cache-Control":      "no-store",
	"Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

// ServeHTTP answers a request.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range security {
		w.Header().Set(name, value)
	}
	if s.secure {
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
	}
	if !s.known(r.Host) {
		s.fail(w, r, viewer{}, http.StatusMisdirectedRequest, "Unknown host name.",
			"Use the address that the operator of the server gave you.")
		return
	}
	s.mux.ServeHTTP(w, r)
}

// known tells whether a request names this site: another name may be a page that a browser was led
// to believe is here (DNS rebinding).
func (s *Site) known(host string) bool {
	if s.hosts[strings.ToLower(host)] {
		return true
	}
	return len(s.hosts) == 0 && wire.IsLoopback(wire.HostOf(host))
}

type request struct {
	w http.ResponseWriter
	r *http.Request
	v viewer
	// The repository that the page is about, what the person may do there, and its memory; set by inRepo.
	repo  precedent.Repo
	may   forge.Permission
	space *workspace.Workspace
	rows  *store.Repo
}

func (q *request) ctx() context.Context { return q.r.Context() }

func (s *Site) timed(do func(*request) error) func(*request) error {
	return func(q *request) error {
		asked := q.r
		ctx, cancel := context.WithTimeout(asked.Context(), s.o.PageTime)
		defer cancel()
		q.r = asked.WithContext(ctx)
		err := do(q)
		q.r = asked
		if err != nil && ctx.Err() != nil && asked.Context().Err() == nil {
			err = errSlow
		}
		return err
	}
}

// errors of handlers, which page answers.
var (
	errNotFound = errors.New("not found")
	errNotYours = errors.New("not allowed")
	errSlow     = errors.New("the page took too long")
)

// requestError is a mistake of the request, for the person.
type requestError string

func (b requestError) Error() string { return string(b) }

// page answers a request of somebody who is signed in.
func (s *Site) page(do func(*request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := &request{w: w, r: r}
		err := s.timed(func(q *request) (err error) { //nolint:contextcheck // the request has its own
			q.v, err = s.viewer(q.r)
			return err
		})(q)
		if err != nil {
			s.failed(q, err)
			return
		}
		if !q.v.in() {
			s.askToSignIn(w, r)
			return
		}
		if !s.rates.pass("page "+q.v.key(), pageRate) {
			s.fail(w, r, q.v, http.StatusTooManyRequests, "Too many requests.",
				"Wait for some seconds, then load the page again.")
			return
		}
		if err := do(q); err != nil {
			s.failed(q, err)
		}
	})
}

// maxForm limits what a form sends, in bytes.
const maxForm = 64 << 10

func (s *Site) change(do func(*request) error) http.Handler {
	return s.origin.Handler(s.page(s.timed(func(q *request) error {
		q.r.Body = http.MaxBytesReader(q.w, q.r.Body, maxForm)
		if err := q.r.ParseForm(); err != nil {
			return requestError("The form is too large or malformed.")
		}
		if !sameSecret(q.r.PostFormValue("csrf"), q.v.csrf()) {
			return requestError("This page has expired. Reload it and try again.")
		}
		return do(q)
	})))
}

func (s *Site) inRepo(do func(*request) error) func(*request) error {
	return func(q *request) (err error) {
		if q.repo, err = repoOf(q.r); err != nil {
			return err
		}
		if q.may, err = s.permission(q.ctx(), q.v, q.repo); err != nil {
			return err
		}
		if q.may == forge.None {
			return errNotFound
		}
		var closeSpace func()
		if q.space, closeSpace, err = s.openSpace(q.ctx(), q.repo); err != nil {
			return err
		}
		defer closeSpace()
		q.rows = q.space.Memory.Rows
		return do(q)
	}
}

// writing lets only those change the memory of a repository who may write there.
func (s *Site) writing(do func(*request) error) func(*request) error {
	return func(q *request) error {
		if !q.mayWrite() {
			return errNotYours
		}
		if q.v.local { // the first change makes the memory
			if err := s.o.Env.KeepMemory(q.ctx(), q.space); err != nil {
				return err
			}
			q.rows = q.space.Memory.Rows
			s.localMu.Lock()
			s.localSpace = q.space
			s.localMu.Unlock()
		}
		return do(q)
	}
}

func (q *request) mayWrite() bool { return q.may.MayWrite() }

func (s *Site) openSpace(ctx context.Context, repo precedent.Repo) (*workspace.Workspace, func(), error) {
	if s.o.DB != nil {
		has, err := s.o.DB.Has(ctx, repo)
		if err != nil {
			return nil, nil, err
		}
		if !has {
			return nil, nil, errNotFound
		}
		w, err := s.o.Env.SharedWorkspace(ctx, repo)
		if err != nil {
			return nil, nil, err
		}
		return w, w.Close, nil
	}
	w, err := s.openLocal(ctx)
	if err == nil && w.IDs[0] != repo {
		err = errNotFound
	}
	return w, func() {}, err
}

// openLocal returns the local memory. It is opened again when a review has made the file.
func (s *Site) openLocal(ctx context.Context) (*workspace.Workspace, error) {
	s.localMu.Lock()
	defer s.localMu.Unlock()
	if w := s.localSpace; w != nil {
		if _, err := os.Lstat(w.File.Value); err != nil || w.Memory.DB.Kept() {
			m := *w.Memory // another process may have joined its rows with others
			return &workspace.Workspace{Repository: w.Repository, Memory: &m}, m.Open(ctx)
		}
	}
	w, err := s.o.Local(context.WithoutCancel(ctx)) // others use it, too
	if err != nil {
		return nil, err
	}
	s.localSpace = w
	return w, nil
}

func repoOf(r *http.Request) (precedent.Repo, error) {
	repo := precedent.Repo{Host: r.PathValue("host"), Owner: r.PathValue("owner"), Name: r.PathValue("name")}
	if repo.Host == "" || repo.Owner == "" || repo.Name == "" {
		return repo, errNotFound
	}
	return repo, nil
}

// number is the number that a path has, from 1.
func (q *request) number(name string) (int, error) {
	n, err := strconv.Atoi(q.r.PathValue(name))
	if err != nil || n < 1 {
		return 0, errNotFound
	}
	return n, nil
}

func (s *Site) failed(q *request, err error) {
	var bad requestError
	var said *memory.Error
	status, title, hint := http.StatusInternalServerError, "Internal error.",
		"See the log of the server."
	switch {
	case q.ctx().Err() != nil: // nobody waits any more
		return
	case errors.Is(err, errNotFound), errors.Is(err, memory.ErrUnknownID), errors.Is(err, store.ErrNoReview),
		errors.Is(err, queue.ErrUnknown):
		status, title, hint = http.StatusNotFound, "Page not found.",
			"It may be gone, or you may not be allowed to see it."
	case errors.Is(err, errNotYours):
		status, title, hint = http.StatusForbidden, "You are not allowed to do that.",
			"It takes write permission on the repository or, for jobs, the role of an operator."
	case errors.As(err, &bad):
		status, title, hint = http.StatusBadRequest, string(bad), "Go back to change it."
	case errors.As(err, &said):
		status, title, hint = http.StatusUnprocessableEntity, said.Msg, said.Hint
	case errors.Is(err, store.ErrUnreachable), errors.Is(err, store.ErrBusy), errors.Is(err, errSlow):
		status, title, hint = http.StatusServiceUnavailable, "The database does not answer in time.",
			"Load the page again in a minute."
	}
	if status >= http.StatusInternalServerError {
		s.o.Log.Error("a page failed", "event", q.r.Pattern, "error", err)
	}
	s.fail(q.w, q.r, q.v, status, title, hint)
}

// fail answers with a page that says what is wrong. It names no repository, because there may be none.
func (s *Site) fail(w http.ResponseWriter, r *http.Request, v viewer, status int, title, hint string) {
	s.show(&request{w: w, r: r, v: v}, status, title, "", g.If(hint != "", h.P(g.Text(hint))))
}

// openForever is how long a browser may keep a static file: its address changes with its content.
const openForever = "public, max-age=31536000, immutable"

func (s *Site) serveStatic(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	data, err := static.ReadFile("static/" + name)
	if err != nil {
		s.fail(w, r, viewer{}, http.StatusNotFound, "Page not found.", "")
		return
	}
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	if strings.HasSuffix(name, ".css") {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
	}
	if r.URL.Query().Get("v") == knownVersions()[name] {
		w.Header().Set("Cache-Control", openForever)
	}
	_, _ = w.Write(data) //nolint:gosec // our own file; the client may be gone
}

func newSecret() string { return rand.Text() }

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}
