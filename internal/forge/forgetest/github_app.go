package forgetest

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// ActionsBot is the account of the tokens that GitHub Actions makes.
var ActionsBot = forge.Person{ID: "41898282", Login: "github-actions[bot]", Bot: true}

// Actions makes Secret a token of GitHub Actions, which may not ask whose it is.
func (g *GitHub) Actions() {
	g.mu.Lock()
	g.actions = true
	g.mu.Unlock()
	g.stage.World.Change(func() { g.stage.World.Me = ActionsBot })
}

// App is an app of GitHub, and its one installation.
type App struct {
	ID           int64
	ClientID     string
	Slug         string // it comments as Slug[bot]
	Key          *rsa.PublicKey
	Installation int64
	// Permissions are what the app was given; nil is all that a review needs.
	Permissions map[string]string
}

// tokenLife is how long a token of an installation is taken.
const tokenLife = time.Hour

type issued struct {
	until time.Time
	may   map[string]string
}

// AsApp lets an app in, and makes its bot the account that posts. Secret is a person's token still.
func (g *GitHub) AsApp(a App) {
	g.mu.Lock()
	g.app = &a
	g.mu.Unlock()
	g.stage.World.Change(func() { g.stage.World.Me = a.bot() })
}

func (a *App) bot() forge.Person {
	return forge.Person{ID: precedent.NumberID(a.ID + 1_000_000), Login: a.Slug + "[bot]", Bot: true}
}

// Issued counts the tokens that the installation was given.
func (g *GitHub) Issued() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.issued)
}

// authenticate finds who sent a request.
func (g *GitHub) authenticate(c *call) bool {
	token, ok := strings.CutPrefix(c.Header.Get("Authorization"), "Bearer ")
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.stage.Clock.Now()
	switch {
	case !ok:
		return false
	case token == Secret:
		c.who, c.app = g.stage.World.Me, g.actions
		if g.app != nil {
			c.who = Bot
		}
		return true
	case g.app == nil:
		return false
	}
	if t, known := g.issued[token]; known {
		c.who, c.app, c.may = g.app.bot(), true, t.may
		return now.Before(t.until)
	}
	c.who, c.jwt = g.app.bot(), true
	return g.app.signed(token, now)
}

// whose is the account of a token that git sends.
func (g *GitHub) whose(token string) (forge.Person, bool) {
	var me forge.Person
	g.stage.World.Change(func() { me = g.stage.World.Me })
	g.mu.Lock()
	defer g.mu.Unlock()
	switch t, known := g.issued[token]; {
	case known:
		return g.app.bot(), g.stage.Clock.Now().Before(t.until)
	case token == Secret && g.app != nil:
		return Bot, true
	}
	return me, token == Secret
}

// mayPush reports whether a token may write contents: that of an installation if it was made so.
func (g *GitHub) mayPush(token string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	t, known := g.issued[token]
	return !known || t.may["contents"] == "write"
}

