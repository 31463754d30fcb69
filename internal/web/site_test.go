package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// TestWhoSeesWhat: each page answers those only who may read its repository, as if it did not exist to
// others, and no page of another repository or of the server has a word of it.
func TestWhoSeesWhat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	mine, theirs := w.fill(open, "zebra"), w.fill(closed, "walrus")
	w.fail(closed, "walrus")
	for who, sees := range map[string]struct{ open, closed, jobs int }{
		"wanda": {200, 200, 403}, "rita": {200, 404, 403}, "oskar": {200, 404, 200}, "sam": {404, 404, 403},
		"reader": {200, 200, 403},
	} {
		b := w.signedIn(who)
		for repo, paths := range map[precedent.Repo][]string{open: mine.paths(open), closed: theirs.paths(closed)} {
			want := map[precedent.Repo]int{open: sees.open, closed: sees.closed}[repo]
			for _, path := range paths {
				status, page := b.get(path)
				if status != want {
					t.Errorf("%s: %s answers %d, want %d", who, path, status, want)
				}
				if repo == open || want == http.StatusNotFound {
					if strings.Contains(page, "walrus") {
						t.Errorf("%s: %s has words of a repository that it may not show", who, path)
					}
				}
			}
		}
		for _, path := range serverPaths {
			status, page := b.get(path)
			want := http.StatusOK
			if path == "/jobs" || path == "/audit" {
				want = sees.jobs
			}
			if status != want {
				t.Errorf("%s: %s answers %d, want %d", who, path, status, want)
			}
			if sees.closed == http.StatusNotFound && who != "oskar" &&
				(strings.Contains(page, "walrus") || strings.Contains(page, closed.Name)) {
				t.Errorf("%s: %s names a repository that the person may not read: %s", who, path, page)
			}
		}
	}
	for _, path := range append(append(mine.paths(open), serverPaths...),
		repoPath(precedent.Repo{Host: "a", Owner: "b", Name: "c"})) {
		if _, page := w.browser().get(path); !strings.Contains(page, "Sign in") || strings.Contains(page, "zebra") {
			t.Errorf("without a session, %s shows %s", path, page)
		}
	}
	// What may not be read and what does not exist look alike.
	b := w.signedIn("sam")
	_, hidden := b.get(repoPath(closed) + "/learnings")
	_, missing := b.get("/repos/git.example.org/team/nothing/learnings")
	if strings.ReplaceAll(hidden, "closed", "nothing") != missing {
		t.Errorf("a repository that may not be read shows\n%s\none that does not exist\n%s", hidden, missing)
	}
	// Who takes a former name on the forge does not get what is remembered about the repository that had it.
	now := precedent.Repo{Host: closed.Host, Owner: "team-now", Name: "closed"}
	needs.NoError(t, w.db.Follow(t.Context(), precedent.NumberedRepo(now.Host, "7"), now, closed))
	w.forge.set("sam", closed, forge.Admin)
	w.forge.set("wanda", closed, forge.None)
	w.forge.set("wanda", now, forge.Write)
	for _, repo := range []precedent.Repo{closed, now} {
		if status, page := b.get(repoPath(repo)); status != http.StatusNotFound || strings.Contains(page, "walrus") {
			t.Errorf("who has taken the former name sees %s: %d", repo, status)
		}
		if status, _ := w.signedIn("wanda").get(repoPath(repo)); status != http.StatusOK {
			t.Errorf("under %s, who may read it sees %d", repo, status)
		}
	}
	if _, page := b.get("/"); strings.Contains(page, "closed") {
		t.Error("the first page names it to who has taken its former name")
	}
	// A permission that is taken away counts at once here: the client of the forge remembers it for a minute.
	rita := w.signedIn("rita")
	w.forge.set("rita", open, forge.None)
	if status, _ := rita.get(repoPath(open)); status != http.StatusNotFound {
		t.Errorf("after the permission was taken away: %d", status)
	}
}

