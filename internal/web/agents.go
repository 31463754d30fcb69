package web

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/strict"
	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// Agents read the memory of a repository at /mcp/HOST/OWNER/NAME, by the Model Context Protocol over HTTP. They get
// in as the protocol's authorization says (specification of 2025-11-25): the resource names this site as
// its authorization server (RFC 9728), which describes itself (RFC 8414), lets a client register (RFC 7591),
// and gives it a token by the authorization code flow with PKCE (OAuth 2.1). A person who is signed in
// allows it. What the agent may read is what that person may read, asked for each request.

const (
	maxAgentServers = 500
	codeLife        = time.Minute
	maxClient       = 2_000 // bytes of the id of a client
	maxRedirects    = 5
	maxAgentName    = 80
	// resourcePath comes before the path of a resource in the path of its metadata.
	resourcePath = "/.well-known/oauth-protected-resource"
)

func (s *Site) agentRoutes() {
	if s.o.Agents == nil || s.o.DB == nil {
		return
	}
	s.mux.HandleFunc("GET "+resourcePath+"/mcp/{host}/{owner}/{name}", s.resourceMetadata)
	s.mux.HandleFunc("GET /.well-known/oauth-authorization-server", s.serverMetadata)
	s.mux.HandleFunc("POST /oauth/register", s.register)
	s.mux.Handle("GET /oauth/authorize", s.page(s.authorize))
	s.mux.Handle("POST /oauth/authorize", s.change(s.allow))
	s.mux.HandleFunc("POST /oauth/token", s.token)
	s.mux.HandleFunc("/mcp/{host}/{owner}/{name}", s.mcp)
	s.mux.Handle("GET /agents", s.page(s.timed(s.agentsPage)))
	s.mux.Handle("POST /agents", s.change(s.newAgent))
	s.mux.Handle("POST /agents/{hash}/end", s.change(s.endAgent))
}

// address is that of the site, without a slash at its end.
func (s *Site) address(r *http.Request) string {
	if s.o.URL != nil {
		return strings.TrimSuffix(s.o.URL.String(), "/")
	}
	return "http://" + r.Host
}

func (s *Site) resourceMetadata(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"resource":                 s.address(r) + strings.TrimPrefix(r.URL.EscapedPath(), resourcePath),
		"authorization_servers":    []string{s.address(r)},
		"bearer_methods_supported": []string{"header"}, "scopes_supported": []string{"memory:read"},
		"resource_name": "Precedent",
	})
}

func (s *Site) serverMetadata(w http.ResponseWriter, r *http.Request) {
	at := s.address(r)
	writeJSON(w, http.StatusOK, map[string]any{
		"issuer": at, "authorization_endpoint": at + "/oauth/authorize", "token_endpoint": at + "/oauth/token",
		"registration_endpoint":    at + "/oauth/register",
		"response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code"},
		"code_challenge_methods_supported":      []string{"S256"},
		"token_endpoint_auth_methods_supported": []string{"none"}, "scopes_supported": []string{"memory:read"},
		"authorization_response_iss_parameter_supported": true,
	})
}

// client is an agent's program. Its id is this very value, so that nothing is stored of clients that
// nobody allows.
type client struct {
	Name      string   `json:"client_name"`
	Redirects []string `json:"redirect_uris"`
}

func (c client) id() string {
	data, _ := json.Marshal(c) // texts always have a form
	return base64.RawURLEncoding.EncodeToString(data)
}

// readClient is the client with an id.
func readClient(id string) (c client, ok bool) {
	data, err := base64.RawURLEncoding.DecodeString(id)
	if len(id) > maxClient || err != nil || strict.Unmarshal(data, &c) != nil {
		return client{}, false
	}
	return c, c.valid()
}

// plainHost is a host that can stand in a policy of a page: others could end its directive.
var plainHost = regexp.MustCompile(`^[a-zA-Z0-9.:\[\]-]+$`)

