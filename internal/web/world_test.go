package web

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/mcp"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

var (
	start  = time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	open   = precedent.Repo{Host: "git.example.org", Owner: "team", Name: "open"}
	closed = precedent.Repo{Host: "git.example.org", Owner: "team", Name: "closed"}
)

// people is a forge that knows what people may do. Its OAuth signs in the account that a test names.
type people struct {
	forge.Forge
	site *httptest.Server

	mu     sync.Mutex
	may    map[string]forge.Permission // by login and repository
	ids    map[string]int64            // accounts, by login
	who    string                      // who answers the question of the forge
	codes  map[string]string           // challenges, by code
	tokens map[string]string           // logins, by token
	asked  int                         // permissions
}

func newPeople(t *testing.T) *people {
	p := &people{
		may: map[string]forge.Permission{
			"wanda " + open.String(): forge.Write, "wanda " + closed.String(): forge.Write,
			"rita " + open.String(): forge.Read, "oskar " + open.String(): forge.Read,
		},
		ids: map[string]int64{"wanda": 1, "rita": 2, "oskar": 3, "sam": 4}, codes: map[string]string{},
		tokens: map[string]string{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login/oauth/authorize", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		q, code := r.URL.Query(), newSecret()
		p.codes[code] = p.who + " " + q.Get("code_challenge")
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(),
			http.StatusFound)
	})
	mux.HandleFunc("POST /login/oauth/access_token", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		who, challenge, _ := strings.Cut(p.codes[r.PostFormValue("code")], " ")
		delete(p.codes, r.PostFormValue("code"))
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		if r.PostFormValue("client_secret") != "a secret of the application" ||
			base64.RawURLEncoding.EncodeToString(sum[:]) != challenge {
			http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
			return
		}
		token := newSecret()
		p.tokens[token] = who
		writeJSON(w, http.StatusOK, map[string]string{"access_token": token, "token_type": "bearer"})
	})
	mux.HandleFunc("GET /api/v1/user", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		who := p.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		writeJSON(w, http.StatusOK, map[string]any{"id": p.ids[who], "login": who})
	})
	p.site = httptest.NewServer(mux)
	t.Cleanup(p.site.Close)
	return p
}

func (p *people) Pages() forge.Pages {
	web, _ := url.Parse(p.site.URL)
	return forge.Pages{Web: web, Pull: "pulls"}
}

func (p *people) Quota() forge.Quota { return forge.Quota{Limit: 5000, Left: 4321, Reset: start} }

func (p *people) Permission(_ context.Context, repo precedent.Repo, who forge.Person) (forge.Permission, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	if got, ok := p.may[who.Login+" "+repo.String()]; ok {
		return got, nil
	}
	return forge.None, nil
}

func (p *people) set(login string, repo precedent.Repo, may forge.Permission) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.may[login+" "+repo.String()] = may
}

// world is a server's site with two repositories.
type world struct {
	t     *testing.T
	db    *store.DB
	env   *workspace.Env
	forge *people
	site  *Site
	http  *httptest.Server
	log   strings.Builder
	mu    sync.Mutex
	now   time.Time
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// newWorld makes a site. A dead job is in its queue.
func newWorld(t *testing.T, database string) *world {
	t.Helper()
	w := &world{t: t, forge: newPeople(t), now: start}
	var err error
	if database == "" {
		w.db, err = store.Open(t.Context(), filepath.Join(t.TempDir(), "server.db"), store.Options{Now: w.clock})
	} else {
		w.db, err = store.OpenURL(t.Context(), database, store.Options{Now: w.clock, After: func(d time.Duration) <-chan time.Time {
			return time.After(min(d, time.Second)) // it gives up soon
		}})
	}
	needs.NoError(t, err)
	log := slog.New(slog.NewTextHandler(&w.log, nil))
	w.env = &workspace.Env{Now: w.clock, Log: log, Shared: w.db}
	jobs := needs.Value(w.env.OpenJobs(t.Context(), w.db))(t)
	w.http = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.site.ServeHTTP(rw, r)
	}))
	address, _ := url.Parse(w.http.URL)
	in, err := NewSignIn(forge.Gitea, w.forge.Pages(), "an application", "a secret of the application", address,
		http.DefaultClient)
	needs.NoError(t, err)
	w.site = New(Options{
		Env: w.env, DB: w.db, Forge: workspace.Connection{Forge: w.forge}, Jobs: jobs, URL: address, SignIn: in,
		ReaderToken: "a token for readers", Operators: []string{"Oskar"}, Version: "v1.2.3", Log: log, Now: w.clock, PageTime: time.Hour,
		Health: func(context.Context) []Fact { return []Fact{{"sandbox", "ok", "bubblewrap", ""}} },
		Agents: func(_ precedent.Repo, open func(context.Context) (*workspace.Workspace, error)) http.Handler {
			return mcp.New(open, mcp.Options{Version: "v1.2.3"}).Handler()
		},
	})
	t.Cleanup(func() {
		w.site.Close()
		w.http.Close()
		_ = jobs.Stop(context.Background())
		_ = w.db.Close()
	})
	return w
}

