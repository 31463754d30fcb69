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
	sign         func(now time.Time) (wire.Token, error)
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
}

// tokens are the credentials of a client: one token, or those of an app.
type tokens struct {
	client *Client
	plain  wire.Token
	app    *App

	mu     sync.Mutex // held while a token is created, so that there is one at a time
	cached map[precedent.Repo]installationToken
}

// asAppKey marks requests that the app sends as itself, without an installation.
type asAppKey struct{}

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

// renew drops a token that GitHub rejected.
func (t *tokens) renew(ctx context.Context, refused wire.Token) bool {
	if ctx.Value(asAppKey{}) != nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.cached, func(_ precedent.Repo, k installationToken) bool { return k.token.Reveal() == refused.Reveal() })
	return true
}

// create asks GitHub for a token for one repository, with only the permissions that a
// review needs. For the zero repository the token can only read metadata. An unused
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
	got, err := t.issue(ctx, id, repo, true)
	var e *forge.Error
	if errors.As(err, &e) && e.Kind == forge.KindInvalid {
		got, err = t.issue(ctx, id, repo, false) // the app may lack the permission for checks, and can post without it
	}
	if err != nil {
		if errors.As(err, &e) && e.Kind == forge.KindInvalid {
			said := *e
			said.Hint = "if the repository was renamed or moved, use its present name: GitHub gives Apps no tokens by the former one"
			err = &said
		}
		return installationToken{}, t.client.wire.Fail(doing, err)
	}
	token, err := wire.NewToken(got.GetToken())
	if err != nil || token.Reveal() == "" {
		return installationToken{}, wire.UnexpectedAnswer(doing, "it contains no token")
	}
	return installationToken{token: token, until: got.GetExpiresAt().Time}, nil
}

func (t *tokens) issue(ctx context.Context, id int64, repo precedent.Repo, checks bool) (*gh.InstallationToken, error) {
	read, write := "read", "write"
	options := &gh.InstallationTokenOptions{Permissions: &gh.InstallationPermissions{Metadata: &read}}
	if !repo.IsZero() {
		options.Repositories = []string{repo.Name}
		options.Permissions = &gh.InstallationPermissions{Metadata: &read, Contents: &read, PullRequests: &write, Issues: &write}
	}
	if !repo.IsZero() && checks {
		options.Permissions.Checks = &write
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
