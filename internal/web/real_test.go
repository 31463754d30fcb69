package web

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/gitea"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// realGitea calls the API of a Gitea that runs elsewhere.
type realGitea struct {
	t       testing.TB
	address string
	admin   *url.Userinfo
}

const realPassword = "passw0rd-12"

// call sends a request as a person, nil for the administrator, and returns what it says.
func (g *realGitea) call(who *url.Userinfo, method, path string, body map[string]any) (answer struct {
	ID       int64  `json:"id"`
	SHA1     string `json:"sha1"`
	ClientID string `json:"client_id"`
	Secret   string `json:"client_secret"`
},
) {
	g.t.Helper()
	data := needs.Value(json.Marshal(body))(g.t)
	r, err := http.NewRequestWithContext(g.t.Context(), method, g.address+"/api/v1"+path, bytes.NewReader(data))
	needs.NoError(g.t, err)
	if who == nil {
		who = g.admin
	}
	password, _ := who.Password()
	r.SetBasicAuth(who.Username(), password)
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	needs.NoError(g.t, err)
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode >= http.StatusMultipleChoices {
		g.t.Fatal(method, path, got.Status, string(text), err)
	}
	_ = json.Unmarshal(text, &answer) // some say nothing
	return answer
}

// TestRealSignIn signs people in through a real Gitea, with Chromium, and shows them what they may see there.
func TestRealSignIn(t *testing.T) {
	t.Parallel()
	g := &realGitea{t: t}
	g.address, g.admin = needs.Gitea(t)
	g.address = strings.TrimSuffix(g.address, "/")
	who := map[string]*url.Userinfo{}
	for _, name := range []string{"owner", "writer", "reader", "outsider", "bot"} {
		login := name + strings.ToLower(newSecret()[:8])
		g.call(nil, http.MethodPost, "/admin/users", map[string]any{
			"username": login, "email": login + "@example.test",
			"password": realPassword, "must_change_password": false,
		})
		who[name] = url.UserPassword(login, realPassword)
	}
	g.call(who["owner"], http.MethodPost, "/user/repos", map[string]any{
		"name": "app", "private": true, "auto_init": true,
	})
	at := "/repos/" + who["owner"].Username() + "/app"
	for name, may := range map[string]string{"writer": "write", "reader": "read", "bot": "write"} {
		g.call(who["owner"], http.MethodPut, at+"/collaborators/"+who[name].Username(),
			map[string]any{"permission": may})
	}
	token := g.call(who["bot"], http.MethodPost, "/users/"+who["bot"].Username()+"/tokens", map[string]any{
		"name":   "t",
		"scopes": []string{"read:user", "write:issue", "write:repository"},
	}).SHA1
	secret := needs.Value(wire.NewToken(token))(t)
	real := needs.Value(gitea.New(gitea.Options{BaseURL: g.address, Token: secret}))(t)
	w := newWorld(t, "")
	address := needs.Value(url.Parse(w.http.URL))(t)
	app := g.call(who["owner"], http.MethodPost, "/user/applications/oauth2", map[string]any{
		"name":          "precedent",
		"redirect_uris": []string{w.http.URL + "/signin/callback"}, "confidential_client": true,
	})
	in := needs.Value(NewSignIn(forge.Gitea, real.Pages(), app.ClientID, app.Secret, address, http.DefaultClient))(t)
	o := w.site.o
	o.Forge, o.SignIn = workspace.Connection{Forge: real}, in
	w.site = New(o)
	repo := precedent.Repo{Host: real.Host(), Owner: who["owner"].Username(), Name: "app"}
	w.fill(repo, "zebra")
	for name, want := range map[string]bool{"owner": true, "writer": true, "reader": false, "outsider": false} {
		c := newChrome(t, w)
		c.open("/")
		c.click("Sign in with " + address.Hostname())
		c.do(chromedp.SetValue("#user_name", who[name].Username()), chromedp.SetValue("#password", realPassword))
		c.submits(`document.querySelector("#password").form.submit()`)
		if strings.HasPrefix(eval[string](c, `location.href`), g.address+"/login/oauth/authorize") { // asked once
			c.submits(`document.querySelector("#authorize-app").click()`)
		}
		if at := eval[string](c, `location.href`); !strings.HasPrefix(at, w.http.URL) {
			t.Fatalf("%s is at %s: %s", name, at, c.text())
		}
		if text := c.text(); strings.Contains(text, repo.Name) != want ||
			!strings.Contains(text, who[name].Username()) {
			t.Errorf("%s sees %s", name, text)
		}
		c.open(repoPath(repo) + "/learnings?state=active")
		if got := strings.Contains(c.text(), "Close files zebra"); got != want {
			t.Errorf("%s sees the learnings of the repository: %v", name, got)
		}
	}
}

// submits runs a script that leaves the page, and waits for the page that follows.
func (c *chrome) submits(script string) {
	c.t.Helper()
	is := c.leaving()
	eval[bool](c, "(() => { setTimeout(() => {"+script+"}); return true })()")
	c.wait(is)
}
