package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/engine/api"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workflow"
)

// workflow is what all reviews of this process share.
func (a *app) workflow() *workflow.Reviewer {
	return &workflow.Reviewer{
		Now: a.now, NewID: newID, Sleep: a.pause, Log: slog.New(notices{a}),
		Git: a.gitOptions(), Go: a.goEnv(), Sandbox: lint.Sandbox(a.env["PATH"], a.goEnv()), Version: thisBuild().Version,
		DataDir:  a.folder("XDG_DATA_HOME", filepath.Join(".local", "share")),
		CacheDir: a.folder("XDG_CACHE_HOME", ".cache"),
		CAFile:   a.env["SSL_CERT_FILE"],
		Proxy: func(address string) (string, error) {
			p, err := a.proxy(address)
			if err != nil || p == nil {
				return "", err
			}
			return p.String(), nil
		},
	}
}

// folder is this program's in one of the folders of the XDG specification; empty if
// there is none.
func (a *app) folder(variable, below string) string {
	if path := a.xdg(variable, below, "x"); path != "" {
		return filepath.Dir(path)
	}
	return ""
}

// newID makes the id of a review: a UUIDv7, which sorts by time.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// notices prints what a workflow says, with what helps on a line of its own.
type notices struct{ app *app }

// Enabled tells whether somebody wants to read it.
func (n notices) Enabled(context.Context, slog.Level) bool { return !n.app.quiet }

// Handle prints a notice.
func (n notices) Handle(_ context.Context, r slog.Record) error {
	n.app.notice("%s", r.Message)
	r.Attrs(func(attr slog.Attr) bool {
		if attr.Key == workflow.HintKey {
			n.app.hint(attr.Value.String())
		}
		return true
	})
	return nil
}

// WithAttrs and WithGroup are for other logs: nothing of it is printed.
func (n notices) WithAttrs([]slog.Attr) slog.Handler { return n }

// WithGroup returns n.
func (n notices) WithGroup(string) slog.Handler { return n }

// job is a review as the operator wants it.
func (a *app) job(op *settings.Settings, o reviewOptions) (workflow.Job, error) {
	r, err := a.chooseEngine(op)
	if err != nil {
		return workflow.Job{}, err
	}
	j := workflow.Job{Settings: op, Engine: workflow.EngineSetup{WhyNone: r.whyNone}, Resume: o.resume, Again: o.again}
	if r.exists() {
		j.Engine.New = func(o workflow.EngineOptions) (engine.Engine, func() error) {
			return a.newEngine(op, r, o.Budget, api.Files(o.Files), o.Window)
		}
	}
	return j, nil
}

// markerKeyVariable holds what signs our comments.
const markerKeyVariable = "PRECEDENT_MARKER_KEY"

// ownSecrets are the variables whose values never leave in a comment, beside what
// the forge is asked with: models read what may hold them.
var ownSecrets = append([]string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"}, tokenVariables...)

// connection is the forge, with what signs our comments and what they never show.
func (a *app) connection(st *station) (workflow.Connection, error) {
	c := workflow.Connection{
		Forge: st.Forge, Token: st.token, TokenName: st.named, Folder: st.folder, Known: st.known(), Secrets: slices.Clone(st.secrets),
	}
	for _, name := range ownSecrets {
		if v := strings.TrimSpace(a.env[name]); v != "" {
			c.Secrets = append(c.Secrets, v)
		}
	}
	secret := a.env[markerKeyVariable]
	if secret == "" && st.key != "" {
		// An App's key is known to nobody else and stays: good for another one.
		mac := hmac.New(sha256.New, []byte(st.key))
		mac.Write([]byte("precedent marker"))
		secret = hex.EncodeToString(mac.Sum(nil))
	}
	if secret == "" {
		return c, nil
	}
	c.Secrets = append(c.Secrets, secret)
	var err error
	if c.Key, err = comment.NewKey(secret); err != nil {
		return c, hinted(fmt.Errorf("%s: %w", markerKeyVariable, err), "make one with: openssl rand -hex 32")
	}
	return c, nil
}