// fail puts a dead letter into the queue, and returns its id.
func (w *world) fail(repo precedent.Repo, why string) int64 {
	w.t.Helper()
	q, err := queue.Open(w.t.Context(), w.db, queue.Options{
		Now: w.clock, Replica: "failing", Do: func(context.Context, *queue.Run) error {
			return queue.Never(fmt.Errorf("%s", why))
		},
	})
	needs.NoError(w.t, err)
	needs.NoError(w.t, q.Want(w.t.Context(), queue.Task{Kind: queue.Review, Repo: repo, Pull: 7, Head: "c0ffee", Reason: why}))
	needs.NoError(w.t, q.Start(w.t.Context()))
	for {
		dead := needs.Value(q.List(w.t.Context(), queue.Filter{States: []queue.State{queue.Dead}, Repo: repo}))(w.t)
		if len(dead) > 0 {
			needs.NoError(w.t, q.Stop(context.Background()))
			return dead[0].ID
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// filled names what fill made.
type filled struct {
	review, shown, hidden, pending, active, insight, dismissal string
}

// remember opens the memory of a repository until the test ends.
func (w *world) remember(repo precedent.Repo) (*workspace.Workspace, *store.Repo) {
	w.t.Helper()
	space := needs.Value(w.env.SharedWorkspace(w.t.Context(), repo))(w.t)
	w.t.Cleanup(space.Close)
	return space, space.Memory.Rows
}

// foundIn is a finding of a model in a line of a file.
func foundIn(repo precedent.Repo, path string, line int, title, quote, body string) precedent.Finding {
	f := precedent.Finding{
		Finder: "general", Category: precedent.Bugs, Severity: precedent.High, Confidence: 80, Title: title, Body: body,
		Quote: quote, Placement: precedent.Inline, Votes: 1, Verifier: precedent.Confirmed,
		Span:     precedent.Span{Path: path, Side: precedent.Right, Start: line, End: line},
		Evidence: []precedent.Evidence{{Path: path, Line: line, Quote: quote}},
		Trail: []precedent.Decision{
			{Step: "find", Text: "found by general and security"},
			{Step: "verify", Text: "confirmed: the caller ignores the result", Delta: 9},
		},
	}
	f.Fingerprint = precedent.Fingerprint(fmt.Sprint(path, line), f.Category, 0)
	f.ID = precedent.FindingID(repo, f.Fingerprint)
	return f
}

// reviewOf is a review of a pull request by a model.
func reviewOf(repo precedent.Repo, id string, pull int, at time.Time, findings ...precedent.Finding) *precedent.Review {
	return &precedent.Review{
		Schema: precedent.ResultSchema, ID: id, Repo: repo, PullRequest: &pull, Base: "5d1f0a77c2", Head: "9c3b7a1e55",
		Scope: precedent.FullScope, Verdict: precedent.Findings, Threshold: 75, ThresholdFrom: "the policy", Findings: findings,
		At: at, Coverage: precedent.Coverage{Files: 6, Hunks: 14, HunksRead: 14}, CostUSD: 0.31, TookMS: 41_300,
		Finders: []precedent.FinderRun{{
			Name: "general", Model: "claude-sonnet-5-5", Status: precedent.StatusOK, Found: 4, CostUSD: 0.22,
			TookMS: 24_100, Usage: precedent.Usage{InputTokens: 38_420, OutputTokens: 2_310},
		}},
	}
}

// fill gives a repository a memory in which every text contains a mark.
func (w *world) fill(repo precedent.Repo, mark string) (is filled) {
	w.t.Helper()
	ctx := w.t.Context()
	space, rows := w.remember(repo)
	teach := func(directive string, mayWrite bool) precedent.Learning {
		c, err := space.Memory.Propose(ctx, memory.Proposal{
			Kind: precedent.LearnDo, Directive: directive,
			Rationale: mark, From: precedent.LearningSource{
				By: precedent.FromComment, Who: mark, MayWrite: mayWrite,
				Words: directive, URL: "javascript:alert('" + mark + "')", PullRequest: 7,
			},
		})
		needs.NoError(w.t, err)
		if c.Refused != "" {
			w.t.Fatal(c.Refused)
		}
		return c.Learning
	}
	active, pending := teach("Close files "+mark, true), teach("Name the caller "+mark, false)
	finding := func(n int, path string) precedent.Finding {
		f := foundIn(repo, path, n, fmt.Sprintf("Finding %d %s", n, mark), mark, mark)
		f.Suggestion, f.Rule, f.Symbol = mark, mark, mark
		f.Cites = []precedent.Cite{{Kind: "precedent", ID: "x", Text: mark, URL: "javascript:alert(1)//" + mark}}
		f.Trail = []precedent.Decision{
			{Step: "find", Text: "found by " + mark},
			{Step: "score", Text: mark, Delta: 7, By: active.ID},
		}
		return f
	}
	shown, hidden := finding(3, "src/"+mark+".go"), finding(9, "src/"+mark+".go")
	hidden.Dropped, hidden.DroppedBy, hidden.DroppedWhy, hidden.Placement = precedent.ByLearning, active.ID,
		"a learning says so: "+mark, precedent.Hidden
	r := reviewOf(repo, "01990000-0000-7000-8000-"+shown.Fingerprint[:12], 7, start.Add(-time.Hour), shown, hidden)
	r.Base, r.Head, r.ThresholdFrom = "ba5e", "c0ffee00c0ffee", mark
	r.Finders[0].Model, r.Finders[0].Error = mark, mark
	r.Failures = []precedent.Failure{{Step: "memory", Error: mark}}
	needs.NoError(w.t, rows.SaveReview(ctx, r))
	thread := precedent.Thread{
		ID: "t" + shown.ID, PullRequest: 7, Review: r.ID, Finding: shown.ID, Fingerprint: shown.Fingerprint,
		Title: mark, State: precedent.ThreadOpen, OpenedAt: start,
		URL:      "https://git.example.org/" + url.PathEscape(mark),
		Messages: []precedent.Message{{Who: mark, Body: precedent.Untrusted(mark), At: start}},
		Category: precedent.Bugs, Severity: precedent.High,
	}
	needs.NoError(w.t, rows.SaveThreads(ctx, []precedent.Thread{thread}))
	needs.NoError(w.t, rows.SaveOutcomes(ctx, []precedent.Outcome{{
		Thread: thread.ID, Finding: shown.ID, Fingerprint: shown.Fingerprint, PullRequest: 7, Title: mark,
		Category: precedent.Bugs, Severity: precedent.High, Confidence: 80, Finder: mark, Kind: precedent.Accepted,
		Proof: mark, Who: mark, Words: mark, MayWrite: true, At: start.Add(-time.Minute),
	}}))
	j, err := space.Memory.Dismiss(ctx, hidden.ID, memory.Dismissal{Reason: mark, Who: mark})
	needs.NoError(w.t, err)
	turn := needs.Value(rows.BeginConsolidation(ctx, "test", time.Hour))(w.t)
	insight := precedent.Insight{
		ID: precedent.InsightID(shown.Fingerprint), State: precedent.InsightActive, Text: mark,
		Scope: mark, Category: precedent.Bugs, Citations: []string{shown.ID}, UpdatedAt: start,
	}
	if turn {
		_, err = rows.EndConsolidation(ctx, "test", []precedent.Insight{insight}, false)
		needs.NoError(w.t, err)
	}
	needs.NoError(w.t, rows.SaveWatched(ctx, []store.WatchedPull{{
		Pull: 7, Head: "c0ffee", Title: mark, Labels: []string{mark, "bot-changes-needed"}, Updated: start,
	}}, nil))
	comment, err := json.Marshal(map[string]any{
		"id": 11, "user": map[string]any{"id": 5, "login": "ada", "type": "User"}, "path": "a.go", "line": 3,
		"side": "RIGHT", "commit_id": "c0ffee", "diff_hunk": "@@ -1 +1 @@\n+x",
		"body":       "Please wrap this error with its operation, so that callers can tell them apart. " + mark,
		"created_at": start, "updated_at": start, "html_url": "https://git.example.org/team/open/pulls/3#c11",
		"pull_request_url": "https://git.example.org/repos/" + repo.Owner + "/" + repo.Name + "/pulls/3",
		"pr_title":         mark,
	})
	needs.NoError(w.t, err)
	_, err = w.env.ImportCorpus(ctx, space, "comments.jsonl", strings.NewReader(string(comment)+"\n"), nil)
	needs.NoError(w.t, err)
	end, err := rows.AddAudit(ctx, store.AuditRow{At: start, Who: mark, Action: mark, Subject: mark, Before: mark})
	needs.NoError(w.t, err)
	needs.NoError(w.t, end(ctx, mark))
	return filled{r.ID, shown.ID, hidden.ID, pending.ID, active.ID, insight.ID, j.ID}
}

// paths are the pages of a repository.
func (is *filled) paths(repo precedent.Repo) []string {
	at := repoPath(repo)
	return []string{
		at, at + "/pulls/7", at + "/reviews/" + is.review, at + "/findings", at + "/findings?path=src",
		at + "/findings/" + is.shown, at + "/findings/" + is.hidden, at + "/learnings", at + "/learnings?state=active",
		at + "/learnings/" + is.active, at + "/learnings/" + is.pending, at + "/dismissals", at + "/insights",
		at + "/precedents", at + "/precedents?q=wrap+the+error+with+its+operation", at + "/hotspots", at + "/trends",
		at + "/trends?threshold=82", at + "/audit", at + "/audit?format=json", at + "/by/" + is.active,
	}
}

// serverPaths are the pages of the server.
var serverPaths = []string{"/", "/health", "/jobs", "/audit", "/agents"}

// browser is a person's, without scripts.
type browser struct {
	w      *world
	client *http.Client
}

func (w *world) browser() *browser {
	jar, _ := cookiejar.New(nil)
	return &browser{w, &http.Client{Jar: jar}}
}

// signedIn is the browser of a person who signed in through the forge; "reader" has the reader's token.
func (w *world) signedIn(login string) *browser {
	w.t.Helper()
	w.pass(signInRate.every)
	b := w.browser()
	if login == "reader" {
		if status, _ := b.post("/signin", url.Values{
			"token": {"a token for readers"},
			"to":    {"/"},
		}); status != http.StatusOK {
			w.t.Fatalf("the reader's token: %d", status)
		}
		return b
	}
	w.forge.mu.Lock()
	w.forge.who = login
	w.forge.mu.Unlock()
	if status, page := b.get("/signin/forge"); status != http.StatusOK || !strings.Contains(page, "Sign out") {
		w.t.Fatalf("sign in as %s: %d %s", login, status, page)
	}
	return b
}

func (b *browser) do(r *http.Request) (status int, page string) {
	b.w.t.Helper()
	b.w.pass(pageRate.every)
	answer, err := b.client.Do(r)
	needs.NoError(b.w.t, err)
	defer answer.Body.Close()
	body := needs.Value(io.ReadAll(answer.Body))(b.w.t)
	return answer.StatusCode, string(body)
}

func (b *browser) get(path string) (status int, page string) {
	b.w.t.Helper()
	r := needs.Value(http.NewRequestWithContext(b.w.t.Context(), http.MethodGet, b.w.http.URL+path, nil))(b.w.t)
	return b.do(r)
}

func (b *browser) post(path string, form url.Values) (status int, page string) {
	b.w.t.Helper()
	r, err := http.NewRequestWithContext(b.w.t.Context(), http.MethodPost, b.w.http.URL+path,
		strings.NewReader(form.Encode()))
	needs.NoError(b.w.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", b.w.http.URL)
	return b.do(r)
}

var csrfField = regexp.MustCompile(`name="csrf" value="([0-9a-f]+)"`)

// submit sends a form with the token of the session.
func (b *browser) submit(path string, form url.Values) (status int, page string) {
	b.w.t.Helper()
	_, first := b.get("/")
	token := csrfField.FindStringSubmatch(first)
	if token == nil {
		b.w.t.Fatalf("no form in %s", first)
	}
	if form == nil {
		form = url.Values{}
	}
	form.Set("csrf", token[1])
	return b.post(path, form)
}