// signed judges a JSON web token as GitHub does: RS256 by the app's key, not from
// the future, and for ten minutes at most.
func (a *App) signed(token string, now time.Time) bool {
	parts := strings.Split(token, ".")
	if len(parts) != 3 || a.Key == nil {
		return false
	}
	var part [3][]byte
	for i, s := range parts {
		b, err := base64.RawURLEncoding.DecodeString(s)
		if err != nil {
			return false
		}
		part[i] = b
	}
	var head struct{ Alg string }
	var claims struct {
		Iat, Exp float64
		Iss      any
	}
	if json.Unmarshal(part[0], &head) != nil || json.Unmarshal(part[1], &claims) != nil || head.Alg != "RS256" {
		return false
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if rsa.VerifyPKCS1v15(a.Key, crypto.SHA256, digest[:], part[2]) != nil {
		return false
	}
	iss := fmt.Sprint(claims.Iss)
	if n, ok := claims.Iss.(float64); ok {
		iss = fmt.Sprint(int64(n))
	}
	at := float64(now.Unix())
	return (iss == fmt.Sprint(a.ID) || a.ClientID != "" && iss == a.ClientID) &&
		claims.Iat <= at && claims.Exp > at && claims.Exp <= at+600
}

func (g *GitHub) me(c *call) reply {
	if c.app || c.jwt {
		return problem(http.StatusForbidden, "Resource not accessible by integration")
	}
	return reply{status: http.StatusOK, body: user(c.who)}
}

// userOf finds an account that the world names, whatever the case of its login.
func (g *GitHub) userOf(c *call) reply {
	known := []forge.Person{g.stage.World.Me, Bot, ActionsBot}
	for _, r := range g.stage.World.repos {
		for _, m := range r.Members {
			known = append(known, m.Person)
		}
	}
	for _, p := range known {
		if strings.EqualFold(p.Login, c.PathValue("login")) {
			return reply{status: http.StatusOK, body: user(p)}
		}
	}
	return problem(http.StatusNotFound, "Not Found")
}

// noWebToken is the answer to who asks as an app, and is none.
var noWebToken = problem(http.StatusUnauthorized, "A JSON web token could not be decoded")

func (g *GitHub) appItself(c *call) reply {
	if !c.jwt {
		return noWebToken
	}
	return reply{status: http.StatusOK, body: object{
		"id": g.app.ID, "slug": g.app.Slug, "client_id": g.app.ClientID, "permissions": g.app.permissions(),
	}}
}

func (a *App) permissions() map[string]string {
	if a.Permissions != nil {
		return a.Permissions
	}
	return map[string]string{
		"contents": "read", "pull_requests": "write", "issues": "write", "checks": "write", "metadata": "read",
	}
}

func (g *GitHub) installation(c *call) reply {
	if !c.jwt {
		return noWebToken
	}
	return reply{status: http.StatusOK, body: g.installationJSON(c.repo.Owner)}
}

func (g *GitHub) installationJSON(owner string) object {
	return object{
		"id": g.app.Installation, "app_id": g.app.ID, "app_slug": g.app.Slug, "permissions": g.app.permissions(),
		"account": object{"login": owner, "id": 1, "type": "Organization"}, "suspended_at": nil,
	}
}

// issue gives a token, that may do no more than the app.
func (g *GitHub) issue(c *call) reply {
	var in struct {
		Repositories []string
		Permissions  map[string]string
	}
	switch bad := c.read(&in); {
	case !c.jwt:
		return noWebToken
	case c.number("id") != g.app.Installation:
		return problem(http.StatusNotFound, "Not Found")
	case bad != nil:
		return *bad
	}
	for _, name := range in.Repositories {
		if !g.stage.World.has(name) {
			return invalid("There is at least one repository that does not exist or is not accessible to the parent " +
				"installation.")
		}
	}
	given := g.app.permissions()
	rank := map[string]int{"read": 1, "write": 2, "admin": 3}
	for name, level := range in.Permissions {
		if rank[level] > rank[given[name]] {
			return invalid("The permissions requested are not granted to this installation.")
		}
	}
	if in.Permissions != nil {
		given = in.Permissions
	}
	until := g.stage.Clock.Now().Add(tokenLife).UTC().Truncate(time.Second)
	g.mu.Lock()
	defer g.mu.Unlock()
	// Random as to its letters, so that a test that looks for it finds nothing else.
	sum := sha256.Sum256(fmt.Append(nil, Secret, g.app.Installation, len(g.issued)))
	token := fmt.Sprintf("ghs_%d_eyJ%x.eyJ%x.%[2]x", g.app.ID, sum, sum[:16])
	g.issued[token] = issued{until, given}
	return reply{status: http.StatusCreated, body: object{
		"token": token, "expires_at": until.Format(time.RFC3339), "permissions": given, "repository_selection": "selected",
	}}
}
