package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/doctor"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/mcp"
	"github.com/precedent-dev/precedent/internal/web"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func newDashboard(a *app) *cobra.Command {
	var address string
	var noBrowser bool
	cmd := &cobra.Command{
		Use:   "dashboard",
		Short: "Show the memory of this repository in a browser",
		Long: `Dashboard serves pages about the memory of the repository around the working folder: past
reviews and why each finding was shown or hidden, learnings, dismissals, insights, what
people said, hotspots and trends. Learnings and dismissals can be changed there.

It listens on this machine only, and prints an address that signs in one browser, once.
Stop it with Ctrl-C. The same pages for a team are part of precedent serve.`,
		Example: "  precedent dashboard\n  precedent dashboard --no-browser --listen 127.0.0.1:8788",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.dashboard(cmd, address, noBrowser)
		},
	}
	cmd.Flags().StringVar(&address, "listen", "127.0.0.1:0",
		"listen on this `address` of this machine; port 0 is any free one")
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "print the address, and open no browser")
	addSettings(cmd, memorySettings...)
	return cmd
}

// dashboard serves the pages of the memory of one repository until ctx ends.
func (a *app) dashboard(cmd *cobra.Command, address string, noBrowser bool) error {
	ctx, flags := cmd.Context(), settingFlags(cmd)
	if host, _, err := net.SplitHostPort(address); err != nil || !wire.IsLoopback(host) {
		return misuse(cmd, fmt.Errorf("--listen %s: want an address of this machine with a port, such as 127.0.0.1:8788",
			address))
	}
	op, err := a.settings(flags)
	if err != nil {
		return err
	}
	w, err := a.openWorkspace(ctx, flags)
	if err != nil {
		return err // now, not on the first page
	}
	user := a.user()
	if w.Git != nil {
		user = cmp.Or(w.Git.UserName(), user)
	}
	w.Close()
	token := rand.Text()
	site := web.New(web.Options{
		Env:   a.workflow(),
		Local: func(ctx context.Context) (*workspace.Workspace, error) { return a.openWorkspace(ctx, flags) },
		User:  user, StartToken: token, DayBudget: op.MaxCostPerDay.Value, PullBudget: op.MaxCostPull.Value,
		Version: thisBuild().Version, Log: slog.New(notices{a}), Now: a.now,
		Health: func(ctx context.Context) []web.Fact { return factsOf(a.diagnose(ctx, flags, false)) },
	})
	defer site.Close()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return hinted(fmt.Errorf("listen on %s: %w", address, err), "choose another address with --listen")
	}
	start := fmt.Sprintf("http://%s/start?token=%s", l.Addr(), token)
	fmt.Fprintln(a.out, start)
	a.notice("serving until Ctrl-C; the address signs in one browser, once")
	if _, _, shown := terminal(a.out); shown && !noBrowser {
		a.openBrowser(ctx, start)
	}
	const readTime = 10 * time.Second
	server := &http.Server{
		Handler: site, ReadHeaderTimeout: readTime,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelWarn),
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(l); ctx.Err() == nil {
		return fmt.Errorf("serve: %w", err)
	}
	return exitStatus(precedent.ExitClean)
}

// openBrowser opens an address in the person's browser, if there is one.
func (a *app) openBrowser(ctx context.Context, address string) {
	open := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if open == nil {
		open = []string{"xdg-open"}
	}
	c := exec.CommandContext(ctx, open[0], append(open[1:], address)...)
	if err := c.Start(); err == nil {
		go func() { _ = c.Wait() }() // the person sees whether it opened
	}
}

func factsOf(d *doctor.Diagnosis, err error) []web.Fact {
	if err != nil {
		return []web.Fact{{Name: "doctor", State: string(doctor.Missing), Text: err.Error(), Hint: hintOf(err)}}
	}
	var all []web.Fact
	for _, c := range d.Checks {
		all = append(all, web.Fact{Name: c.Name, State: string(c.State), Text: c.Text, Hint: c.Hint})
	}
	return all
}

// Variables of the pages of a server.
const (
	oauthID     = "PRECEDENT_OAUTH_CLIENT_ID"
	oauthSecret = "PRECEDENT_OAUTH_CLIENT_SECRET" //nolint:gosec // the name of a variable
	readerToken = "PRECEDENT_READER_TOKEN"
)

// minToken is the least length of the reader's token and of a secret of webhooks, in bytes: what openssl rand -hex 8
// prints.
const minToken = 16

// pages returns the pages of a server, and what ends them; nil if nobody could sign in.
func (a *app) pages(ctx context.Context, i *installation, flags map[string]string, log *slog.Logger) (*web.Site,
	func(context.Context) error, error,
) {
	none := func(context.Context) error { return nil }
	address := i.settings.DashboardURL.Value
	switch mayEnter := a.env[oauthID] != "" || a.env[readerToken] != ""; {
	case !mayEnter && address != "":
		return nil, nil, hinted(errors.New("nobody can sign in to the pages at "+address), "set %s and %s, or %s",
			oauthID, oauthSecret, readerToken)
	case !mayEnter || i.settings.Listen.Value == "":
		return nil, none, nil
	}
	o := web.Options{
		Env: i.reviewer, DB: i.reviewer.Shared, Forge: i.connection, ReaderToken: a.env[readerToken],
		Operators: i.settings.Operators.Value,
		DayBudget: i.settings.MaxCostPerDay.Value, PullBudget: i.settings.MaxCostPull.Value,
		Version: thisBuild().Version, Log: log, Now: a.now,
		Health: func(ctx context.Context) []web.Fact { return factsOf(a.diagnoseServer(ctx, flags, false)) },
		Agents: func(_ precedent.Repo, open func(context.Context) (*workspace.Workspace, error)) http.Handler {
			return mcp.New(open, mcp.Options{Version: thisBuild().Version, Log: log, Search: i.reviewer.SearchCorpus}).Handler()
		},
	}
	if n := len(o.ReaderToken); n > 0 && n < minToken {
		return nil, nil, hinted(errors.New(readerToken+" is too short"), "make one with: openssl rand -hex 32")
	}
	if address != "" {
		o.URL, _ = url.Parse(address) // it was checked when it was read
	}
	if a.env[oauthID] != "" {
		if o.URL == nil || a.env[oauthSecret] == "" {
			return nil, nil,
				hinted(errors.New("people cannot sign in: the address of the pages or the secret of the OAuth application is missing"),
					"set PRECEDENT_DASHBOARD_URL and %s", oauthSecret)
		}
		const longest = 10 * time.Second
		client := a.packageClient()
		client.Timeout = longest
		if wire.IsLoopback(i.connection.Pages().Web.Hostname()) { // a forge on this machine
			client.Transport = nil
			client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		}
		var err error
		o.SignIn, err = web.NewSignIn(i.settings.Forge.Value.Kind, i.connection.Pages(), a.env[oauthID],
			a.env[oauthSecret], o.URL, client)
		if err != nil {
			return nil, nil, err
		}
	}
	jobs, err := i.reviewer.OpenJobs(ctx, i.reviewer.Shared)
	if err != nil {
		return nil, nil, err
	}
	o.Jobs = jobs
	return web.New(o), jobs.Stop, nil //nolint:contextcheck // handlers have the contexts of their requests
}
