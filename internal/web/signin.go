package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/strict"
)

// SignIn is how people prove to a forge who they are: OAuth 2 with PKCE (RFC 7636). The forge is asked
// for nothing but the account: what a person may do is asked with the server's own token.
type SignIn struct {
	Name   string // of the forge, for people
	Config oauth2.Config
	// UserURL answers with the account that a token is for.
	UserURL string
	Client  *http.Client
}

// NewSignIn returns how people sign in through a forge. back is the address of the site.
func NewSignIn(at forge.Kind, pages forge.Pages, clientID, secret string, back *url.URL, client *http.Client) (*SignIn,
	error,
) {
	in := &SignIn{Name: pages.Web.Host, Client: client, Config: oauth2.Config{
		ClientID: clientID, ClientSecret: secret, RedirectURL: back.JoinPath("signin", "callback").String(),
		Endpoint: oauth2.Endpoint{
			AuthURL:   pages.Web.JoinPath("login/oauth/authorize").String(),
			TokenURL:  pages.Web.JoinPath("login/oauth/access_token").String(),
			AuthStyle: oauth2.AuthStyleInParams,
		},
	}}
	switch at {
	case forge.GitHub:
		in.UserURL = "https://api.github.com/user"
		if pages.Web.Host != "github.com" { // GitHub Enterprise Server
			in.UserURL = pages.Web.JoinPath("api/v3/user").String()
		}
	case forge.Gitea:
		in.Config.Scopes = []string{"read:user"}
		in.UserURL = pages.Web.JoinPath("api/v1/user").String()
	default:
		return nil, fmt.Errorf("nobody can sign in through a forge of kind %q", at)
	}
	return in, nil
}

func (in *SignIn) account(ctx context.Context, token *oauth2.Token) (forge.Person, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, in.UserURL, nil)
	if err != nil {
		return forge.Person{}, err
	}
	r.Header.Set("Authorization", "Bearer "+token.AccessToken)
	r.Header.Set("Accept", "application/json")
	answer, err := in.Client.Do(r)
	if err != nil {
		return forge.Person{}, err
	}
	defer answer.Body.Close()
	var user struct {
		ID    int64  `json:"id"`
		Login string `json:"login"`
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAccount))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("the forge answered %s", answer.Status)
	}
	if err == nil {
		err = strict.Unmarshal(body, &user)
	}
	if err == nil && (user.ID <= 0 || !forge.IsLogin(user.Login)) {
		err = errors.New("the forge named no account")
	}
	return forge.Person{ID: precedent.NumberID(user.ID), Login: user.Login}, err
}

// Bounds of signing in.
const (
	maxAccount    = 1 << 20             // bytes of an account
	stateLife     = 10 * time.Minute    // of a sign-in that has begun
	sessionLife   = 7 * 24 * time.Hour  // of a browser
	agentLife     = 90 * 24 * time.Hour // of an agent
	stateCookie   = "precedent-signin"  // what the browser keeps while the person is at the forge
	sessionCookie = "precedent-session"
)

// cookieName is that of the session. Cookies do not tell ports apart, so each site on the local machine has
// its own.
func (s *Site) cookieName() string {
	if s.o.DB == nil {
		return sessionCookie + "-" + hashOf(s.o.StartToken)[:8]
	}
	return s.hostOnly(sessionCookie)
}

// hostOnly is the name of a cookie. With https, browsers keep it from other hosts by its prefix.
func (s *Site) hostOnly(name string) string {
	if s.secure {
		return "__Host-" + name
	}
	return name
}

func (s *Site) setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	//nolint:gosec // Secure wherever there is https
	c := &http.Cookie{
		Name: name, Value: value, Path: "/", HttpOnly: true, Secure: s.secure,
		SameSite: http.SameSiteLaxMode, MaxAge: int(life.Seconds()),
	}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

func (s *Site) askToSignIn(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || r.Header.Get("Hx-Request") != "" {
		s.fail(w, r, viewer{}, http.StatusUnauthorized, "You are not signed in.", "Load the page again to sign in.")
		return
	}
	if s.o.DB == nil {
		s.fail(w, r, viewer{}, http.StatusUnauthorized, "This page is private.",
			"Open the address that precedent dashboard printed. It works once; start the command again for a new one.")
		return
	}
	http.Redirect(w, r, "/signin?"+url.Values{"to": {r.URL.RequestURI()}}.Encode(), http.StatusSeeOther)
}

func (s *Site) signInPage(w http.ResponseWriter, r *http.Request) {
	to := ownPath(r.URL.Query().Get("to"))
	var ways g.Group
	if s.o.SignIn != nil {
		ways = append(ways, h.P(h.A(h.Class("button"), h.Href("/signin/forge?"+url.Values{"to": {to}}.Encode()),
			g.Textf("Sign in with %s", s.o.SignIn.Name))),
			sentence("You see the repositories that you can read there. Precedent asks the forge for your account, and for nothing else."))
	}
	if s.o.ReaderToken != "" {
		ways = append(ways, h.Form(h.Method("post"), h.Action("/signin"), hidden("to", to),
			field("token", "Reader's token", h.Input(h.Type("password"), named("token"), h.Required(),
				h.AutoComplete("current-password"))),
			button("Sign in with the token")))
	}
	if len(ways) == 0 {
		ways = append(ways,
			sentence("Nobody can sign in yet: the operator has to set a sign-in through the forge or a reader's token."))
	}
	s.show(&request{w: w, r: r}, http.StatusOK, "Sign in", "", ways)
}