// TestChanges: each change on a page is made for those only who may, and has a row in the audit log with who, what,
// before and after.
func TestChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	is := w.fill(open, "zebra")
	at := repoPath(open)
	job := fmt.Sprintf("/jobs/%d/", w.fail(open, "the engine is gone"))
	learning := url.Values{
		"directive": {"Ask for a benchmark of every loop over users"}, "rationale": {"It was slow"},
		"kind": {"do"}, "scope": {"repository"}, "glob": {"src"}, "category": {""},
	}
	for _, c := range []struct {
		who, path      string
		form           url.Values
		action         string
		before, after  string
		page, contains string
	}{
		{
			"wanda", at + "/findings/" + is.shown + "/dismiss",
			url.Values{"reason": {"We always do it so"}},
			"dismiss",
			"not dismissed", "dismissed by wanda: We always do it so", at + "/dismissals", "We always do it so",
		},
		{
			"wanda", at + "/findings/" + is.shown + "/restore", nil, "restore", "dismissed by wanda: We always do it so",
			"not dismissed", at + "/findings/" + is.shown, "Shown by the last review",
		},
		{
			"wanda", at + "/learnings/" + is.pending + "/approve", nil, "approve learning", "pending do", "active do",
			at + "/learnings?state=active", "Name the caller zebra",
		},
		{
			"wanda", at + "/learnings/" + is.pending + "/edit", learning, "edit learning", "Name the caller",
			"Ask for a benchmark", at + "/learnings/" + is.pending, "Ask for a benchmark",
		},
		{
			"wanda", at + "/learnings/" + is.pending + "/forget", nil, "forget learning", "active do", "forgotten",
			at + "/learnings?state=forgotten", "Ask for a benchmark",
		},
		{
			"wanda", at + "/learnings", learning, "add learning", "", "active do", at + "/learnings?state=active",
			"Ask for a benchmark",
		},
		{
			"wanda", at + "/insights/" + is.insight + "/dismiss", nil, "dismiss insight", "", "dismissed",
			at + "/insights", "Restore",
		},
		{
			"wanda", at + "/insights/" + is.insight + "/restore", nil, "restore insight", "", "", at + "/insights",
			"Dismiss",
		},
		{"oskar", job + "retry", nil, "retry job", "dead", "ready", "/jobs", "the engine is gone"},
		{"oskar", job + "cancel", nil, "cancel job", "ready", "cancelled", "/jobs", "cancelled, "},
	} {
		for _, other := range []string{"rita", "sam", "reader"} {
			if status, page := w.signedIn(other).submit(c.path, c.form); status != http.StatusForbidden &&
				status != http.StatusNotFound {
				t.Errorf("%s by %s: %d %s", c.path, other, status, page)
			}
		}
		b := w.signedIn(c.who)
		if status, _ := b.post(c.path, c.form); status != http.StatusBadRequest {
			t.Errorf("%s without the token of the session: %d", c.path, status)
		}
		foreign, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.http.URL+c.path,
			strings.NewReader(c.form.Encode()))
		needs.NoError(t, err)
		foreign.Header.Set("Origin", "https://evil.example")
		foreign.Header.Set("Sec-Fetch-Site", "cross-site")
		if status, _ := b.do(foreign); status != http.StatusForbidden {
			t.Errorf("%s from another site: %d", c.path, status)
		}
		if status, page := b.submit(c.path, c.form); status != http.StatusOK {
			t.Fatalf("%s: %d %s", c.path, status, page)
		}
		if _, page := b.get(c.page); !strings.Contains(page, c.contains) {
			t.Errorf("after %s, %s does not have %q: %s", c.path, c.page, c.contains, page)
		}
		row := w.newest(strings.HasPrefix(c.path, "/jobs"))
		if row.Who != c.who || row.Action != c.action || !strings.Contains(row.Before, c.before) ||
			!strings.Contains(row.After, c.after) || row.After == "" {
			t.Errorf("%s is in the audit log as %+v", c.path, row)
		}
	}
	// What was refused is there, too, and nothing was saved.
	b := w.signedIn("wanda")
	if status, page := b.submit(at+"/learnings", url.Values{
		"directive": {"x"}, "kind": {"nonsense"}, "scope": {"repository"},
	}); status != http.StatusBadRequest || !strings.Contains(page, "not saved") {
		t.Errorf("a learning of no kind: %d %s", status, page)
	}
	if row := w.newest(false); !strings.HasPrefix(row.After, "failed: ") {
		t.Errorf("a refused change is in the audit log as %+v", row)
	}
	var exported []store.AuditRow
	if _, page := b.get(at + "/audit?format=json"); json.Unmarshal([]byte(page), &exported) != nil ||
		len(exported) < 9 {
		t.Errorf("the exported audit log: %s", page)
	}
}

