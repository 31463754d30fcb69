package github

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

const (
	// jwtBack backdates the tokens of an app against clock drift, and jwtLasts is how
	// long after now they expire. GitHub allows 10 minutes ("Generating a JSON Web
	// Token (JWT) for a GitHub App").
	jwtBack  = time.Minute
	jwtLasts = 9 * time.Minute
	// renewBefore is how long before it expires an installation token is replaced, so
	// that operations that use it can finish. GitHub issues them for an hour.
	renewBefore = 5 * time.Minute
)

// App is a GitHub App, which acts as itself where it is installed. The key is kept in
// a function for the same reason as in wire.Token.
type App struct {
	installation int64
	server       bool // see ForServer
	sign         func(now time.Time) (wire.Token, error)
}

// ForServer returns an App whose tokens may do what a server needs beyond a review, as far as the
// installation allows it: push to branches (contents: write) and read statuses (statuses: read).
func (a *App) ForServer() *App {
	out := *a
	out.server = true
	return &out
}

// NewApp makes an App from its id or client id, its private key in PEM (PKCS #1 or
// #8), and the id of an installation; 0 asks GitHub for the installation of each
// repository. Errors do not repeat the key.
func NewApp(id string, key []byte, installation int64) (*App, error) {
	id = strings.TrimSpace(id)
	if id == "" || installation < 0 {
		return nil, errors.New("invalid GitHub App: it needs an app id or client id, and an installation id of 0 or more")
	}
	private, err := jwt.ParseRSAPrivateKeyFromPEM(key)
	if err != nil {
		return nil, errors.New("invalid key of the GitHub App: want an RSA private key in PEM")
	}
	return &App{installation: installation, sign: func(now time.Time) (wire.Token, error) {
		signed, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
			Issuer: id, IssuedAt: jwt.NewNumericDate(now.Add(-jwtBack)), ExpiresAt: jwt.NewNumericDate(now.Add(jwtLasts)),
		}).SignedString(private)
		if err != nil {
			return wire.Token{}, &forge.Error{Kind: forge.KindAuth, Msg: "sign a token with the key of the GitHub App: the key cannot sign"}
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
	cached map[precedent.Repo]installationToken
	whole  map[int64]installationToken // of whole installations, which only read metadata
}

// asAppKey marks requests that the app sends as itself, without an installation.
type asAppKey struct{}

// installationKey marks requests about a whole installation; the value is its id.
type installationKey struct{}

// forRequest returns the token for a request. An app has a token for each repository.
// A request without a repository uses any valid token, else one of the configured
// installation, else none.
func (t *tokens) forRequest(ctx context.Context) (wire.Token, error) {
	now := t.client.wire.Now()
	repo, ok := ctx.Value(repoKey{}).(precedent.Repo)
	switch {
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
		if t.app.installation == 0 {
			return wire.Token{}, nil
		}
	}
	if k := t.cached[repo]; now.Before(k.until.Add(-renewBefore)) {
		return k.token, nil
	}
	made, err := t.create(ctx, repo)
	if err != nil {
		return wire.Token{}, err
	}
	t.cached[repo] = made
	return made.token, nil
}

// ofInstallation returns a token for a whole installation. Call it with the lock held.
func (t *tokens) ofInstallation(ctx context.Context, id int64, now time.Time) (wire.Token, error) {
	if k := t.whole[id]; now.Before(k.until.Add(-renewBefore)) {
		return k.token, nil
	}
	const doing = "get a GitHub App token"
	got, err := t.issue(context.WithValue(wire.Reads(ctx), asAppKey{}, true), id, precedent.Repo{}, nil)
	if err != nil {
		return wire.Token{}, t.client.wire.Fail(doing, err)
	}
	made, err := tokenOf(doing, got)
	if err != nil {
		return wire.Token{}, err
	}
	t.whole[id] = made
	return made.token, nil
}

// mayPush reports whether the token for a repository may write contents, which the API tells an app
// nowhere else.
func (t *tokens) mayPush(repo precedent.Repo) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cached[repo].push
}

// renew drops a token that GitHub rejected.
func (t *tokens) renew(ctx context.Context, refused wire.Token) bool {
	if ctx.Value(asAppKey{}) != nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.cached, func(_ precedent.Repo, k installationToken) bool { return k.token.Reveal() == refused.Reveal() })
	maps.DeleteFunc(t.whole, func(_ int64, k installationToken) bool { return k.token.Reveal() == refused.Reveal() })
	return true
}

