package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/doctor"
	"github.com/precedent-dev/precedent/internal/engine/api"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/llm"
	"github.com/precedent-dev/precedent/internal/pull"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func newDoctor(a *app) *cobra.Command {
	var try, forServer bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the setup, and show what is missing",
		Long: `Doctor checks git, the repository, the engine, the sandbox, the forge, the memory,
the policy, the linters, the guide, the gate and the hook.
For each it prints ok, warn (a review works without it) or missing (a review
needs it), and how to fix it.

If a forge token is set, doctor asks the forge whose it is. It sends nothing else unless
--try is given, which asks the model for one token, prints what that cost, and asks the
embedding model for one vector. Keys are never printed.

With --server it checks what precedent serve needs instead: git, the engine, the
sandbox, the temporary folder, the token and the repositories, the database and the
webhooks.

Exit status: 0 if a review would work, 2 if something that it needs is missing.`,
		Example: `  precedent doctor
  precedent doctor --try
  precedent doctor --server
  precedent doctor --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			diagnose := a.diagnose
			if forServer {
				diagnose = a.diagnoseServer
			}
			d, err := diagnose(cmd.Context(), settingFlags(cmd), try)
			if err != nil {
				return err
			}
			err = a.show(d, d.Print)
			if err == nil && !d.Works {
				err = exitStatus(precedent.ExitUsage)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&try, "try", false, "ask the model for one token, which has a small cost")
	cmd.Flags().BoolVar(&forServer, "server", false, "check what precedent serve needs")
	return a.data(cmd, "engine", "model", "memory_db", "repo", "forge", "trusted_branch", "repositories", "owners")
}

// diagnosedSettings reads the settings. If they have an error, it is part of the diagnosis, and the
// defaults are used.
func (a *app) diagnosedSettings(d *doctor.Diagnosis, flags map[string]string) (*settings.Settings, error) {
	op, err := a.settings(flags)
	if err != nil {
		d.AddError("settings", doctor.Missing, err)
		return settings.Read(settings.Sources{})
	}
	return op, nil
}

// diagnose checks everything. It ends early only if it is interrupted.
func (a *app) diagnose(ctx context.Context, flags map[string]string, try bool) (*doctor.Diagnosis, error) {
	d := doctor.New(hintOf)
	op, err := a.diagnosedSettings(d, flags)
	if err != nil {
		return nil, err
	}
	d.Git(ctx, a.gitOptions())
	repo, err := a.openRepo(ctx)
	if err != nil {
		d.AddError("repository", doctor.Missing, err)
	} else {
		defer repo.Close()
		d.Repository(ctx, repo, op.Forge.Value)
	}
	a.checkEngine(ctx, d, op, try)
	a.checkEmbeddings(ctx, d, op, try)
	sandboxed := d.Sandbox(ctx, a.env["PATH"])
	a.checkForge(ctx, d, op, repo)
	if repo != nil {
		if r, err := a.openRepository(ctx, op); err != nil {
			d.AddError("memory", doctor.Warning, err)
		} else {
			defer r.Close()
			d.Memory(ctx, a.workflow(), r)
		}
		policy, err := run.CurrentPolicy(ctx, repo, op.TrustedBranch.Value)
		if err != nil {
			d.AddError("policy", doctor.Missing, err)
		} else {
			d.Policy(policy.Policy, policy.Source, policy.Errors)
		}
		linters, failures := lint.Choose(op.Linters, policy.Linters)
		d.Linters(linters, failures, a.linterPath(), sandboxed)
		d.Guide(ctx, repo)
		d.Gate(ctx, repo, policy.Gate, sandboxed)
		d.Hook(repo)
	}
	return d, ctx.Err()
}

// checkEngine checks the engine, and with try sends it a request.
func (a *app) checkEngine(ctx context.Context, d *doctor.Diagnosis, op *settings.Settings, try bool) {
	const name = "engine"
	r, err := a.chooseEngine(op)
	if err != nil {
		d.AddError(name, doctor.Missing, err)
		return
	}
	var keys []string
	for _, variable := range []string{settings.KeyOf[settings.Anthropic], settings.KeyOf[settings.OpenAI]} {
		state := "not set"
		if a.env[variable] != "" {
			state = "set"
		}
		keys = append(keys, variable+" is "+state)
	}
	about := strings.Join(keys, ", ")
	switch {
	case r.model != nil:
		d.Add(name, doctor.OK, "", "%s; %s", api.New(api.Config{
			Model: r.model, Prices: llm.ListPrices().With(op.Prices),
			Why: r.source,
		}).Info().Line, about)
	case r.claudePath != "":
		d.Add(name, doctor.OK, "", "claude %s (%s); %s", r.claudePath, r.source, about)
	case r.program != nil:
		d.Add(name, doctor.OK, "", "%s", r.program.Info().Line)
	default:
		d.Add(name, doctor.Warning, "set a key, or configure a program or a local server: docs/getting-started.md",
			"%s: only the analyzers run; %s", r.whyNone, about)
	}
	if try {
		d.Try(ctx, r.model, llm.ListPrices().With(op.Prices))
	}
}

// checkEmbeddings checks the embedding model, if one is set, and with try sends it a text.
func (a *app) checkEmbeddings(ctx context.Context, d *doctor.Diagnosis, op *settings.Settings, try bool) {
	const name = "embeddings"
	e, err := a.embeddings(op)
	if err != nil {
		d.AddError(name, doctor.Warning, err)
		return
	}
	if e == nil {
		return
	}
	key := "not set"
	if a.env[settings.EmbeddingsKey] != "" {
		key = "set"
	}
	price := "price unknown, so the cost is not counted"
	if e.Price != nil {
		price = fmt.Sprintf("$%g per million tokens", e.Price.Input)
	}
	d.Add(name, doctor.OK, "", "%s (%s) → %s; %s; %s is %s", e.Server.Model(), op.EmbeddingsModel.Source, e.Server.Host(),
		price, settings.EmbeddingsKey, key)
	if try {
		d.TryEmbeddings(ctx, e.Server, op.EmbeddingsTimeout.Value)
	}
}

// forgeTimeout limits the request for the owner of the token.
const forgeTimeout = 20 * time.Second

// checkForge reports which forge pull requests are read from, and as which user. It
// asks the forge only if there is a token for it. It reports nothing if neither the
// settings nor the repository point to a forge: most reviews need none.
func (a *app) checkForge(ctx context.Context, d *doctor.Diagnosis, op *settings.Settings, repo *git.Repo) {
	const name = "forge"
	conn, err := a.connect(op)
	if err != nil {
		d.AddError(name, doctor.Warning, err) // reviews of local changes need no forge
		return
	}
	var id precedent.Repo
	if repo != nil {
		at := workspace.Location{Repo: op.Repo.Value, Forge: op.Forge.Value}
		if ids, err := workspace.Identities(ctx, repo, at); err == nil { // errors are reported with the repository
			id = ids[0]
		}
	}
	here := id.Host == conn.Host()
	if !here && !conn.Known && op.Forge.Source.By == settings.Default {
		return
	}
	if !conn.Known {
		hint := "set " + conn.TokenName + " to read private pull requests, and to post"
		d.Add(name, doctor.OK, hint, "%s (%s), without a token: it can read public pull requests, but not post", conn.Host(),
			op.Forge.Source)
		return
	}
	within, cancel := context.WithTimeout(ctx, forgeTimeout)
	defer cancel()
	if here { // an App acts for a repository
		_, err = conn.Token(within, id)
	}
	var me forge.Person
	if err == nil {
		me, err = conn.Me(within)
	}
	if err != nil {
		d.AddError(name, doctor.Warning, conn.Explain(err))
		return
	}
	about := conn.Host() + " (" + op.Forge.Source.String() + "), as " + me.Login
	if q := conn.Quota(); q.Limit > 0 {
		about += ", " + pull.QuotaLeft(q)
	}
	if !here && !id.IsZero() && !id.IsLocal() {
		d.Add(name, doctor.Warning, otherForgeHint, "%s; but the clone's remote is on %s", about, id.Host)
		return
	}
	d.Add(name, doctor.OK, "", "%s", about)
	if conn.Key.IsZero() {
		without := "max_cost_per_day counts per memory"
		if me.SharedByWorkflows() {
			without = "comments count as ours only while their numbers are in the memory, and " + without
		}
		d.Add("marker key", doctor.Warning, "openssl rand -hex 32 makes one; keep it as a secret, the same for every run",
			"%s is not set: %s", markerKeyVariable, without)
	}
}
