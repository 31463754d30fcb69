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
	// jwtBack is how long before now an app's own token begins, against clocks that
	// drift, and jwtLasts how long after now it ends: GitHub takes 10 minutes
	// ("Generating a JSON Web Token (JWT) for a GitHub App").
	jwtBack  = time.Minute
	jwtLasts = 9 * time.Minute
	// renewBefore is how long before its end a token of an installation is replaced:
	// what is begun with it can be finished. GitHub makes them for an hour.
	renewBefore = 5 * time.Minute
)

// App is a GitHub App, which acts in its own name where it is installed. It holds
// its key in a function, for the reason for which a token does.
type App struct {
	installation int64
	sign         func(now time.Time) (wire.Token, error)
}

// NewApp reads an app: its id or client id, its private key in PEM (PKCS #1 or
// #8), and the installation; 0 to ask GitHub for that of each repository. Errors
// do not repeat the key.
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

// tokens are what requests are sent with: one, or those of an app.
type tokens struct {
	client *Client
	plain  wire.Token
	app    *App

	mu     sync.Mutex // held while a token is made, so that one is made at a time
	cached map[precedent.Repo]installationToken
}

// asAppKey marks requests of the app itself, which no installation may send.
type asAppKey struct{}

// forRequest is the token for a request. An app has one for each repository. What is of
// none is asked with any that is at hand, else with one of the installation that
// the app was given, else with none, as anybody may.
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

// renew forgets a token that GitHub refuses.
func (t *tokens) renew(ctx context.Context, refused wire.Token) bool {
	if ctx.Value(asAppKey{}) != nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.cached, func(_ precedent.Repo, k installationToken) bool { return k.token.Reveal() == refused.Reveal() })
	return true
}

// create has GitHub make a token for one repository, with no more permissions than
// a review needs; for the zero repository one that reads what is of none. A token
// more than is used does no harm, so that it is asked for as if that only read.
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
		got, err = t.issue(ctx, id, repo, false) // an app that was not given checks can post all the same
	}
	if err != nil {
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

// GitToken is the secret that git fetches the repository with: the token, or that
// of the app's installation, which lasts for 5 minutes at least.
func (c *Client) GitToken(ctx context.Context, repo precedent.Repo) (string, error) {
	ctx, err := c.begin(ctx, fmt.Sprintf("get a token for %s", repo), repo)
	if err != nil {
		return "", err
	}
	token, err := c.tokens.forRequest(ctx)
	return token.Reveal(), err
}
