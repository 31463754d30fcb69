package main

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/backoff"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/gitea"
	"github.com/precedent-dev/precedent/internal/forge/github"
	"github.com/precedent-dev/precedent/internal/forge/local"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// connect opens the chosen forge, with the key that signs our comments and the
// secrets that they must not show.
func (a *app) connect(op *settings.Settings) (workspace.Connection, error) {
	c, err := a.openForge(op)
	if err != nil {
		return c, err
	}
	c.Known = len(c.Secrets) > 0 || op.Forge.Value.Kind == forge.Local
	for _, name := range secretVariables {
		if v := strings.TrimSpace(a.env[name]); v != "" {
			c.Secrets = append(c.Secrets, v)
		}
	}
	secret := a.env[markerKeyVariable]
	if secret == "" {
		return c, nil
	}
	err = setMarkerKey(&c, secret)
	return c, err
}

// markerKeyVariable holds the key that signs our comments.
const markerKeyVariable = "PRECEDENT_MARKER_KEY"

// The secrets of a server.
const (
	webhookSecret    = "PRECEDENT_WEBHOOK_SECRET"
	webhookSecretOld = "PRECEDENT_WEBHOOK_SECRET_OLD"
	serverToken      = "PRECEDENT_SERVER_TOKEN"
	databaseVariable = "DATABASE_URL"
	databasePassword = "PGPASSWORD" // of a URL without one
)

// secretVariables are the variables whose values never appear in a comment, besides
// the forge's own token: models read text that may contain them.
var secretVariables = append([]string{
	"ANTHROPIC_API_KEY", "OPENAI_API_KEY", settings.EmbeddingsKey,
	"ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", webhookSecret, webhookSecretOld, serverToken, oauthSecret, readerToken,
	databasePassword,
}, tokenVariables...)

// connectWith opens the forge that the flags, the environment or the configuration
// file name.
func (a *app) connectWith(flags map[string]string) (workspace.Connection, error) {
	op, err := a.settings(flags)
	if err != nil {
		return workspace.Connection{}, err
	}
	return a.connect(op)
}

func (a *app) openForge(op *settings.Settings) (workspace.Connection, error) {
	at := op.Forge.Value.At
	switch op.Forge.Value.Kind {
	case forge.Gitea:
		return a.gitea(at)
	case forge.Local:
		return a.local(at)
	}
	if at == "" && !settings.OnGitea(a.env) {
		at = a.env["GITHUB_API_URL"]
	}
	return a.github(at)
}

// proxy returns the proxy that the environment sets for the address; nil for none.
func (a *app) proxy(base string) (*url.URL, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return nil, nil //nolint:nilerr // the forge reports what is wrong with its address
	}
	env := func(name string) string { return cmp.Or(a.env[name], a.env[strings.ToLower(name)]) }
	c := httpproxy.Config{HTTPProxy: env("HTTP_PROXY"), HTTPSProxy: env("HTTPS_PROXY"), NoProxy: env("NO_PROXY")}
	named, value := "HTTPS_PROXY", c.HTTPSProxy
	if u.Scheme == "http" {
		named, value = "HTTP_PROXY", c.HTTPProxy
	}
	p, err := c.ProxyFunc()(u)
	if err != nil || !isProxy(value) {
		// Do not print it: it may contain a password.
		return nil, hinted(errors.New(named+" is not the address of a proxy"), "write it as http://HOST:PORT")
	}
	return p, nil
}

// network is how requests get to a forge at the address.
func (a *app) network(base string) (wire.Network, error) {
	proxy, err := a.proxy(base)
	return wire.Network{Proxy: proxy, Now: a.now, Sleep: a.sleep}, err
}

// isProxy reports whether the address is empty or a valid address of a proxy. The
// library ignores addresses that it cannot read.
func isProxy(address string) bool {
	if address == "" {
		return true
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme)
}

func staticToken(secret string) func(context.Context, precedent.Repo) (string, error) {
	return func(context.Context, precedent.Repo) (string, error) { return secret, nil }
}

// pause waits, or stops when the context ends.
func (a *app) pause(ctx context.Context, d time.Duration) error {
	if a.sleep != nil {
		return a.sleep(ctx, d)
	}
	return backoff.Sleep(ctx, d)
}

