package web

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/strict"
)

// agent is a program that reads by the Model Context Protocol.
type agent struct {
	w     *world
	token string
}

func (a *agent) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+a.token)
	return http.DefaultTransport.RoundTrip(r)
}

// ask calls a tool about a repository.
func (a *agent) ask(repo precedent.Repo, tool string, args any) (string, error) {
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	s, err := c.Connect(a.w.t.Context(), &sdk.StreamableClientTransport{
		Endpoint: a.w.http.URL + "/mcp/" + repo.String(), HTTPClient: &http.Client{Transport: a}, MaxRetries: -1,
		DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		return "", err
	}
	defer s.Close()
	got, err := s.CallTool(a.w.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return "", err
	}
	return fmt.Sprint(got.Content[0].(*sdk.TextContent).Text), nil
}

// register registers a client, and returns its id.
func (b *browser) register(redirect string) string {
	b.w.t.Helper()
	body := fmt.Sprintf(`{"client_name":"An <b>agent</b>","redirect_uris":[%q]}`, redirect)
	r, err := http.NewRequestWithContext(b.w.t.Context(), http.MethodPost, b.w.http.URL+"/oauth/register",
		strings.NewReader(body))
	needs.NoError(b.w.t, err)
	status, page := b.do(r)
	var c struct {
		ID string `json:"client_id"`
	}
	if status != http.StatusCreated || strict.Unmarshal([]byte(page), &c) != nil {
		b.w.t.Fatal(status, page)
	}
	return c.ID
}

// TestAgentSignsIn follows what the protocol says an agent does: it is refused, finds out where to sign in, registers,
// has a person allow it, and reads what that person may read.
func TestAgentSignsIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.fill(open, "zebra")
	w.fill(closed, "walrus")
	if _, err := (&agent{w, "guessed"}).ask(open, "get_repo_memory", nil); err == nil {
		t.Error("an agent without a token is answered")
	}
	answer, err := http.Post(w.http.URL+"/mcp/"+open.String(), "application/json", strings.NewReader(`{}`))
	needs.NoError(t, err)
	answer.Body.Close()
	challenge := answer.Header.Get("WWW-Authenticate")
	_, metadata, _ := strings.Cut(strings.TrimSuffix(challenge, `"`), `resource_metadata="`)
	if answer.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(metadata, w.http.URL) {
		t.Fatalf("%d %q", answer.StatusCode, challenge)
	}
	b := w.browser()
	var resource struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
	}
	_, page := b.get(strings.TrimPrefix(metadata, w.http.URL))
	if err := json.Unmarshal([]byte(page), &resource); err != nil ||
		resource.Resource != w.http.URL+"/mcp/"+open.String() || len(resource.Servers) != 1 {
		t.Fatalf("%s %v", page, err)
	}
	var server struct {
		Issuer    string `json:"issuer"`
		Authorize string `json:"authorization_endpoint"`
		Token     string `json:"token_endpoint"`
	}
	if _, page := b.get("/.well-known/oauth-authorization-server"); strict.Unmarshal([]byte(page), &server) != nil ||
		server.Issuer != resource.Servers[0] {
		t.Fatal(page)
	}
	client := b.register("http://127.0.0.1:9/callback")
	verifier := newSecret() + newSecret()
	sum := sha256.Sum256([]byte(verifier))
	asked := url.Values{
		"client_id": {client}, "redirect_uri": {"http://127.0.0.1:4711/callback"},
		"response_type": {"code"}, "state": {"s1"}, "code_challenge_method": {"S256"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "resource": {resource.Resource},
	}
	// Rita is sent to the forge first, and then asked.
	rita := w.signedIn("rita")
	status, page := rita.get("/oauth/authorize?" + asked.Encode())
	if status != http.StatusOK || !strings.Contains(page, "An &lt;b&gt;agent&lt;/b&gt;") ||
		!strings.Contains(page, "http://127.0.0.1:4711") {
		t.Fatal(status, page)
	}
	var sent *url.URL
	rita.client.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		sent = r.URL
		return http.ErrUseLastResponse
	}
	allow := func() url.Values {
		sent = nil
		rita.submit("/oauth/authorize", asked)
		if sent == nil || sent.Host != "127.0.0.1:4711" || sent.Query().Get("state") != "s1" ||
			sent.Query().Get("iss") != server.Issuer {
			t.Fatal(sent)
		}
		return url.Values{
			"grant_type": {"authorization_code"}, "code": {sent.Query().Get("code")},
			"redirect_uri": asked["redirect_uri"], "client_id": {client}, "code_verifier": {verifier},
		}
	}
	for what, spoil := range map[string]func(url.Values){
		"another verifier": func(v url.Values) { v.Set("code_verifier", "x") },
		"another client":   func(v url.Values) { v.Set("client_id", w.browser().register("http://127.0.0.1:9/other")) },
		"another address":  func(v url.Values) { v.Set("redirect_uri", "http://127.0.0.1:1/callback") },
		"a guessed code":   func(v url.Values) { v.Set("code", "guessed") },
		"too late":         func(url.Values) { w.pass(codeLife) },
	} {
		w.pass(signInRate.every)
		v := allow()
		spoil(v)
		if status, page := b.post("/oauth/token", v); status != http.StatusBadRequest ||
			!strings.Contains(page, "invalid_grant") {
			t.Errorf("%s: %d %s", what, status, page)
		}
	}
	w.pass(10 * signInRate.every)
	v := allow()
	var token struct {
		Access string `json:"access_token"`
	}
	if status, page := b.post("/oauth/token", v); status != http.StatusOK ||
		json.Unmarshal([]byte(page), &token) != nil {
		t.Fatal(status, page)
	}
	if status, _ := b.post("/oauth/token", v); status != http.StatusBadRequest {
		t.Errorf("the same code again: %d", status)
	}
	a := &agent{w, token.Access}
	if got, err := a.ask(open, "get_review_learnings", map[string]any{}); err != nil ||
		!strings.Contains(got, "Close files zebra") {
		t.Errorf("what Rita may read: %s %v", got, err)
	}
	if got, err := a.ask(closed, "get_review_learnings", map[string]any{}); err == nil {
		t.Errorf("what Rita may not read: %s", got)
	}
	w.forge.set("rita", open, forge.None)
	if got, err := a.ask(open, "get_review_learnings", map[string]any{}); err == nil {
		t.Errorf("after the permission was taken away: %s", got)
	}
	w.forge.set("rita", open, forge.Read)
	// The person sees the agent, and takes its token back.
	rita.client.CheckRedirect = nil
	_, page = rita.get("/agents")
	_, after, found := strings.Cut(page, `action="/agents/`)
	hash, _, _ := strings.Cut(after, "/")
	if !found || !strings.Contains(page, "An &lt;b&gt;agent&lt;/b&gt;") {
		t.Fatal(page)
	}
	if status, _ := w.signedIn("wanda").submit("/agents/"+hash+"/end", nil); status != http.StatusNotFound {
		t.Errorf("another person ends the agent: %d", status)
	}
	rita.submit("/agents/"+hash+"/end", nil)
	if _, err := a.ask(open, "get_review_learnings", map[string]any{}); err == nil {
		t.Error("the token works after it was taken back")
	}
}