// valid tells whether a client may have codes sent to its addresses: to this machine's own programs, or
// over https.
func (c client) valid() bool {
	for _, address := range c.Redirects {
		u, err := url.Parse(address)
		if err != nil || u.Fragment != "" || u.User != nil || !plainHost.MatchString(u.Host) || u.Scheme != "https" &&
			(u.Scheme != "http" || !wire.IsLoopback(u.Hostname())) {
			return false
		}
	}
	return len(c.Redirects) > 0 && len(c.Redirects) <= maxRedirects
}

// redirects tells whether an address is one of the client's. The port of a program on the own machine may
// differ (RFC 8252, section 7.3).
func (c client) redirects(address string) bool {
	for _, known := range c.Redirects {
		if address == known {
			return true
		}
		a, err1 := url.Parse(address)
		b, err2 := url.Parse(known)
		if err1 == nil && err2 == nil && a.Scheme == "http" && b.Scheme == "http" && a.User == nil &&
			a.Fragment == "" && wire.IsLoopback(a.Hostname()) &&
			a.Hostname() == b.Hostname() && a.Path == b.Path && a.RawQuery == b.RawQuery {
			return true
		}
	}
	return false
}

func oauthError(w http.ResponseWriter, status int, code, text string) {
	writeJSON(w, status, map[string]string{"error": code, "error_description": text})
}

func (s *Site) register(w http.ResponseWriter, r *http.Request) {
	if !s.rates.pass("register "+wire.HostOf(r.RemoteAddr), forgeRate) {
		oauthError(w, http.StatusTooManyRequests, "temporarily_unavailable", "too many registrations")
		return
	}
	var c client
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxForm))
	if err != nil || strict.Unmarshal(body, &c) != nil || !c.valid() {
		oauthError(w, http.StatusBadRequest, "invalid_redirect_uri",
			"redirect_uris must be https, or http on this machine")
		return
	}
	c.Name = text.VisibleLine(text.Cut(c.Name, maxAgentName))
	id := c.id()
	if len(id) > maxClient {
		oauthError(w, http.StatusBadRequest, "invalid_client_metadata", "the redirect_uris are too long")
		return
	}
	writeJSON(w, http.StatusCreated, map[string]any{
		"client_id": id, "client_name": c.Name, "redirect_uris": c.Redirects, "token_endpoint_auth_method": "none",
		"grant_types": []string{"authorization_code"}, "response_types": []string{"code"},
	})
}

// asked is what an agent asks a person for.
type asked struct {
	client    client
	redirect  *url.URL
	challenge string
	state     string
}

func readAsked(q url.Values) (a asked, err error) {
	var ok bool
	if a.client, ok = readClient(q.Get("client_id")); !ok || !a.client.redirects(q.Get("redirect_uri")) {
		return a, requestError("The agent is not registered, or its redirect address is not.")
	}
	a.redirect, err = url.Parse(q.Get("redirect_uri"))
	a.challenge, a.state = q.Get("code_challenge"), q.Get("state")
	const challengeLen = 43 // of a SHA-256 in base64
	if err != nil || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" ||
		len(a.challenge) != challengeLen {
		return a, requestError("The agent must request a code with an S256 challenge.")
	}
	return a, nil
}

// authorize asks the person whether an agent may read.
func (s *Site) authorize(q *request) error {
	a, err := readAsked(q.r.URL.Query())
	if err != nil {
		return err
	}
	origin := a.redirect.Scheme + "://" + a.redirect.Host
	q.w.Header().Set("Content-Security-Policy", strings.Replace(security["Content-Security-Policy"],
		"form-action 'self'", "form-action 'self' "+origin, 1))
	fields := g.Group{csrf(q)}
	for name, values := range q.r.URL.Query() {
		fields = append(fields, hidden(name, values[0]))
	}
	return s.render(q, "Authorize an agent", "", g.Group{
		h.P(g.Text("A program that calls itself "), h.Strong(words(a.client.Name)),
			g.Text(" asks to read what Precedent remembers about the repositories that you can read. It cannot change anything.")),
		h.P(g.Text("You will be redirected to "), h.Strong(words(origin)), g.Text(". Allow this only if you started it.")),
		h.Form(h.Method("post"), h.Action("/oauth/authorize"), fields, button("Allow")),
		h.P(h.A(h.Href("/"), g.Text("Cancel"))),
	})
}

