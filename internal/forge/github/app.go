package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

const (
	// jwtBack backdates the tokens of an app against clock drift, and jwtLasts is how long after now they
	// expire. GitHub allows 10 minutes ("Generating a JSON Web Token (JWT) for a GitHub App").
	jwtBack  = time.Minute
	jwtLasts = 9 * time.Minute
	// renewBefore is how long before it expires an installation token is replaced, so
	// that operations that use it can finish. GitHub issues them for an hour.
	renewBefore = 5 * time.Minute
)

// App is a GitHub App, which acts as itself where it is installed. The key is kept in
// a function for the same reason as in wire.Token.
type App struct {
	server bool // see ForServer
	sign   func(now time.Time) (wire.Token, error)
}

// ForServer returns an App whose tokens may do what a server needs beyond a review, as far as the
// installation allows it: push to branches (contents: write) and read statuses (statuses: read).
func (a *App) ForServer() *App {
	out := *a
	out.server = true
	return &out
}

// NewApp makes an App from its id or client id, and its private key in PEM (PKCS #1 or
// #8). Errors do not repeat the key.
func NewApp(id string, key []byte) (*App, error) {
	id = strings.TrimSpace(id)
	if id == "" {
		return nil, errors.New("invalid GitHub App: it needs an app id or client id")
	}
	private, err := jwt.ParseRSAPrivateKeyFromPEM(key)
	if err != nil {
		return nil, errors.New("invalid key of the GitHub App: want an RSA private key in PEM")
	}
	return &App{sign: func(now time.Time) (wire.Token, error) {
		signed, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
			Issuer: id, IssuedAt: jwt.NewNumericDate(now.Add(-jwtBack)), ExpiresAt: jwt.NewNumericDate(now.Add(jwtLasts)),
		}).SignedString(private)
		if err != nil {
			return wire.Token{}, &forge.Error{
				Kind: forge.KindAuth,
				Msg:  "sign a token with the key of the GitHub App: the key cannot sign",
			}
		}
		return wire.NewToken(signed)
	}}, nil
}

// installationToken is the token of an installation for one repository.
type installationToken struct {
	token wire.Token
	until time.Time
	push  bool // it may write contents
}

// tokens are the credentials of a client: one token, or those of an app.
type tokens struct {
	client *Client
	plain  wire.Token
	app    *App

	mu     sync.Mutex // held while a token is created, so that there is one at a time
	cached map[tokenScope]installationToken
}

// tokenScope is what a token is for: a repository or, to read metadata only, a whole installation.
type tokenScope struct {
	repo         precedent.Repo
	installation int64
}

// asAppKey marks requests that the app sends as itself, without an installation.
type asAppKey struct{}

// tokenKey marks requests with a token of their own, which is the value.
type tokenKey struct{}

// installationKey marks requests about a whole installation; the value is its id.
type installationKey struct{}

// forRequest returns the token for a request. An app has a token for each repository. A request without a
// repository uses any valid token, else none.
func (t *tokens) forRequest(ctx context.Context) (wire.Token, error) {
	now := t.client.Now()
	repo, ok := wire.RepoOf(ctx)
	own, has := ctx.Value(tokenKey{}).(wire.Token)
	switch {
	case has:
		return own, nil
	case t.app == nil:
		return t.plain, nil
	case ctx.Value(asAppKey{}) != nil:
		return t.app.sign(now)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if id, whole := ctx.Value(installationKey{}).(int64); whole {
		return t.ofInstallation(ctx, id, now)
	}
	if !ok {
		for _, k := range t.cached {
			if now.Before(k.until.Add(-renewBefore)) {
				return k.token, nil
			}
		}
		return wire.Token{}, nil
	}
	return t.of(tokenScope{repo: repo}, now, func() (installationToken, error) { return t.create(ctx, repo) })
}

// of returns the token of a scope, which it makes if there is none. Call it with the lock held.
func (t *tokens) of(s tokenScope, now time.Time, create func() (installationToken, error)) (wire.Token, error) {
	if k := t.cached[s]; now.Before(k.until.Add(-renewBefore)) {
		return k.token, nil
	}
	made, err := create()
	if err != nil {
		return wire.Token{}, err
	}
	t.cached[s] = made
	return made.token, nil
}

// limitOf returns whose rate limit a request of an app counts against: each installation, which belongs to an owner, has
// its own, and so has the app itself.
func limitOf(ctx context.Context) string {
	if ctx.Value(asAppKey{}) != nil {
		return ""
	}
	if id, whole := ctx.Value(installationKey{}).(int64); whole { // counted by itself, as its owner is not known
		return fmt.Sprint("installation ", id)
	}
	repo, _ := wire.RepoOf(ctx)
	return strings.ToLower(repo.Owner)
}

// ofInstallation returns a token for a whole installation. Call it with the lock held.
func (t *tokens) ofInstallation(ctx context.Context, id int64, now time.Time) (wire.Token, error) {
	return t.of(tokenScope{installation: id}, now, func() (installationToken, error) {
		do := t.call(ctx, "get a GitHub App token")
		got, err := issue(do, id, precedent.Repo{}, nil)
		if err != nil {
			return installationToken{}, err
		}
		return tokenOf(do, got)
	})
}

// mayPush reports whether the token for a repository may write contents, which the API tells an app
// nowhere else.
func (t *tokens) mayPush(repo precedent.Repo) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cached[tokenScope{repo: repo}].push
}

