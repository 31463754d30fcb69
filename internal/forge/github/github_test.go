package github

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/needs"
)

func TestConformance(t *testing.T) {
	forgetest.Run(t, func(t *testing.T, s *forgetest.Stage) forge.Forge { return client(t, s, s.GitHub(t)) })
}

// client reads a scripted server, in no time.
func client(t testing.TB, s *forgetest.Stage, g *forgetest.GitHub) *Client {
	t.Helper()
	return clientWith(t, s, g, func(*Options) {})
}

// clientWith is a client like that, with something about it changed.
func clientWith(t testing.TB, s *forgetest.Stage, g *forgetest.GitHub, change func(*Options)) *Client {
	t.Helper()
	token := needs.Value(wire.NewToken(forgetest.Secret))(t)
	o := Options{
		BaseURL: g.URL, Token: token,
		Network: wire.Network{
			Now: s.Clock.Now, Sleep: s.Clock.Sleep, Rand: func(n time.Duration) time.Duration { return n / 2 },
		},
	}
	change(&o)
	c := needs.Value(New(o))(t)
	return c
}

// trouble is the error of a forge; the zero one if it is none.
func trouble(err error) forge.Error {
	if e, ok := errors.AsType[*forge.Error](err); ok {
		return *e
	}
	return forge.Error{}
}

// open is a stage with Shop, its server and a client.
func open(t testing.TB) (*forgetest.Stage, *forgetest.GitHub, *Client, precedent.Repo) {
	t.Helper()
	s := forgetest.NewStage(t)
	s.World.Add(forgetest.Shop())
	g := s.GitHub(t)
	c := client(t, s, g)
	return s, g, c, precedent.Repo{Host: c.Host(), Owner: "acme", Name: "shop"}
}

// TestTokenGoesNowhere looks for the token in every place where it does not
// belong, while servers are broken, repeat what they were sent, and redirect.
func TestTokenGoesNowhere(t *testing.T) {
	var elsewhere []http.Header
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		elsewhere = append(elsewhere, r.Header)
	}))
	defer other.Close()
	echoes := []string{
		"bad token " + forgetest.Secret, "bad token " + forgetest.Secret[9:20],
		"x" + hex.EncodeToString([]byte(forgetest.Secret)),
		base64.StdEncoding.EncodeToString([]byte("x-access-token:" + forgetest.Secret)),
		base64.URLEncoding.EncodeToString([]byte("ab" + forgetest.Secret)),
		strings.ToUpper(hex.EncodeToString([]byte(forgetest.Secret))),
	}
	faults := []forgetest.Fault{
		{Drop: true, Times: 5},
		{Cut: 30, Times: 5},
		{Status: 200, Body: forgetest.Secret},
		{Status: 200, Body: `{"number":"` + forgetest.Secret + `"}`},
		{Status: 302, Header: map[string]string{"Location": other.URL + "/" + forgetest.Secret}},
		{Status: 302, Header: map[string]string{"Location": other.URL + "/api/v3/repos/acme/shop/pulls/1"}},
		{Status: 307, Header: map[string]string{"Location": strings.Replace(other.URL, "127.0.0.1", "localhost", 1) +
			"/api/v3/x"}},
		{Status: 302, Header: map[string]string{"Location": "http://[::1" + forgetest.Secret}},
		{Status: 101},
		{Status: 304},
		{Status: 403, Header: map[string]string{"X-GitHub-SSO": "required; url=https://x/?t=" + forgetest.Secret}},
	}
	for _, status := range []int{400, 401, 403, 404, 406, 410, 422, 429, 451} {
		for _, e := range echoes {
			faults = append(faults, forgetest.Fault{Status: status, Body: fmt.Sprintf(`{"message":%q}`, e)})
		}
	}
	var out strings.Builder
	for _, f := range faults {
		s, _, c, repo := open(t)
		s.Script.Plan(f)
		_, read := c.PullRequest(t.Context(), repo, 1)
		s.Script.Plan(f)
		_, written := c.Comment(t.Context(), repo, 1, forgetest.Secret)
		for _, err := range []error{read, written} {
			if err == nil && f.Status != 429 { // which is waited for
				t.Errorf("no error from %+v", f)
			}
			fmt.Fprintf(&out, "%v %+v %#v %+v\n", err, err, err, trouble(err))
		}
		for _, r := range s.Script.Requests() {
			if r.Header.Get("Authorization") != "Bearer "+forgetest.Secret {
				t.Errorf("%s came without the token", r.Path)
			}
			r.Header.Del("Authorization")
			fmt.Fprintf(&out, "%s %s %v\n", r.Method, r.Path, r.Header)
		}
	}
	if shows(out.String()) {
		t.Errorf("the token is in\n%s", out.String())
	}
	if len(elsewhere) != 0 {
		t.Errorf("another host was asked: %v", elsewhere)
	}
}

