package main

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/background"
	"github.com/precedent-dev/precedent/internal/backoff"
	"github.com/precedent-dev/precedent/internal/gate"
	"github.com/precedent-dev/precedent/internal/round"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/sandbox"
	"github.com/precedent-dev/precedent/internal/server"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workspace"
)

const serveHelp = `Serve reviews pull requests as they change, until it is stopped. It looks at the
open pull requests of all repositories every minute, with one conditional request
each, and does what labels, comments and policy make due: reviews, answers, fixes.

It needs a token, as precedent pr --post, and nothing else. It serves the given
repositories, those of the given owners, or all that the token may write to. It keeps
its memory in server.db in the data folder ($XDG_DATA_HOME/precedent or
~/.local/share/precedent), or in the PostgreSQL database of DATABASE_URL, which
several replicas can share.

With PRECEDENT_WEBHOOK_SECRET it takes webhooks at /webhooks/github or
/webhooks/gitea. It answers /healthz, /readyz and /metrics. docs/server.md describes
how to set it up, docs/operation.md how to run it.

Each secret can be in a file, which NAME_FILE names: GITHUB_TOKEN_FILE,
DATABASE_URL_FILE, PRECEDENT_WEBHOOK_SECRET_FILE and so on.

On SIGTERM or SIGINT it takes no new work, ends what runs, and exits within 30
seconds; what was not done is done after the next start. A second signal ends it at
once.

Exit status: 0 stopped, 2 usage or configuration error, 3 with --once if a repository
could not be read, or jobs have failed for good.`

func newServe(a *app) *cobra.Command {
	var once, debug bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Review pull requests as they change",
		Long:  serveHelp,
		Example: `  precedent serve
  precedent serve --repositories github.com/owner/name --engine anthropic
  precedent serve --owners my-team --listen 0.0.0.0:8787 --log-format json
  precedent serve --once`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			level := slog.LevelInfo
			switch {
			case debug:
				level = slog.LevelDebug
			case a.quiet:
				level = slog.LevelError
			}
			return a.serve(cmd.Context(), settingFlags(cmd), once, level)
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "look once, do what is due, and exit; for cron")
	cmd.Flags().BoolVar(&debug, "debug", false, "log more, still without the text of anybody")
	addFlags(cmd, func(d settings.Def) bool { return d.Server })
	addSettings(cmd, "engine", "model", "context", "concurrency", "max_cost", "max_tokens", "timeout", "forge",
		"threshold", "max_inline", "deep", "fail_on")
	return cmd
}

// installation is what a server and the commands about it use.
type installation struct {
	settings   *settings.Settings
	connection workspace.Connection
	reviewer   *workspace.Env
	job        run.Job
	secrets    []string // that are never logged
}

// install opens the database and the forge of a server. close closes them.
func (a *app) install(ctx context.Context, flags map[string]string) (*installation, func() error, error) {
	if err := a.readSecretFiles(); err != nil {
		return nil, nil, err
	}
	op, err := a.settings(flags)
	if err != nil {
		return nil, nil, err
	}
	a.pushes = true
	conn, err := a.connect(op)
	if err != nil {
		return nil, nil, err
	}
	if !conn.Known {
		return nil, nil, hinted(errors.New("a server needs a token of the forge"), "set %s, or an App's key", conn.TokenName)
	}
	job, err := a.job(op, reviewOptions{})
	if err != nil {
		return nil, nil, err
	}
	r := a.workflow()
	if r.DataDir == "" {
		return nil, nil, hinted(errors.New("there is no data folder"), "set HOME or XDG_DATA_HOME")
	}
	db, err := r.OpenInstallation(ctx, a.env[databaseVariable])
	if err != nil {
		return nil, nil, err
	}
	r.Shared = db
	if err := a.keepMarkerKey(ctx, &conn, db); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	i := &installation{settings: op, connection: conn, reviewer: r, job: job, secrets: conn.Secrets}
	if url := a.env[databaseVariable]; url != "" {
		i.secrets = append(i.secrets, passwordOf(url)...)
	}
	return i, db.Close, nil
}

// markerKeyName is the name of the key in the database.
const markerKeyName = "marker-key"