// makeToken makes the token of an agent on the page.
func (b *browser) makeToken(name string) string {
	b.w.t.Helper()
	_, page := b.submit("/agents", url.Values{"name": {name}})
	_, after, _ := strings.Cut(page, `<code id="token">`)
	token, _, _ := strings.Cut(after, "<")
	return token
}

// TestAgentGuards: "HTTP needs token + Origin/Host check" (T25). An agent that cannot sign in gets its token from a page,
// which shows it once.
func TestAgentGuards(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.fill(open, "zebra")
	b := w.signedIn("wanda")
	token := b.makeToken("a bot")
	if _, again := b.get("/agents"); strings.Contains(again, token) || !strings.Contains(again, "a bot") {
		t.Error("the token is shown again")
	}
	if status, page := w.signedIn("reader").submit("/agents", url.Values{"name": {"a bot"}}); status != http.StatusBadRequest {
		t.Errorf("the reader's token lets an agent in: %d %s", status, page)
	}
	host := func(h string) func(*http.Request) { return func(r *http.Request) { r.Host = h } }
	header := func(name string, values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header[name] = values }
	}
	for _, test := range []struct {
		name   string
		change func(*http.Request)
		want   int
	}{
		{"right", func(*http.Request) {}, http.StatusOK},
		{"own origin", header("Origin", w.http.URL), http.StatusOK},
		{"no token", header("Authorization"), http.StatusUnauthorized},
		{"wrong token", header("Authorization", "Bearer "+token[1:]), http.StatusUnauthorized},
		{"token as password", header("Authorization", "Basic "+token), http.StatusUnauthorized},
		{"rebound host", host("evil.example.com"), http.StatusMisdirectedRequest},
		{"host that begins well", host(w.site.o.URL.Host + ".evil.example.com"), http.StatusMisdirectedRequest},
		{"foreign origin", header("Origin", "http://evil.example.com"), http.StatusForbidden},
		{"other port's origin", header("Origin", "http://127.0.0.1:1"), http.StatusForbidden},
		{"null origin", header("Origin", "null"), http.StatusForbidden},
		{"two origins", header("Origin", w.http.URL, "http://evil.example.com"), http.StatusForbidden},
		{"after its end", func(*http.Request) { w.pass(agentLife) }, http.StatusUnauthorized},
	} {
		w.pass(agentRate.every)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.http.URL+"/mcp/"+open.String(), strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_repo_memory","arguments":{}}}`))
		needs.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		test.change(r)
		status, body := w.browser().do(r)
		if status != test.want || strings.Contains(body, "zebra") != (test.want == http.StatusOK) {
			t.Errorf("%s: %d %s, want %d", test.name, status, body, test.want)
		}
	}
}

