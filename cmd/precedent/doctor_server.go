package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/doctor"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/pull"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func (a *app) diagnoseServer(ctx context.Context, flags map[string]string, try bool) (*doctor.Diagnosis, error) {
	d := doctor.New(hintOf)
	if err := a.readSecretFiles(); err != nil {
		d.AddError("secrets", doctor.Missing, err)
	}
	op, err := a.diagnosedSettings(d, flags)
	if err != nil {
		return nil, err
	}
	d.Git(ctx, a.gitOptions())
	a.checkEngine(ctx, d, op, try)
	d.Sandbox(ctx, a.env["PATH"])
	if dir, err := os.MkdirTemp("", "precedent-doctor-"); err != nil {
		d.Add("temporary folder", doctor.Missing, "set TMPDIR to a writable folder", "%v", err)
	} else {
		_ = os.Remove(dir) // else the end of this process does it
	}
	conn, err := a.connect(op)
	switch {
	case err != nil:
		d.AddError("forge", doctor.Missing, err)
	case !conn.Known:
		d.Add("forge", doctor.Missing, "set "+conn.TokenName+", or an App's key", "%s, without a token", conn.Host())
	default:
		a.checkServed(ctx, d, op, conn)
	}
	key := a.checkInstallation(ctx, d)
	if err == nil && !conn.Key.IsZero() {
		key = "from " + markerKeyVariable + " or the App's key"
	}
	if key != "" {
		d.Add("marker key", doctor.OK, "", "%s", key)
	}
	a.checkWebhooks(d, op)
	return d, ctx.Err()
}

// checkServed checks whose the token is, and whether it may read and write the repositories.
func (a *app) checkServed(ctx context.Context, d *doctor.Diagnosis, op *settings.Settings, conn workspace.Connection) {
	const name = "forge"
	within, cancel := context.WithTimeout(ctx, forgeTimeout)
	defer cancel()
	me, err := conn.Me(within)
	if err != nil {
		d.AddError(name, doctor.Missing, conn.Explain(err))
		return
	}
	about := conn.Host() + " (" + op.Forge.Source.String() + "), as " + me.Login
	if q := conn.Quota(); q.Limit > 0 {
		about += ", " + pull.QuotaLeft(q)
	}
	d.Add(name, doctor.OK, "", "%s", about)
	owners := op.Owners.Value
	if len(owners) == 0 {
		owners = []string{""}
	}
	var writable []precedent.Repo
	for _, owner := range owners {
		found, err := conn.Repositories(within, owner)
		if err != nil && forge.KindOf(err) != forge.KindTooLarge {
			d.AddError("repositories", doctor.Missing, conn.Explain(err))
			return
		}
		writable = append(writable, found...)
	}
	for _, r := range op.Repositories.Value {
		_, err := conn.Open(within, r)
		switch {
		case r.Host != conn.Host():
			d.Add("repositories", doctor.Missing, otherForgeHint, "%s is not on %s", r, conn.Host())
		case err != nil:
			d.AddError("repositories", doctor.Missing, conn.Explain(err))
		case len(op.Owners.Value) == 0 &&
			!slices.ContainsFunc(writable, func(w precedent.Repo) bool { return workspace.SameRepo(w, r) }):
			d.Add("repositories", doctor.Warning,
				"give the account write access, and the token the permissions of docs/server.md",
				"%s can be read, but perhaps not written to", r)
		}
	}
	switch {
	case len(op.Repositories.Value) > 0:
		d.Add("repositories", doctor.OK, unproven, "%d listed", len(op.Repositories.Value))
	case len(writable) == 0:
		d.Add("repositories", doctor.Missing, "give the account write access, or list them with --repositories",
			"none that the account may write to")
	default:
		d.Add("repositories", doctor.OK, unproven, "%d that the account may write to", len(writable))
	}
	if d.Works {
		d.Add("labels", doctor.OK, "", "the first round in a repository creates %s, or those of its policy",
			strings.Join(label.DefaultNames().All(), ", "))
	}
}

// unproven is the limit of what forges say about a token.
const unproven = "this does not check the permissions of the token, which forges do not report: see docs/server.md"

// checkInstallation checks the database of a server, and tells where its key for comments is, if that is known. It
// creates no file and no table.
func (a *app) checkInstallation(ctx context.Context, d *doctor.Diagnosis) (key string) {
	const (
		name = "database"
		none = "none yet; the first start makes one and keeps it in the database"
	)
	r := a.workflow()
	url := a.env[databaseVariable]
	if url == "" && r.DataDir == "" {
		d.Add(name, doctor.Missing, "set HOME or XDG_DATA_HOME", "there is no data folder")
		return ""
	}
	db, err := r.UntouchedInstallation(ctx, url)
	if err != nil {
		d.AddError(name, doctor.Missing, err)
		return ""
	}
	if db == nil {
		d.Add(name, doctor.OK, "", "none yet; the first start creates %s",
			filepath.Join(r.DataDir, workspace.InstallationFile))
		return none
	}
	defer db.Close()
	schema, newest, err := db.Schema(ctx)
	state := ""
	if err == nil && schema == newest {
		_, state, err = doctor.Undamaged(ctx, db)
	}
	switch {
	case err != nil:
		d.AddError(name, doctor.Missing, err)
		return ""
	case schema == 0:
		d.Add(name, doctor.OK, "", "%s, empty; the first start makes its tables", db.Path())
		return none
	case schema > newest:
		d.Add(name, doctor.Missing, "update precedent", "%s, schema %d of a newer precedent", db.Path(), schema)
		return ""
	case schema < newest:
		d.Add(name, doctor.OK, "", "%s, schema %d; the next start upgrades it to %d", db.Path(), schema, newest)
		return ""
	}
	d.Add(name, doctor.OK, "", "%s, schema %d, %s", db.Path(), schema, state)
	switch has, err := db.HasValue(ctx, markerKeyName); {
	case err != nil:
		return ""
	case has:
		return "in the database"
	}
	return none
}

func (a *app) checkWebhooks(d *doctor.Diagnosis, op *settings.Settings) {
	const name = "webhooks"
	secret, old := a.env[webhookSecret], a.env[webhookSecretOld]
	switch _, err := a.webhookSecrets(); {
	case op.Forge.Value.Kind == forge.Local:
		d.Add(name, doctor.OK, "", "none: a local forge sends none")
	case secret == "" && old == "":
		d.Add(name, doctor.OK, "set "+webhookSecret+" to take them: docs/server.md", "none; changes are found within %s",
			op.Interval.Value)
	case err != nil:
		d.Add(name, doctor.Missing, hintOf(err), "%v", err)
	case secret == "":
		d.Add(name, doctor.Warning, "set "+webhookSecret+" to the new secret", "only %s is set", webhookSecretOld)
	default:
		d.Add(name, doctor.OK, "", "%s is set", webhookSecret)
	}
}