// keepMarkerKey makes the key that signs our comments, if the environment has none, and keeps it
// in the database, so that all replicas have the same.
func (a *app) keepMarkerKey(ctx context.Context, c *workspace.Connection, db *workspace.Database) error {
	if !c.Key.IsZero() {
		return nil
	}
	key, err := db.KeepValue(ctx, markerKeyName, crand.Text()+crand.Text())
	if err != nil {
		return err
	}
	return setMarkerKey(c, key)
}

// serverGC lets the heap of a server grow by half before garbage is collected: it runs for long, and
// little at a time.
const serverGC = 50

// serve runs a server until ctx ends, or once.
func (a *app) serve(ctx context.Context, flags map[string]string, once bool, level slog.Level) error {
	i, closeAll, err := a.install(ctx, flags)
	if err != nil {
		return err
	}
	defer closeAll() //nolint:errcheck // what was saved does not depend on it
	release, err := a.holdServer(ctx, i.reviewer.DataDir)
	if err != nil {
		return err
	}
	defer release()
	log := server.NewLog(a.err, i.settings.LogFormat.Value, level, i.secrets)
	i.reviewer.Log = log
	o := a.serverOptions(i, log)
	if o.Secrets, err = a.webhookSecrets(); err != nil {
		return err
	}
	if !once {
		site, end, err := a.pages(ctx, i, flags, log)
		if err != nil {
			return err
		}
		defer end(context.WithoutCancel(ctx)) //nolint:errcheck // it runs nothing
		if site != nil {
			o.Pages = site
		}
	}
	s, err := server.New(ctx, o)
	if err != nil {
		return err
	}
	if once {
		return a.serveOnce(ctx, s)
	}
	var listener net.Listener
	if at := i.settings.Listen.Value; at != "" {
		if listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", at); err != nil {
			return errors.Join(hinted(fmt.Errorf("listen on %s: %w", at, err), "choose another address with --listen, or off"),
				s.Close(ctx))
		}
	}
	if a.env["GOGC"] == "" {
		debug.SetGCPercent(serverGC)
	}
	if err := s.Run(ctx, listener); err != nil {
		return err
	}
	return exitStatus(precedent.ExitClean)
}

// holdServer makes sure that only one server uses the file of the data folder. Servers with a
// database in PostgreSQL may be several.
func (a *app) holdServer(ctx context.Context, folder string) (release func(), err error) {
	if a.env[databaseVariable] != "" {
		return func() {}, nil
	}
	release, err = background.Hold(ctx, filepath.Join(folder, "server.pid"),
		background.Record{PID: os.Getpid(), Since: a.now().UTC().Truncate(time.Second)}, backoff.Sleep)
	if errors.Is(err, background.ErrRunning) {
		err = hinted(fmt.Errorf("another server uses %s: %w", folder, err),
			"stop that one, or use PostgreSQL for several: docs/operation.md")
	}
	return release, err
}

func (a *app) serveOnce(ctx context.Context, s *server.Server) error {
	done, err := s.Once(ctx)
	if err != nil {
		return err
	}
	if done.Waiting > 0 {
		a.notice("%s for later, such as pending checks", pluralAre(done.Waiting, "job"))
	}
	switch {
	case done.Unread > 0:
		return &workspace.Error{
			Err:  fmt.Errorf("%s of repositories failed", plural(done.Unread, "poll")),
			Hint: "the log says why", Status: precedent.ExitIncomplete,
		}
	case done.Dead > 0:
		return &workspace.Error{
			Err:    fmt.Errorf("%s failed for good", plural(done.Dead, "job")),
			Status: precedent.ExitIncomplete,
		}
	}
	return nil
}

// webhookSecrets are those that sign webhooks. One that can be guessed is an error.
func (a *app) webhookSecrets() (all []string, err error) {
	for _, name := range []string{webhookSecret, webhookSecretOld} {
		switch n := len(a.env[name]); {
		case n >= minToken:
			all = append(all, a.env[name])
		case n > 0:
			return nil, hinted(fmt.Errorf("%s has fewer than %d bytes and can be guessed", name, minToken),
				"make one with: openssl rand -hex 32")
		}
	}
	return all, nil
}