// newest is the last row of the audit log.
func (w *world) newest(server bool) store.AuditRow {
	w.t.Helper()
	rows := needs.Value(w.db.RepoFor(w.t.Context(), open))(w.t)
	if server {
		rows = w.db.Server()
	}
	all, err := rows.Audit(w.t.Context(), 1)
	if err != nil || len(all) == 0 {
		w.t.Fatal(all, err)
	}
	return all[0]
}

// hostile are texts of people who want a script to run.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><svg/onload=alert(1)>`,
	`</textarea><script>alert(1)</script>`, `</title><script>alert(1)</script>`, `javascript:alert(1)`,
	`<a href="javascript:alert(1)">x</a>`, "\u202e\u2066<b>\u200b", `<iframe srcdoc="<script>alert(1)</script>">`,
	"x\x00\x1b[31m<base href=//evil>", `{{constructor.constructor('alert(1)')()}}`,
	`" hx-get="https://evil.example" hx-trigger="load`, `<meta http-equiv=refresh content=0;url=//evil>`,
	`data: x` + "\n\nevent: now\ndata: <script>alert(1)</script>",
}

// TestHostileTexts: no text that others wrote becomes markup, a script or an address, wherever it is
// shown (T23).
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	for i, mark := range hostile {
		repo := precedent.Repo{Host: open.Host, Owner: open.Owner, Name: fmt.Sprintf("hostile%d", i)}
		w.forge.set("wanda", repo, forge.Write)
		is := w.fill(repo, mark)
		w.fail(repo, mark)
		b := w.signedIn("wanda")
		for _, path := range append(is.paths(repo), append(serverPaths,
			repoPath(repo)+"/precedents?q="+url.QueryEscape(mark), "/signin?to="+url.QueryEscape(mark))...) {
			status, page := b.get(path)
			if status >= http.StatusInternalServerError {
				t.Fatalf("%q: %s answers %d", mark, path, status)
			}
			if strings.HasSuffix(path, "format=json") {
				continue
			}
			checkInert(t, fmt.Sprintf("%q: %s", mark, path), page)
		}
	}
}

// checkInert fails for scripts that are not the site's own, handlers, styles and addresses elsewhere.
func checkInert(t *testing.T, where, page string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(where, err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for _, a := range n.Attr {
			switch {
			case n.Data == "script" && (a.Key != "src" || !strings.HasPrefix(a.Val, "/static/")) && a.Key != "defer",
				strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "srcdoc", a.Key == "http-equiv",
				strings.HasPrefix(a.Key, "hx-") && strings.Contains(a.Val, "evil"),
				slices.Contains([]string{"href", "src", "action", "formaction"}, a.Key) &&
					!strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#") &&
					!strings.HasPrefix(a.Val, "https://git.example.org/") &&
					!strings.HasPrefix(a.Val, "http://127.0.0.1:"):
				t.Errorf("%s has <%s %s=%q>", where, n.Data, a.Key, a.Val)
			}
		}
		if slices.Contains([]string{"iframe", "object", "embed", "base", "img", "style"}, n.Data) ||
			n.Data == "script" && n.FirstChild != nil {
			t.Errorf("%s has <%s>", where, n.Data)
		}
	}
}

