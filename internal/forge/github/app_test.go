package github

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// appKey is made once: it takes a while.
var appKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// appPEM is the key in the form in which GitHub gives it.
func appPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(appKey())})
}

var precedentApp = forgetest.App{ID: 77, ClientID: "Iv23abc", Slug: "acme-reviews", Installation: 9}

// appClient is a client of an app that the server lets in, for reviews.
func appClient(t *testing.T, s *forgetest.Stage, g *forgetest.GitHub) *Client {
	t.Helper()
	c := serverClient(t, s, g, nil)
	c.tokens.app.server = false
	return c
}

// TestAppOfARenamedRepository: GitHub gives no token by a former name, so that the present one is looked up.
func TestAppOfARenamedRepository(t *testing.T) {
	s, g, _, _ := open(t)
	c := appClient(t, s, g)
	former := precedent.Repo{Host: c.Host(), Owner: "acme", Name: "stall"}
	for range 2 {
		p, err := c.PullRequest(t.Context(), former, 1)
		if needs.NoError(t, err); p.Base.Repo.Name != "shop" {
			t.Errorf("%+v", p.Base)
		}
	}
	needs.Equal(t, 2, g.Issued())
}

// TestAppResolves: an App resolves conversations if its token may write contents, and else says that.
func TestAppResolves(t *testing.T) {
	for contents, want := range map[string]string{"read": "contents: write", "write": ""} {
		s, g, _, repo := open(t)
		p := shop(s).Pulls[1]
		talk(s, p, 1)
		c := serverClient(t, s, g, map[string]string{
			"contents": contents, "pull_requests": "write", "issues": "write", "metadata": "read",
		})
		all := needs.Value(c.Threads(t.Context(), repo, 1))(t)
		no, err := c.Resolve(t.Context(), repo, 1, all[len(all)-1], true)
		if err != nil || (no == "") != (want == "") || !strings.Contains(string(no), want) {
			t.Errorf("contents: %s: %q, %v", contents, no, err)
		}
	}
}

// TestAppSignsForItself: what the app itself is asked for is signed by its key,
// from a minute ago to nine minutes from now.
func TestAppSignsForItself(t *testing.T) {
	pkcs8 := needs.Value(x509.MarshalPKCS8PrivateKey(appKey()))(t)
	for _, key := range [][]byte{appPEM(), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})} {
		app := needs.Value(NewApp(" 77\n", key))(t)
		signed := needs.Value(app.sign(forgetest.Epoch))(t)
		var claims jwt.RegisteredClaims
		_, err := jwt.ParseWithClaims(signed.Reveal(), &claims, func(*jwt.Token) (any, error) {
			return &appKey().PublicKey, nil
		},
			jwt.WithValidMethods([]string{"RS256"}), jwt.WithTimeFunc(func() time.Time { return forgetest.Epoch }))
		if err != nil || claims.Issuer != "77" || !claims.IssuedAt.Equal(forgetest.Epoch.Add(-time.Minute)) ||
			!claims.ExpiresAt.Equal(forgetest.Epoch.Add(9*time.Minute)) {
			t.Errorf("%v, %+v", err, claims)
		}
		if said := fmt.Sprintf("%v %+v %#v %s", app, *app, Options{App: app}, signed); strings.Contains(said,
			appKey().D.String()[:20]) || strings.Contains(said, "eyJ") {
			t.Errorf("the key shows in %s", said)
		}
	}
	for _, bad := range []struct {
		id  string
		key []byte
	}{{"", appPEM()}, {"77", []byte("-----BEGIN SECRET")}, {"77", nil}} {
		if _, err := NewApp(bad.id, bad.key); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%q: %v", bad.id, err)
		}
	}
}

// paths are what was asked for, without the repository and the query.
func paths(s *forgetest.Stage) []string {
	var all []string
	for _, r := range s.Script.Requests() {
		path, _, _ := strings.Cut(strings.TrimPrefix(r.Path, "/api/v3"), "?")
		all = append(all, r.Method+" "+strings.TrimPrefix(path, "/repos/acme/shop"))
	}
	return all
}