func (s *Site) allow(q *request) error {
	a, err := readAsked(q.r.PostForm)
	if err != nil {
		return err
	}
	if q.v.person == "" {
		return errNotYours
	}
	detail, _ := json.Marshal([]string{a.redirect.String(), a.challenge, a.client.id()}) // texts always have a form
	code := newSecret()
	err = s.o.DB.SaveSession(q.ctx(), store.Session{
		Hash: hashOf(code), Kind: store.CodeSession, Person: q.v.person,
		Login: q.v.login, Detail: string(detail), At: s.o.Now(), Until: s.o.Now().Add(codeLife),
	})
	if err != nil {
		return err
	}
	to := *a.redirect
	values := to.Query()
	values.Set("code", code)
	values.Set("iss", s.address(q.r))
	if a.state != "" {
		values.Set("state", a.state)
	}
	to.RawQuery = values.Encode()
	http.Redirect(q.w, q.r, to.String(), http.StatusSeeOther)
	return nil
}

// token exchanges a code for the token of an agent, once.
func (s *Site) token(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), s.o.PageTime)
	defer cancel()
	r = r.WithContext(ctx)
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if !s.rates.pass("token "+wire.HostOf(r.RemoteAddr), forgeRate) {
		oauthError(w, http.StatusTooManyRequests, "temporarily_unavailable", "too many requests")
		return
	}
	if err := r.ParseForm(); err != nil || r.PostFormValue("grant_type") != "authorization_code" {
		oauthError(w, http.StatusBadRequest, "unsupported_grant_type", "only authorization_code")
		return
	}
	hash := hashOf(r.PostFormValue("code"))
	is, found, err := s.o.DB.Session(ctx, store.CodeSession, hash, s.o.Now())
	ended := false
	if err == nil && found {
		ended, err = s.o.DB.EndSession(ctx, store.CodeSession, hash)
	}
	failed := func(err error) {
		s.o.Log.Error("a token could not be made", "error", err)
		oauthError(w, http.StatusServiceUnavailable, "temporarily_unavailable", "the database does not answer")
	}
	if err != nil {
		failed(err)
		return
	}
	var detail [3]string // address, challenge, client
	_ = strict.Unmarshal([]byte(is.Detail), &detail)
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	c, known := readClient(r.PostFormValue("client_id"))
	if !found || !ended || !known || c.id() != detail[2] || r.PostFormValue("redirect_uri") != detail[0] ||
		!sameSecret(base64.RawURLEncoding.EncodeToString(sum[:]), detail[1]) {
		oauthError(w, http.StatusBadRequest, "invalid_grant", "the code is not valid for this client")
		return
	}
	secret, err := s.makeAgent(r, is.Person, is.Login, c.Name)
	if err != nil {
		failed(err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"access_token": secret, "token_type": "Bearer", "expires_in": int(agentLife.Seconds()), "scope": "memory:read",
	})
}

func (s *Site) makeAgent(r *http.Request, person, login, name string) (secret string, err error) {
	secret = newSecret() + newSecret()
	return secret, s.o.DB.SaveSession(r.Context(), store.Session{
		Hash: hashOf(secret), Kind: store.AgentSession,
		Person: person, Login: login, Detail: name, At: s.o.Now(), Until: s.o.Now().Add(agentLife),
	})
}

func (s *Site) mcp(w http.ResponseWriter, r *http.Request) {
	challenge := fmt.Sprintf("Bearer resource_metadata=%q", s.address(r)+resourcePath+r.URL.EscapedPath())
	token, given := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if origins := r.Header.Values("Origin"); len(origins) > 0 && !slices.Equal(origins, []string{s.address(r)}) {
		http.Error(w, "cross-origin requests are not allowed", http.StatusForbidden)
		return
	}
	var is store.Session
	found := false
	if given {
		var err error
		if is, found, err = s.o.DB.Session(r.Context(), store.AgentSession, hashOf(token), s.o.Now()); err != nil {
			http.Error(w, "the database does not answer", http.StatusServiceUnavailable)
			return
		}
	}
	if !found {
		w.Header().Set("WWW-Authenticate", challenge)
		http.Error(w, "the token is missing, invalid or expired", http.StatusUnauthorized)
		return
	}
	if !s.rates.pass("agent "+is.Person, agentRate) {
		http.Error(w, "too many requests", http.StatusTooManyRequests)
		return
	}
	repo, err := repoOf(r)
	may := forge.None
	if err == nil {
		may, err = s.permission(r.Context(), viewer{person: is.Person, login: is.Login}, repo)
	}
	if err != nil {
		http.Error(w, "the forge does not say what you may read", http.StatusServiceUnavailable)
		return
	}
	if has, err := s.o.DB.Has(r.Context(), repo); err != nil || !has || may == forge.None {
		http.Error(w, "there is no such repository, or you may not read it", http.StatusNotFound)
		return
	}
	s.agentServer(repo).ServeHTTP(w, r)
}