// TestSignIn: only who comes back from the forge with what this browser was given is let in.
func TestSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.fill(open, "zebra")
	w.forge.who = "wanda"
	b := w.browser()
	// The page that was asked for comes after the sign-in.
	if _, page := b.get("/signin/forge?to=" + url.QueryEscape(repoPath(open)+"/learnings?state=active")); !strings.Contains(page, "Close files zebra") {
		t.Errorf("after the sign-in: %s", page)
	}
	for _, to := range []string{
		"https://evil.example/", "//evil.example", `/\evil.example`, "javascript:alert(1)", "/\t/evil.example",
	} {
		if got := ownPath(to); got != "/" {
			t.Errorf("after a sign-in, %q leads to %q", to, got)
		}
	}
	stranger := w.browser()
	stranger.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, path := range []string{
		"/signin/callback?code=x&state=y", "/signin/callback", "/signin/callback?error=access_denied",
	} {
		if status, _ := stranger.get(path); status != http.StatusForbidden {
			t.Errorf("%s without a sign-in that began: %d", path, status)
		}
	}
	stranger.get("/signin/forge") // begins
	if status, _ := stranger.get("/signin/callback?code=stolen&state=guessed"); status != http.StatusForbidden {
		t.Errorf("with another state: %d", status)
	}
	if status, page := w.browser().post("/signin", url.Values{"token": {"guessed"}}); status != http.StatusForbidden {
		t.Errorf("a guessed token: %d %s", status, page)
	}
	refused := 0
	for range 3 * signInRate.burst {
		if status, _ := w.browser().post("/signin",
			url.Values{"token": {"guessed"}}); status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused < signInRate.burst {
		t.Errorf("%d of %d guesses were refused for their number", refused, 3*signInRate.burst)
	}
	// A session ends when it is signed out, and after a week.
	again := w.signedIn("rita")
	if status, page := again.submit("/signout", nil); status != http.StatusOK || !strings.Contains(page, "signed out") {
		t.Errorf("sign out: %d %s", status, page)
	}
	if _, page := again.get("/"); !strings.Contains(page, "Sign in with") {
		t.Error("the session goes on after it was signed out")
	}
	w.pass(sessionLife)
	if _, page := b.get("/"); !strings.Contains(page, "Sign in with") {
		t.Error("the session goes on after a week")
	}
	if log := w.log.String(); strings.Contains(log, "a secret of the application") ||
		strings.Contains(log, "a token for readers") {
		t.Errorf("a secret is in the log: %s", log)
	}
}

// TestHeaders: every answer forbids scripts of others, frames and caches, and a name that is not the
// site's gets nothing.
func TestHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	for _, path := range []string{"/", "/signin", "/nothing", "/static/style.css", "/repos/a/b/c", "/mcp/a/b/c"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.http.URL+path, nil)
		needs.NoError(t, err)
		answer, err := http.DefaultClient.Do(r)
		needs.NoError(t, err)
		answer.Body.Close()
		for name, want := range security {
			if got := answer.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		r.Host = "rebound.example"
		if answer, err = http.DefaultClient.Do(r); err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusMisdirectedRequest {
			t.Errorf("%s with another host: %d", path, answer.StatusCode)
		}
	}
}

// TestDatabaseDown: pages answer 503, without a panic and without what the database said (fault row 62).
func TestDatabaseDown(t *testing.T) {
	t.Parallel()
	server := needs.SharedPostgreSQL(t) // no other test of this package uses it
	w := newWorld(t, server.Database(t))
	is := w.fill(open, "zebra")
	b := w.signedIn("wanda")
	server.Stop(t, true)
	for _, path := range []string{"/", "/jobs", is.paths(open)[3]} {
		status, page := b.get(path)
		if status != http.StatusServiceUnavailable || !strings.Contains(page, "database does not answer") ||
			strings.Contains(page, "dial") {
			t.Errorf("%s answers %d: %s", path, status, page)
		}
	}
	server.Start(t)
	if status, _ := b.get(repoPath(open)); status != http.StatusOK {
		t.Errorf("after the database came back: %d", status)
	}
}

// TestLive: the stream sends the first page when something changes there, and ends with the site.
func TestLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.fill(open, "zebra")
	b := w.signedIn("wanda")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.http.URL+"/live", nil)
	needs.NoError(t, err)
	answer, err := b.client.Do(r)
	needs.NoError(t, err)
	defer answer.Body.Close()
	var got bytes.Buffer
	until := func(text string) {
		t.Helper()
		part := make([]byte, 4<<10)
		for !strings.Contains(got.String(), text) {
			n, err := answer.Body.Read(part)
			got.Write(part[:n])
			if err != nil {
				t.Fatalf("the stream ended before %q: %s", text, got.String())
			}
		}
	}
	asks := func() int {
		w.forge.mu.Lock()
		defer w.forge.mu.Unlock()
		return w.forge.asked
	}
	until("Nothing runs.")
	before := asks()
	w.fail(open, "the engine is gone")
	until("the engine is gone")
	if n := asks() - before; n != 0 {
		t.Errorf("the stream asked the forge %d times within a minute", n)
	}
	w.forge.set("wanda", open, forge.None) // and a minute later it does not send what the person may not read any more
	w.pass(liveAsks)
	got.Reset()
	w.fill(open, "walrus")
	until("No repository that you may read")
	if strings.Contains(got.String(), open.Name) {
		t.Error("the stream shows a repository that the person may not read any more")
	}
	w.site.Close()
	part := make([]byte, 64<<10)
	for err == nil {
		_, err = answer.Body.Read(part)
	}
}