// shows is the test's own way to find the token: not by the code under test.
func shows(text string) bool {
	flat := strings.NewReplacer("-", "+", "_", "/").Replace(text)
	for i := 0; i+8 <= len(forgetest.Secret); i++ {
		s := forgetest.Secret[i : i+8]
		if strings.Contains(text, s) || strings.Contains(strings.ToLower(text), hex.EncodeToString([]byte(s))) {
			return true
		}
		for _, before := range []string{"", "_", "__"} {
			coded := base64.StdEncoding.EncodeToString([]byte(before + s))
			// without the characters that depend on what is around the window
			if strings.Contains(flat, coded[[]int{0, 2, 3}[len(before)]:][:9]) {
				return true
			}
		}
	}
	return false
}

// TestCommentsOfAReviewAreOfItsTime: before a review is submitted, only its author sees its comments, so that earlier edits
// do not count.
func TestCommentsOfAReviewAreOfItsTime(t *testing.T) {
	s, _, c, repo := open(t)
	const user = `"user": {"id": 7, "login": "ann"}, "body": "Why?"`
	s.Script.Plan(forgetest.Fault{On: "/issues/1/comments", Status: 200, Body: "[]"})
	s.Script.Plan(forgetest.Fault{On: "/pulls/1/reviews", Status: 200, Body: `[{"id": 5, "submitted_at": "2025-01-02T10:10:00Z", ` + user + `}]`})
	s.Script.Plan(forgetest.Fault{On: "/pulls/1/comments", Status: 200, Body: `[
		{"id": 8, "pull_request_review_id": 5, "path": "a.go", "line": 1, "original_commit_id": "` + strings.Repeat("a", 40) + `",
			"created_at": "2025-01-02T10:00:00Z", "updated_at": "2025-01-02T10:06:00Z", ` + user + `},
		{"id": 9, "pull_request_review_id": 5, "path": "a.go", "line": 1, "original_commit_id": "` + strings.Repeat("a", 40) + `",
			"created_at": "2025-01-02T10:00:00Z", "updated_at": "2025-01-02T10:12:00Z", ` + user + `}]`})
	all := needs.Value(c.Comments(t.Context(), repo, 1))(t)
	var got []string
	for _, m := range all {
		if m.Kind == forge.OnLine {
			got = append(got, m.At.Format(time.TimeOnly)+" "+m.Edited.Format(time.TimeOnly))
		}
	}
	needs.Equal(t, []string{"10:10:00 10:10:00", "10:10:00 10:12:00"}, got)
}

// TestAddresses: the token goes to the operator's forge, and never in the clear.
func TestAddresses(t *testing.T) {
	for _, test := range []struct{ base, api, graphql, host string }{
		{"", "https://api.github.com/", "https://api.github.com/graphql", "github.com"},
		{"https://api.acme.ghe.com/", "https://api.acme.ghe.com/", "https://api.acme.ghe.com/graphql", "acme.ghe.com"},
		{
			"https://Git.Acme.example/api/v3/", "https://Git.Acme.example/api/v3/", "https://Git.Acme.example/api/graphql",
			"git.acme.example",
		},
		{"http://localhost:3000", "http://localhost:3000/api/v3/", "http://localhost:3000/api/graphql", "localhost:3000"},
		{"https://user:" + forgetest.Secret + "@git.acme.example", "", "", ""},
		{"https://git.acme.example/elsewhere", "", "", ""},
	} {
		c, err := New(Options{BaseURL: test.base})
		if test.api == "" {
			if err == nil || shows(err.Error()) {
				t.Errorf("%s: %v", test.base, err)
			}
			continue
		}
		if err != nil || c.Home() != test.api || c.graphql != test.graphql || c.Host() != test.host ||
			!strings.EqualFold(c.Pages().Web.Host, test.host) {
			t.Errorf("%s: %v, %+v", test.base, err, c)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