// signInWithToken lets in who has the reader's token.
func (s *Site) signInWithToken(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	switch {
	case s.origin.Check(r) != nil || r.ParseForm() != nil:
		s.fail(w, r, viewer{}, http.StatusForbidden, "This form was sent from another site.",
			"Reload the page and try again.")
	case !s.rates.pass("sign-in "+wire.HostOf(r.RemoteAddr), signInRate):
		s.fail(w, r, viewer{}, http.StatusTooManyRequests, "Too many attempts.", "Wait a minute.")
	case s.o.ReaderToken == "" || !sameSecret(r.PostFormValue("token"), s.o.ReaderToken):
		s.fail(w, r, viewer{}, http.StatusForbidden, "Wrong token.", "Ask the operator of the server for it.")
	default:
		is := store.Session{Login: readerLogin, Detail: hashOf(s.o.ReaderToken)}
		s.letIn(w, r, is, r.PostFormValue("to")) //nolint:contextcheck // the request has its own
	}
}

func (s *Site) letIn(w http.ResponseWriter, r *http.Request, is store.Session, to string) {
	secret := newSecret()
	is.Kind, is.Hash, is.At, is.Until = store.BrowserSession, hashOf(secret), s.o.Now(), s.o.Now().Add(sessionLife)
	q := &request{w: w, r: r}
	if err := s.timed(func(q *request) error { return s.o.DB.SaveSession(q.ctx(), is) })(q); err != nil {
		s.failed(q, err)
		return
	}
	s.setCookie(w, s.cookieName(), secret, sessionLife)
	http.Redirect(w, r, ownPath(to), http.StatusSeeOther) //nolint:gosec // it is a path of this site
}

func (s *Site) toForge(w http.ResponseWriter, r *http.Request) {
	switch {
	case s.o.SignIn == nil:
		s.fail(w, r, viewer{}, http.StatusNotFound, "Page not found.", "")
		return
	case !s.rates.pass("forge "+wire.HostOf(r.RemoteAddr), forgeRate):
		s.fail(w, r, viewer{}, http.StatusTooManyRequests, "Too many attempts.", "Wait a minute.")
		return
	}
	state, verifier := newSecret(), oauth2.GenerateVerifier()
	s.setCookie(w, s.hostOnly(stateCookie), url.Values{
		"state": {state}, "verifier": {verifier}, "to": {ownPath(r.URL.Query().Get("to"))},
	}.Encode(), stateLife)
	http.Redirect(w, r, s.o.SignIn.Config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier)), http.StatusSeeOther)
}

// fromForge lets in whom the forge sent back.
func (s *Site) fromForge(w http.ResponseWriter, r *http.Request) {
	if s.o.SignIn == nil {
		s.fail(w, r, viewer{}, http.StatusNotFound, "Page not found.", "")
		return
	}
	kept := url.Values{}
	if c, err := r.Cookie(s.hostOnly(stateCookie)); err == nil {
		kept, _ = url.ParseQuery(c.Value) // one that cannot be read has no state
	}
	s.setCookie(w, s.hostOnly(stateCookie), "", 0)
	q := r.URL.Query()
	switch {
	case kept.Get("state") == "" || !sameSecret(kept.Get("state"), q.Get("state")):
		s.fail(w, r, viewer{}, http.StatusForbidden, "This sign-in has expired, or was not started in this browser.",
			"Sign in again.")
		return
	case q.Get("code") == "":
		s.fail(w, r, viewer{}, http.StatusForbidden, "The forge did not let you sign in.",
			"Sign in again, and authorize the application.")
		return
	}
	ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), oauth2.HTTPClient, s.o.SignIn.Client), 2*s.o.PageTime)
	defer cancel()
	token, err := s.o.SignIn.Config.Exchange(ctx, q.Get("code"), oauth2.VerifierOption(kept.Get("verifier")))
	var who forge.Person
	if err == nil {
		who, err = s.o.SignIn.account(ctx, token)
	}
	if err != nil {
		s.o.Log.Warn("a sign-in failed", "error", err)
		s.fail(w, r, viewer{}, http.StatusBadGateway, "The forge did not identify you.", "Try again in a minute.")
		return
	}
	is := store.Session{Person: string(who.ID), Login: who.Login}
	s.letIn(w, r, is, kept.Get("to")) //nolint:contextcheck // the request has its own
}

// start lets the local user in, once.
func (s *Site) start(w http.ResponseWriter, r *http.Request) {
	s.localMu.Lock()
	ok := s.o.StartToken != "" && s.localKey == "" && sameSecret(r.URL.Query().Get("token"), s.o.StartToken)
	if ok {
		s.localKey = newSecret()
	}
	key := s.localKey
	s.localMu.Unlock()
	if !ok {
		s.fail(w, r, viewer{}, http.StatusForbidden, "This address was used before, or is wrong.",
			"Start precedent dashboard again for a new one.")
		return
	}
	s.setCookie(w, s.cookieName(), key, sessionLife)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (s *Site) signOut(q *request) error {
	if s.o.DB == nil {
		s.localMu.Lock()
		s.localKey = newSecret() // nobody has it
		s.localMu.Unlock()
	} else if _, err := s.o.DB.EndSession(q.ctx(), store.BrowserSession, hashOf(q.v.secret)); err != nil {
		return err
	}
	s.setCookie(q.w, s.cookieName(), "", 0)
	s.show(&request{w: q.w, r: q.r}, http.StatusOK, "You are signed out.", "",
		h.P(h.A(h.Href("/"), g.Text("Sign in again"))))
	return nil
}