func (s *Site) agentServer(repo precedent.Repo) http.Handler {
	s.agentsMu.Lock()
	defer s.agentsMu.Unlock()
	if s.agents == nil || len(s.agents) > maxAgentServers {
		s.agents = map[precedent.Repo]http.Handler{}
	}
	if s.agents[repo] == nil {
		open := func(ctx context.Context) (*workspace.Workspace, error) { return s.o.Env.SharedWorkspace(ctx, repo) }
		s.agents[repo] = s.o.Agents(repo, open)
	}
	return s.agents[repo]
}

func (s *Site) agentsPage(q *request) error {
	if q.v.person == "" {
		return s.render(q, "Agents",
			"/agents", sentence("Agents act for a person: sign in through the forge to authorize one."))
	}
	return s.showAgents(q, "")
}

func (s *Site) showAgents(q *request, secret string) error {
	all, err := s.o.DB.SessionsOf(q.ctx(), store.AgentSession, q.v.person, s.o.Now())
	if err != nil {
		return err
	}
	rows := g.Map(all, func(a store.Session) g.Node {
		return row(words(a.Detail), s.ago(a.At), g.Text(day(a.Until)),
			postButton(q, "/agents/"+a.Hash+"/end", "Revoke"))
	})
	at := s.address(q.r) + "/mcp/HOST/OWNER/NAME"
	body := g.Group{
		sentence("An agent that you authorize can read what Precedent remembers about the repositories that you can read: learnings, findings, dismissals and review comments. It cannot change anything."),
		code("claude mcp add --transport http reviews " + at),
		sentence("The agent then asks you to sign in here. If it cannot, create a token and send it in a header: Authorization: Bearer TOKEN."),
		h.Form(h.Class("search"), h.Method("post"), h.Action("/agents"), csrf(q),
			field("name", "Name of the agent", h.Input(named("name"), h.Required(),
				h.MaxLength(fmt.Sprint(maxAgentName)))), button("Create a token")),
	}
	if secret != "" {
		body = append(body, h.P(h.Class("notice"), g.Text("The token, shown only once: "),
			h.Code(h.ID("token"), g.Text(secret))))
	}
	body = append(body, table("You have not authorized any agents.",
		[]string{"Agent", "Since", "Until", "What you can do"}, rows))
	return s.render(q, "Agents", "/agents", body)
}

// newAgent makes a token for an agent that cannot ask for one.
func (s *Site) newAgent(q *request) error {
	name := text.VisibleLine(text.Cut(strings.TrimSpace(q.r.PostFormValue("name")), maxAgentName))
	if q.v.person == "" || name == "" {
		return requestError("Give the agent a name, and sign in through the forge first.")
	}
	secret, err := s.makeAgent(q.r, q.v.person, q.v.login, name)
	if err != nil {
		return err
	}
	return s.showAgents(q, secret)
}

func (s *Site) endAgent(q *request) error {
	all, err := s.o.DB.SessionsOf(q.ctx(), store.AgentSession, q.v.person, s.o.Now())
	if err != nil {
		return err
	}
	hash := q.r.PathValue("hash")
	if q.v.person == "" || !slices.ContainsFunc(all, func(a store.Session) bool { return a.Hash == hash }) {
		return errNotFound
	}
	_, err = s.o.DB.EndSession(q.ctx(), store.AgentSession, hash)
	return s.back(q, "/agents", err)
}