// github connects to GitHub, or to GitHub Enterprise at the base.
func (a *app) github(base string) (workspace.Connection, error) {
	conn := workspace.Connection{TokenName: "GITHUB_TOKEN or GH_TOKEN"} //nolint:gosec // the names of variables, not their values
	o := github.Options{BaseURL: base}
	var err error
	if o.Network, err = a.network(cmp.Or(base, "https://api.github.com")); err != nil {
		return conn, err
	}
	var key string
	if o.App, key, err = a.githubApp(); err != nil {
		return conn, err
	}
	if o.App != nil && a.pushes {
		o.App = o.App.ForServer()
	}
	secret := strings.TrimSpace(cmp.Or(a.env["GITHUB_TOKEN"], a.env["GH_TOKEN"]))
	if o.App == nil {
		if o.Token, err = wire.NewToken(secret); err != nil {
			return conn, hinted(fmt.Errorf("%s: %w", conn.TokenName, err), "create a new one in GitHub's settings")
		}
	}
	c, err := github.New(o)
	if err != nil {
		return conn, hinted(err, "set GITHUB_API_URL or --forge to https://HOST/api/v3, or leave both unset for github.com")
	}
	conn.Forge, conn.Token = c, staticToken(secret)
	if secret != "" {
		conn.Secrets = append(conn.Secrets, secret)
	}
	if o.App == nil {
		return conn, nil
	}
	conn.Token, conn.TokenName = c.GitToken, appKeyVariable
	// Only the App knows its key, which does not change: another key can be derived from it.
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte("precedent marker"))
	marker := hex.EncodeToString(mac.Sum(nil))
	conn.Secrets = append(conn.Secrets, key)
	err = setMarkerKey(&conn, marker)
	return conn, err
}

// The variables of a GitHub App.
const (
	appIDVariable  = "PRECEDENT_GITHUB_APP_ID"
	appKeyVariable = "PRECEDENT_GITHUB_APP_KEY"
)

// githubApp returns the App that the environment sets, and its key; nil for none.
func (a *app) githubApp() (*github.App, string, error) {
	id, path := a.env["PRECEDENT_GITHUB_APP_ID"], a.env["PRECEDENT_GITHUB_APP_KEY"]
	switch {
	case id == "" && path == "":
		return nil, "", nil
	case id == "" || path == "":
		return nil, "", hinted(fmt.Errorf("a GitHub App needs both %s and %s", appIDVariable, appKeyVariable),
			"the first is its ID, the second the file of its private key")
	}
	key, err := readHidden(path)
	if err != nil {
		return nil, "", hinted(fmt.Errorf("%s: %w", appKeyVariable, err),
			"set it to the file of the private key that GitHub generated for the App")
	}
	app, err := github.NewApp(id, key)
	if err != nil {
		return nil, "", hinted(fmt.Errorf("%s: %w", appKeyVariable, err), "create a new private key in the App's settings")
	}
	return app, string(key), nil
}

func (a *app) gitea(base string) (workspace.Connection, error) {
	conn := workspace.Connection{TokenName: "GITEA_TOKEN"}
	secret := a.env["GITEA_TOKEN"]
	if secret == "" && settings.OnGitea(a.env) {
		secret = a.env["GITHUB_TOKEN"]
	}
	secret = strings.TrimSpace(secret)
	token, err := wire.NewToken(secret)
	if err != nil {
		return conn, hinted(fmt.Errorf("GITEA_TOKEN: %w", err), "create a new one in the forge's settings")
	}
	network, err := a.network(base)
	if err != nil {
		return conn, err
	}
	c, err := gitea.New(gitea.Options{BaseURL: base, Token: token, Network: network})
	if err != nil {
		return conn, hinted(err, "set its address with --forge gitea:https://HOST")
	}
	conn.Forge, conn.Token = c, staticToken(secret)
	if secret != "" {
		conn.Secrets = []string{secret}
	}
	return conn, nil
}

func (a *app) local(dir string) (workspace.Connection, error) {
	conn := workspace.Connection{Token: staticToken("")}
	f, err := local.New(local.Options{Dir: dir, Git: a.gitOptions(), Now: a.now})
	if err != nil {
		return conn, conn.Explain(err)
	}
	conn.Forge, conn.Instant = f, true
	conn.Folder, err = f.Folder()
	return conn, conn.Explain(err)
}
