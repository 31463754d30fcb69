package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// workflow returns what all reviews of this process share.
func (a *app) workflow() *workspace.Env {
	o := a.gitOptions()
	o.Lazy = a.env["GIT_NO_LAZY_FETCH"] == "" || a.env["GIT_NO_LAZY_FETCH"] == "0"
	return &workspace.Env{
		Now: a.now, NewID: newID, Sleep: a.pause, Log: slog.New(notices{a}),
		Git: o, Go: a.goEnv(), Sandbox: lint.Sandbox(a.env["PATH"], a.linterPath()), Version: thisBuild().Version,
		DataDir:  a.folder("XDG_DATA_HOME", filepath.Join(".local", "share")),
		CacheDir: a.folder("XDG_CACHE_HOME", ".cache"),
		CAFile:   a.env["SSL_CERT_FILE"],
		Embeddings: func() (*workspace.Embeddings, error) {
			op, err := a.settings(nil) // there are no flags for it
			if err != nil {
				return nil, err
			}
			return a.embeddings(op)
		},
		Proxy: func(address string) (string, error) {
			p, err := a.proxy(address)
			if err != nil || p == nil {
				return "", err
			}
			return p.String(), nil
		},
	}
}

// newID returns the ID of a review: a UUIDv7, which sorts by time.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// notices is a log handler that prints the notices of a workflow, each hint on a
// separate line.
type notices struct{ app *app }

// Enabled reports whether notices are printed.
func (n notices) Enabled(context.Context, slog.Level) bool { return !n.app.quiet }

// Handle prints a notice.
func (n notices) Handle(_ context.Context, r slog.Record) error {
	n.app.notice("%s", r.Message)
	r.Attrs(func(attr slog.Attr) bool {
		if attr.Key == workspace.HintKey {
			n.app.hint(attr.Value.String())
		}
		return true
	})
	return nil
}

// WithAttrs returns n: attributes of a logger are not printed.
func (n notices) WithAttrs([]slog.Attr) slog.Handler { return n }

// WithGroup returns n: groups are not printed.
func (n notices) WithGroup(string) slog.Handler { return n }

// job returns the settings and options of a review.
func (a *app) job(op *settings.Settings, o reviewOptions) (run.Job, error) {
	r, err := a.chooseEngine(op)
	if err != nil {
		return run.Job{}, err
	}
	j := run.Job{
		Settings: op, Engine: workspace.EngineSetup{WhyNone: r.whyNone}, Resume: o.resume, Again: o.again,
		Paths: o.paths,
	}
	if r.exists() {
		j.Engine.New = func(o workspace.EngineOptions) (engine.Engine, func() error) {
			return a.newEngine(op, r, o)
		}
	}
	return j, nil
}

func setMarkerKey(c *workspace.Connection, secret string) error {
	c.Secrets = append(c.Secrets, secret)
	var err error
	if c.Key, err = comment.NewKey(secret); err != nil {
		return hinted(fmt.Errorf("%s: %w", markerKeyVariable, err), "make one with: openssl rand -hex 32")
	}
	return nil
}