// TestTokensOfInstallations are made when they are needed, kept, and made anew five minutes before their end.
func TestTokensOfInstallations(t *testing.T) {
	s, g, _, repo := open(t)
	c := appClient(t, s, g)
	read := func() {
		t.Helper()
		needs.Value(c.PullRequest(t.Context(), repo, 1))(t)
	}
	read()
	read()
	want := []string{"GET /installation", "POST /app/installations/9/access_tokens", "GET /pulls/1", "GET /pulls/1"}
	needs.Equal(t, want, paths(s))
	first, err := c.GitToken(t.Context(), repo)
	if err != nil || !strings.HasPrefix(first, "ghs_") || g.Issued() != 1 {
		t.Errorf("%v, %d tokens", err, g.Issued())
	}
	s.Clock.Pass(55*time.Minute - time.Second)
	if read(); g.Issued() != 1 {
		t.Errorf("%d tokens 5 minutes and a second before the end", g.Issued())
	}
	s.Clock.Pass(time.Second)
	if read(); g.Issued() != 2 {
		t.Errorf("%d tokens 5 minutes before the end", g.Issued())
	}
	if second, err := c.GitToken(t.Context(), repo); err != nil || second == first {
		t.Errorf("%v", err)
	}
	// Refused before its time: once anew, for what reads and for what writes.
	s.Script.Plan(forgetest.Fault{On: "/comments", Status: 401, Body: `{"message":"Bad credentials"}`})
	if _, err := c.Comment(t.Context(), repo, 1, "hello"); err != nil || g.Issued() != 3 {
		t.Errorf("%v, %d tokens", err, g.Issued())
	}
	s.Script.Plan(forgetest.Fault{On: "/pulls/1", Status: 401, Body: `{"message":"Bad credentials"}`, Times: 5})
	_, err = c.PullRequest(t.Context(), repo, 1)
	if e := trouble(err); e.Kind != forge.KindAuth || g.Issued() != 4 || s.Script.Left() != 3 {
		t.Errorf("%v, %d tokens", err, g.Issued())
	}
	for _, r := range s.Script.Requests() {
		if a := r.Header.Get("Authorization"); strings.HasSuffix(r.Path, "/installation") != strings.HasPrefix(a, "Bearer eyJ") &&
			!strings.Contains(r.Path, "access_tokens") {
			t.Errorf("%s came with %.12s", r.Path, a)
		}
	}
}

// TestAppTroubles: what can be wrong with an app is said as such.
func TestAppTroubles(t *testing.T) {
	for name, test := range map[string]struct {
		on     string
		status int
		body   string
		want   forge.ErrorKind
		says   string
	}{
		"not installed":  {"/installation", 404, `{"message":"Not Found"}`, forge.KindAuth, "not installed"},
		"key of another": {"/installation", 401, `{"message":"A token could not be decoded"}`, forge.KindAuth, "not be decoded"},
		"odd token":      {"/access_tokens", 201, `{"token":"a\nb"}`, forge.KindAnswer, "no token"},
		"no permission": {
			"/access_tokens", 422, `{"message":"The permissions requested are not granted"}`, forge.KindInvalid, "not granted",
		},
	} {
		s, g, _, repo := open(t)
		c := appClient(t, s, g)
		s.Script.Plan(forgetest.Fault{On: test.on, Status: test.status, Body: test.body})
		_, err := c.Comment(t.Context(), repo, 1, "hello")
		if e := trouble(err); e.Kind != test.want || e.Unsure || !strings.Contains(e.Msg, test.says) ||
			s.Script.Left() != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMe: whose a token is, asked once.
func TestMe(t *testing.T) {
	check := func(s *forgetest.Stage, c *Client, want forge.Person, asked ...string) {
		t.Helper()
		before := len(paths(s))
		for range 2 {
			needs.Result(t, want.Login, want)(c.Me(t.Context()))
		}
		needs.Equal(t, asked, paths(s)[before:])
	}
	s, _, c, _ := open(t)
	check(s, c, forgetest.Bot, "GET /user")
	s, g, _, _ := open(t)
	g.Actions()
	c = client(t, s, g)
	s.Script.Plan(forgetest.Fault{On: "/graphql", Status: 502, Times: 5})
	if _, err := c.Me(t.Context()); trouble(err).Kind != forge.KindServer { // it may be that of an app
		t.Error(err)
	}
	check(s, c, forgetest.ActionsBot, "GET /user", "POST /api/graphql", "GET /users/github-actions%5Bbot%5D")
	s, g, _, repo := open(t)
	c = appClient(t, s, g)
	needs.Value(c.GitToken(t.Context(), repo))(t)
	check(s, c, forge.Person{ID: "1000077", Login: "acme-reviews[bot]", Bot: true}, "GET /app", "GET /users/acme-reviews[bot]")
}