func (a *app) serverOptions(i *installation, log *slog.Logger) server.Options {
	host, err := os.Hostname()
	if err != nil {
		host = "server"
	}
	i.reviewer.Replica = fmt.Sprintf("%s-%d-%s", host, os.Getpid(), crand.Text()[:8])
	round := round.Options{Reviews: i.settings.Reviews.Value}
	if i.settings.Gates.Value {
		round.Gate = a.gate(i.reviewer, log)
	}
	return server.Options{
		Reviewer: i.reviewer, Connection: i.connection, Job: i.job, Round: round, Fixes: i.settings.Fixes.Value &&
			i.job.Engine.New != nil,
		Repositories: server.Repositories{Listed: i.settings.Repositories.Value, Owners: i.settings.Owners.Value},
		Interval:     i.settings.Interval.Value,
		Token:        a.env[serverToken],
		Connections:  maxConnections(), Slots: i.settings.Jobs.Value, Replica: i.reviewer.Replica,
		Sandbox: sync.OnceValue(a.sandboxKind),
		Version: thisBuild().Version, Log: log, Now: a.now, Sleep: backoff.Sleep, Random: rand.N[time.Duration],
	}
}

// defaultGoProxy is where a gate gets Go modules that the base requires, unless GOPROXY names
// another server. It is that of the Go project.
const defaultGoProxy = "https://proxy.golang.org"

// Where a gate gets the packages that the base requires, unless the operator names other servers.
const (
	npmRegistry = "https://registry.npmjs.org"
	pythonIndex = "https://pypi.org/simple"
	cratesIndex = "https://index.crates.io"
)

// onlyServer is the address of the only server of a kind that a gate may ask: the operator's, else the usual
// one. Anything that does not begin with https://, such as off, means none.
func (a *app) onlyServer(variable, usual string) string {
	address := strings.TrimPrefix(cmp.Or(a.env[variable], usual), "sparse+")
	if !strings.HasPrefix(address, "https://") {
		return ""
	}
	return address
}

// packageClient sends the requests for packages, through the operator's proxy, and never without
// encryption.
func (a *app) packageClient() *http.Client {
	const longest, redirects = time.Minute, 5
	return &http.Client{
		Transport: &http.Transport{
			Proxy:             func(r *http.Request) (*url.URL, error) { return a.proxy(r.URL.String()) },
			ForceAttemptHTTP2: true, TLSHandshakeTimeout: longest, ResponseHeaderTimeout: longest, IdleConnTimeout: longest,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if r.URL.Scheme != "https" || len(via) > redirects {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
}

// gate returns what builds and tests pull requests, in the sandbox alone. The logger may be nil.
func (a *app) gate(r *workspace.Env, log *slog.Logger) *gate.Runner {
	path := a.env["PATH"]
	proxy, _, _ := strings.Cut(cmp.Or(a.env["GOPROXY"], defaultGoProxy), ",")
	if !strings.HasPrefix(proxy, "https://") { // off, direct or a file
		proxy = ""
	}
	g := &gate.Runner{
		Sandbox: a.probeSandbox,
		Path:    path, ModCache: a.goEnv().ModCache, GoProxy: proxy, Log: log,
		NPMRegistry: a.onlyServer("NPM_CONFIG_REGISTRY", npmRegistry),
		PythonIndex: a.onlyServer("PIP_INDEX_URL", pythonIndex),
		CratesIndex: a.onlyServer("CARGO_REGISTRIES_CRATES_IO_INDEX", cratesIndex),
		Client:      a.packageClient(),
	}
	if r.CacheDir != "" {
		g.CacheDir = filepath.Join(r.CacheDir, "gate")
	}
	return g
}

// probeSandbox returns the best sandbox that works here.
func (a *app) probeSandbox(ctx context.Context) (sandbox.Sandbox, error) {
	if a.box != nil {
		return a.box(ctx)
	}
	return sandbox.Probe(ctx, a.env["PATH"])
}

// sandboxKind says whether there is a sandbox.
func (a *app) sandboxKind() string {
	box, err := a.probeSandbox(context.Background())
	if err != nil {
		return "none: gates and linters are skipped"
	}
	return string(box.Kind())
}