// renew drops a token that GitHub rejected.
func (t *tokens) renew(ctx context.Context, refused wire.Token) bool {
	if ctx.Value(asAppKey{}) != nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.cached,
		func(_ tokenScope, k installationToken) bool { return k.token.Reveal() == refused.Reveal() })
	return true
}

// call begins an operation of the app itself. An unused token does no harm, so requests for one count as those
// that only read and are retried.
func (t *tokens) call(ctx context.Context, doing string) wire.Call {
	return t.client.Call(ctx, doing, "", nil).Reads().With(asAppKey{}, true)
}

// create asks GitHub for a token for one repository, with only the permissions that are
// used.
func (t *tokens) create(ctx context.Context, repo precedent.Repo) (installationToken, error) {
	doing := "get a GitHub App token for " + repo.String()
	do := t.call(ctx, doing)
	var found struct {
		ID          int64
		Permissions granted
	}
	err := do.Get(&found, "repos/%s/%s/installation", repo.Owner, repo.Name)
	switch {
	case wire.Gone(err):
		return installationToken{}, &forge.Error{
			Kind: forge.KindAuth, Msg: doing + ": the GitHub App is not installed on the repository",
			Hint: "install the app on the repository",
		}
	case err != nil:
		return installationToken{}, err
	}
	wanted := t.app.wanted(found.Permissions)
	got, err := issue(do, found.ID, repo, wanted)
	if forge.KindOf(err) == forge.KindInvalid { // GitHub gives no tokens by a former name, and redirects all else
		var present wire.Repository
		if whole, wrong := t.ofInstallation(ctx, found.ID, t.client.Now()); wrong == nil &&
			do.With(tokenKey{}, whole).Get(&present, "repos/%s/%s", repo.Owner, repo.Name) == nil &&
			forge.IsName(present.Name) && present.Name != repo.Name {
			got, err = issue(do, found.ID, precedent.Repo{Host: repo.Host, Owner: repo.Owner, Name: present.Name}, wanted)
		}
	}
	if err != nil {
		return installationToken{}, err
	}
	return tokenOf(do, got)
}

// granted are permissions by their names.
type granted map[string]string

// issued is a new token.
type issued struct {
	Token       string
	ExpiresAt   time.Time `json:"expires_at"`
	Permissions granted
}

// wanted are the permissions that are used beyond those to post, as far as the installation has them.
func (a *App) wanted(has granted) granted {
	p := granted{"contents": "read"}
	if has["checks"] != "" {
		p["checks"] = has["checks"]
	}
	if a.server {
		p["contents"] = cmp.Or(has["contents"], "read")
		if has["statuses"] != "" {
			p["statuses"] = "read"
		}
	}
	return p
}

func tokenOf(do wire.Call, got issued) (installationToken, error) {
	token, err := wire.NewToken(got.Token)
	if err != nil || token.Reveal() == "" {
		return installationToken{}, do.Unexpected("it contains no token")
	}
	return installationToken{token: token, until: got.ExpiresAt, push: got.Permissions["contents"] == "write"}, nil
}

// issue asks for a token for one repository, with some permissions and those to post. For the zero
// repository it can only read metadata.
func issue(do wire.Call, id int64, repo precedent.Repo, p granted) (got issued, err error) {
	body := map[string]any{"permissions": granted{"metadata": "read"}}
	if !repo.IsZero() {
		p = maps.Clone(p)
		p["metadata"], p["pull_requests"], p["issues"] = "read", "write", "write"
		body["permissions"], body["repositories"] = p, []string{repo.Name}
	}
	err = do.Send(http.MethodPost, body, &got, "app/installations/%d/access_tokens", id)
	return got, err
}

// GitToken returns the secret with which git fetches the repository: the token, or
// that of the app's installation, which is valid for at least 5 minutes.
func (c *Client) GitToken(ctx context.Context, repo precedent.Repo) (string, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("get a token for %s", repo))
	if err := do.Err(); err != nil {
		return "", err
	}
	token, err := c.tokens.forRequest(do.Context())
	return token.Reveal(), err
}