// create asks GitHub for a token for one repository, with only the permissions that are
// used. For the zero repository the token can only read metadata. An unused
// token does no harm, so the request counts as one that only reads and is retried.
func (t *tokens) create(ctx context.Context, repo precedent.Repo) (installationToken, error) {
	doing := "get a GitHub App token"
	if !repo.IsZero() {
		doing += " for " + repo.String()
	}
	ctx = context.WithValue(wire.Reads(ctx), asAppKey{}, true)
	id := t.app.installation
	if id == 0 {
		found, _, err := t.client.api.Apps.GetRepositoryInstallation(ctx, repo.Owner, repo.Name)
		switch {
		case wire.Gone(err):
			return installationToken{}, &forge.Error{Kind: forge.KindAuth, Msg: doing + ": the GitHub App is not installed on the repository", Hint: "install the app on the repository"}
		case err != nil:
			return installationToken{}, t.client.wire.Fail(doing, err)
		}
		id = found.GetID()
	}
	got, err := t.issueMost(ctx, id, repo)
	if err != nil {
		if e, ok := errors.AsType[*forge.Error](err); ok && e.Kind == forge.KindInvalid {
			said := *e
			said.Hint = "if the repository was renamed or moved, use its present name: GitHub gives Apps no tokens by the former one"
			err = &said
		}
		return installationToken{}, t.client.wire.Fail(doing, err)
	}
	return tokenOf(doing, got)
}

// issueMost asks for a token with everything that is used, as far as the installation has it: the
// app may lack what is not needed to post.
func (t *tokens) issueMost(ctx context.Context, id int64, repo precedent.Repo) (*gh.InstallationToken, error) {
	read, write := "read", "write"
	refused := func(err error) bool {
		e, ok := errors.AsType[*forge.Error](err)
		return ok && e.Kind == forge.KindInvalid
	}
	if t.app.server && !repo.IsZero() {
		got, err := t.issue(ctx, id, repo, &gh.InstallationPermissions{Contents: &write, Checks: &write, Statuses: &read})
		if !refused(err) {
			return got, err
		}
		found, _, err := t.client.api.Apps.GetInstallation(ctx, id)
		if err != nil {
			return nil, err
		}
		has := found.GetPermissions()
		got, err = t.issue(ctx, id, repo, &gh.InstallationPermissions{Contents: has.Contents, Checks: has.Checks, Statuses: atMost(has.Statuses, read)})
		if !refused(err) {
			return got, err
		}
	}
	got, err := t.issue(ctx, id, repo, &gh.InstallationPermissions{Contents: &read, Checks: &write})
	if refused(err) {
		got, err = t.issue(ctx, id, repo, &gh.InstallationPermissions{Contents: &read})
	}
	return got, err
}

// atMost returns the level if there is any.
func atMost(has *string, level string) *string {
	if has == nil {
		return nil
	}
	return &level
}

func tokenOf(doing string, got *gh.InstallationToken) (installationToken, error) {
	token, err := wire.NewToken(got.GetToken())
	if err != nil || token.Reveal() == "" {
		return installationToken{}, wire.UnexpectedAnswer(doing, "it contains no token")
	}
	return installationToken{token: token, until: got.GetExpiresAt().Time, push: got.GetPermissions().GetContents() == "write"}, nil
}

// issue asks for a token for one repository, with some permissions and those to post. For the zero
// repository, or without permissions, it can only read metadata.
func (t *tokens) issue(ctx context.Context, id int64, repo precedent.Repo, p *gh.InstallationPermissions) (*gh.InstallationToken, error) {
	read, write := "read", "write"
	options := &gh.InstallationTokenOptions{Permissions: &gh.InstallationPermissions{Metadata: &read}}
	if !repo.IsZero() {
		options.Repositories = []string{repo.Name}
		p.Metadata, p.PullRequests, p.Issues = &read, &write, &write
		options.Permissions = p
	}
	got, _, err := t.client.api.Apps.CreateInstallationToken(ctx, id, options)
	return got, err
}

// GitToken returns the secret with which git fetches the repository: the token, or
// that of the app's installation, which is valid for at least 5 minutes.
func (c *Client) GitToken(ctx context.Context, repo precedent.Repo) (string, error) {
	ctx, err := c.begin(ctx, fmt.Sprintf("get a token for %s", repo), repo)
	if err != nil {
		return "", err
	}
	token, err := c.tokens.forRequest(ctx)
	return token.Reveal(), err
}