// TestAgentConformance: the public scenarios pass. They know no token, so that a handler adds it.
func TestAgentConformance(t *testing.T) {
	t.Parallel()
	tool := needs.MCPTool(t, "conformance")
	w := newWorld(t, "")
	w.fill(open, "zebra")
	token := w.signedIn("wanda").makeToken("a bot")
	w.site.o.URL, w.site.hosts = nil, nil // the address is that of the handler
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+token)
		w.site.ServeHTTP(rw, r)
	}))
	defer server.Close()
	for _, scenario := range []string{"server-initialize", "ping", "tools-list", "dns-rebinding-protection"} {
		cmd := exec.CommandContext(t.Context(), tool[0], append(tool[1:], "server", "--url", server.URL+"/mcp/"+open.String(),
			"--scenario", scenario)...)
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(out), "FAILURE") {
			t.Errorf("%s: %v: %s", scenario, err, out)
		}
	}
}

// TestClients: a code goes to the own machine or over https only, and to where the client said.
func TestClients(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"http://127.0.0.1:1/cb": true, "http://localhost/cb": true, "http://[::1]:7/cb": true,
		"https://agents.example/cb": true,
		"http://agents.example/cb":  false, "javascript:alert(1)": false, "https://user@agents.example/cb": false,
		"https://agents.example/cb#x": false, "https://agents.example;script-src/cb": false, "": false, "cursor://x": false,
	} {
		if got := (client{Redirects: []string{address}}).valid(); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
	c := client{Redirects: []string{"http://127.0.0.1:1/cb", "https://agents.example/cb"}}
	for address, want := range map[string]bool{
		"http://127.0.0.1:2/cb": true, "https://agents.example/cb": true, "https://agents.example:8443/cb": false,
		"http://127.0.0.1:2/other": false, "http://localhost:1/cb": false, "http://127.0.0.1:2/cb?x=1": false,
		"https://agents.example/cb/..": false, "http://evil@127.0.0.1:2/cb": false,
	} {
		if got := c.redirects(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
	for _, id := range []string{
		"", "!", strings.Repeat("A", 3000),
		base64.RawURLEncoding.EncodeToString([]byte(`{"redirect_uris":["https://a/","javascript:x"]}`)),
	} {
		if _, ok := readClient(id); ok {
			t.Errorf("%.50q is a client", id)
		}
	}
}
