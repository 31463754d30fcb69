package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/child"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/engine/api"
	"github.com/precedent-dev/precedent/internal/engine/claude"
	"github.com/precedent-dev/precedent/internal/engine/command"
	"github.com/precedent-dev/precedent/internal/llm"
	"github.com/precedent-dev/precedent/internal/mcp"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// model returns the model for an engine setting, with its fallback models.
func (a *app) model(o *settings.Settings, s settings.Value[settings.Engine]) (llm.Model, error) {
	kind := s.Value.Kind
	key, url := llm.Secret(a.env[settings.KeyOf[kind]]), a.env[settings.URLOf[kind]]
	if key == "" && url == "" {
		return nil, hinted(fmt.Errorf("engine %s (%s): %s is not set", kind, s.Source, settings.KeyOf[kind]),
			"set it in the environment, or use another engine")
	}
	names := o.Model.Value
	if len(names) == 0 && kind == settings.OpenAI && url != "" && url != llm.OpenAIURL {
		return nil, hinted(errors.New("engine openai: no model is set for "+settings.URLOf[kind]),
			"set one that the server has: --model NAME or PRECEDENT_MODEL=NAME")
	}
	if len(names) == 0 {
		names = []string{settings.DefaultModel[kind]}
	}
	open := llm.OpenAI
	if kind == settings.Anthropic {
		open = llm.Anthropic
	}
	var models []llm.Model
	for _, name := range names {
		m, err := open(llm.Config{Key: key, BaseURL: url, Model: cmp.Or(name, settings.DefaultModel[kind]), Now: a.now})
		if err != nil {
			return nil, hinted(fmt.Errorf("engine %s: %w", kind, err), "check %s", settings.URLOf[kind])
		}
		models = append(models, m)
	}
	return llm.Reliable(llm.RealWaiting(), models...), nil
}

// chosenEngine is the engine that the operator chose, before the change is known.
// At most one of program, model and claudePath is set.
type chosenEngine struct {
	whyNone    string        // why no engine is chosen
	program    engine.Engine // a program, or the engine of the demo
	model      llm.Model     // a model behind an API
	claudePath string        // the path of Claude Code
	source     string        // the source of the setting
}

func (r chosenEngine) exists() bool { return r.program != nil || r.model != nil || r.claudePath != "" }

// chooseEngine returns the engine that the operator chose.
func (a *app) chooseEngine(o *settings.Settings) (chosenEngine, error) {
	if a.fixedEngine != nil {
		return chosenEngine{program: a.fixedEngine}, nil
	}
	s := o.Engine
	switch {
	case s.Value.Kind == settings.NoEngine:
		return chosenEngine{whyNone: whyNoEngine(s.Source)}, nil
	case s.Value.Kind == settings.Claude:
		path := child.Find(settings.Claude, a.env["PATH"])
		if path == "" {
			return chosenEngine{}, hinted(errors.New("engine claude: the program is not in PATH"),
				"npm install -g @anthropic-ai/claude-code, or use another engine")
		}
		return chosenEngine{claudePath: path, source: s.Source.String()}, nil
	case s.Value.Kind != settings.Command:
		m, err := a.model(o, s)
		return chosenEngine{model: m, source: s.Source.String()}, err
	}
	e, err := command.New(s.Value.Program, nil, a.engineEnvironment())
	if err != nil {
		return chosenEngine{}, err
	}
	e.Why = s.Source.String()
	return chosenEngine{program: e}, nil
}

// claudeVariables are the variables that Claude Code gets: what it needs to log in
// and to reach its server.
var claudeVariables = []string{
	"HOME", "PATH", "USER", "LANG", "TMPDIR", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL",
	"CLAUDE_CODE_OAUTH_TOKEN",
	"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
}

// claudeEngine returns the engine that asks Claude Code, and what closes it.
func (a *app) claudeEngine(op *settings.Settings, r chosenEngine,
	o workspace.EngineOptions,
) (*claude.Engine, func() error) {
	c := claude.Config{
		Program: r.claudePath, Model: op.Model.Text, Why: r.source, Now: a.now, Budget: o.Budget,
		Transcripts: op.Transcripts.Value,
		Host:        cmp.Or(a.env[settings.URLOf[settings.Anthropic]], "Anthropic, with the login of Claude Code"),
	}
	for _, name := range claudeVariables {
		if v := a.env[name]; v != "" {
			c.Env = append(c.Env, name+"="+v)
		}
	}
	command, remove, err := learningsServer(o.Learnings)
	if err != nil {
		a.notice("%v; the model cannot ask for the learnings that did not fit into its prompt", err)
	}
	c.Learnings = command
	e := claude.New(c)
	return e, func() error { return errors.Join(e.Close(), remove()) }
}

// learningsServer returns the command that serves the learnings, if there are any, and what
// removes its file.
func learningsServer(all []precedent.Learning) (command []string, remove func() error, err error) {
	remove = func() error { return nil }
	if len(all) == 0 {
		return nil, remove, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, remove, fmt.Errorf("serve learnings: %w", err)
	}
	dir, err := os.MkdirTemp("", "precedent-learnings-")
	if err != nil {
		return nil, remove, fmt.Errorf("serve learnings: %w", err)
	}
	remove = func() error { return os.RemoveAll(dir) }
	data, err := json.Marshal(all)
	file := filepath.Join(dir, "learnings.json")
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		return nil, remove, fmt.Errorf("serve learnings: %w", err)
	}
	return []string{self, "mcp", "--learnings", file}, remove, nil
}

// newEngine returns the chosen engine, or nil if none is chosen, and a function that
// closes it.
func (a *app) newEngine(op *settings.Settings, r chosenEngine,
	o workspace.EngineOptions,
) (engine.Engine, func() error) {
	nothing := func() error { return nil }
	switch {
	case r.program != nil:
		return o.Budget.Within(r.program), nothing
	case r.claudePath != "":
		return a.claudeEngine(op, r, o)
	case r.model != nil:
		c := api.Config{
			Model: r.model, Files: api.Files(o.Files), Prices: llm.ListPrices().With(op.Prices), Budget: o.Budget,
			Window: o.Window, Why: r.source,
		}
		if len(o.Learnings) > 0 {
			c.Tools = []llm.Tool{mcp.LearningsTool(o.Learnings)}
		}
		return api.New(c), nothing
	}
	return nil, nothing
}
