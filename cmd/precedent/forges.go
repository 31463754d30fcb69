package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/gitea"
	"github.com/precedent-dev/precedent/internal/forge/github"
	"github.com/precedent-dev/precedent/internal/forge/local"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workflow"
)

// station is the forge that pull requests are on, and how git reaches it.
type station struct {
	forge.Forge
	kind forge.Kind
	// token is what git fetches a repository with; empty for none.
	token func(ctx context.Context, r precedent.Repo) (string, error)
	// folder is where git fetches from, in place of the forge's address.
	folder string
	// secrets are what must never be said.
	secrets []string
	// named says in which variables the token is, for hints.
	named string
	// key signs what is posted, if the operator gave no other; empty for none.
	key string
}

// station opens the forge that is chosen.
func (a *app) station(op *settings.Settings) (*station, error) {
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

// proxy is what the operator's environment names for the address; nil for none.
func (a *app) proxy(base string) (*url.URL, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return nil, nil //nolint:nilerr // the forge itself says what is wrong with its address
	}
	env := func(name string) string { return or(a.env[name], a.env[strings.ToLower(name)]) }
	c := httpproxy.Config{HTTPProxy: env("HTTP_PROXY"), HTTPSProxy: env("HTTPS_PROXY"), NoProxy: env("NO_PROXY")}
	named, value := "HTTPS_PROXY", c.HTTPSProxy
	if u.Scheme == "http" {
		named, value = "HTTP_PROXY", c.HTTPProxy
	}
	p, err := c.ProxyFunc()(u)
	if err != nil || !isProxy(value) {
		// It is not repeated: it may hold a password.
		return nil, hinted(errors.New(named+" names no address of a proxy"), "write it as http://HOST:PORT")
	}
	return p, nil
}

// isProxy tells whether an address can be a proxy's, or there is none. The
// library goes past one that it cannot read.
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

// stationOf opens the forge that the flags, the environment or the configuration
// name.
func (a *app) stationOf(flags map[string]string) (*station, error) {
	op, err := a.settings(flags)
	if err != nil {
		return nil, err
	}
	return a.station(op)
}

// known tells whether the forge knows who asks.
func (s *station) known() bool { return len(s.secrets) > 0 || s.kind == forge.Local }

// staticToken is git's token where it never changes. Without one nothing is sent.
func staticToken(secret string) func(context.Context, precedent.Repo) (string, error) {
	return func(context.Context, precedent.Repo) (string, error) { return secret, nil }
}

// fault is trouble with the forge, with what helps.
func (s *station) fault(err error) error { return workflow.ForgeError(err, s.named) }

// pause waits, or stops when the context ends.
func (a *app) pause(ctx context.Context, d time.Duration) error {
	if a.sleep != nil {
		return a.sleep(ctx, d)
	}
	return wire.Sleep(ctx, d)
}

// github is GitHub, or GitHub Enterprise at the base.
func (a *app) github(base string) (*station, error) {
	st := &station{kind: forge.GitHub, named: "GITHUB_TOKEN or GH_TOKEN"}
	o := github.Options{BaseURL: base, Network: wire.Network{Now: a.now, Sleep: a.sleep}}
	var err error
	if o.Proxy, err = a.proxy(or(base, "https://api.github.com")); err != nil {
		return nil, err
	}
	var key string
	if o.App, key, err = a.githubApp(); err != nil {
		return nil, err
	}
	secret := strings.TrimSpace(or(a.env["GITHUB_TOKEN"], a.env["GH_TOKEN"]))
	if o.App == nil {
		if o.Token, err = wire.NewToken(secret); err != nil {
			return nil, hinted(fmt.Errorf("%s: %w", st.named, err), "make a new one in GitHub's settings")
		}
	}
	c, err := github.New(o)
	if err != nil {
		return nil, hinted(err, "set GITHUB_API_URL or --forge to https://HOST/api/v3, or leave both unset for github.com")
	}
	st.Forge, st.token = c, staticToken(secret)
	if secret != "" {
		st.secrets = append(st.secrets, secret)
	}
	if o.App != nil {
		st.token, st.key, st.named = c.GitToken, key, appKeyVariable
		st.secrets = append(st.secrets, key)
	}
	return st, nil
}

// The variables of a GitHub App.
const (
	appIDVariable  = "PRECEDENT_GITHUB_APP_ID"
	appKeyVariable = "PRECEDENT_GITHUB_APP_KEY"
)

// maxAppKey bounds the file of a private key, in bytes: 16 times one of 4,096 bits.
const maxAppKey = 64 << 10

// githubApp is the App that the environment names, and its key; nil for none.
func (a *app) githubApp() (*github.App, string, error) {
	id, path := a.env["PRECEDENT_GITHUB_APP_ID"], a.env["PRECEDENT_GITHUB_APP_KEY"]
	switch {
	case id == "" && path == "":
		return nil, "", nil
	case id == "" || path == "":
		return nil, "", hinted(fmt.Errorf("a GitHub App needs both %s and %s", appIDVariable, appKeyVariable), "the first is its number, the second the file of its private key")
	}
	key, err := readAppKey(path)
	if err != nil {
		return nil, "", hinted(fmt.Errorf("%s: %w", appKeyVariable, err), "it names the file of the App's private key, as GitHub gave it")
	}
	app, err := github.NewApp(id, key, 0)
	if err != nil {
		return nil, "", hinted(fmt.Errorf("%s: %w", appKeyVariable, err), "make a new private key in the App's settings")
	}
	return app, string(key), nil
}

// readAppKey reads the file of a private key. Its errors do not repeat the path:
// somebody may have put the key itself in its place.
func readAppKey(path string) ([]byte, error) {
	var cause *fs.PathError
	f, err := os.Open(path)
	if errors.As(err, &cause) {
		err = cause.Err
	}
	if err != nil {
		return nil, fmt.Errorf("open key: %w", err)
	}
	defer f.Close()
	key, err := io.ReadAll(io.LimitReader(f, maxAppKey))
	if errors.As(err, &cause) {
		err = cause.Err
	}
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	return key, nil
}

// gitea is a Gitea or Forgejo server.
func (a *app) gitea(base string) (*station, error) {
	st := &station{kind: forge.Gitea, named: "GITEA_TOKEN"}
	secret := a.env["GITEA_TOKEN"]
	if secret == "" && settings.OnGitea(a.env) {
		secret = a.env["GITHUB_TOKEN"]
	}
	secret = strings.TrimSpace(secret)
	token, err := wire.NewToken(secret)
	if err != nil {
		return nil, hinted(fmt.Errorf("GITEA_TOKEN: %w", err), "make a new one in the forge's settings")
	}
	proxy, err := a.proxy(base)
	if err != nil {
		return nil, err
	}
	c, err := gitea.New(gitea.Options{BaseURL: base, Token: token, Network: wire.Network{Proxy: proxy, Now: a.now, Sleep: a.sleep}})
	if err != nil {
		return nil, hinted(err, "name it with --forge gitea:https://HOST")
	}
	st.Forge, st.token = c, staticToken(secret)
	if secret != "" {
		st.secrets = []string{secret}
	}
	return st, nil
}

// local is a forge in a folder.
func (a *app) local(dir string) (*station, error) {
	st := &station{kind: forge.Local, token: staticToken("")}
	f, err := local.New(local.Options{Dir: dir, Git: a.gitOptions(), Now: a.now})
	if err != nil {
		return nil, st.fault(err)
	}
	st.Forge = f
	if st.folder, err = f.Folder(); err != nil {
		return nil, st.fault(err)
	}
	return st, nil
}
