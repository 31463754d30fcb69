package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/engine/api"
	"github.com/precedent-dev/precedent/internal/engine/claude"
	"github.com/precedent-dev/precedent/internal/engine/command"
	"github.com/precedent-dev/precedent/internal/llm"
)

// The engines that are models behind an API.
const (
	anthropicEngine = "anthropic"
	openAIEngine    = "openai"
)

// claudeEngine is Claude Code, the agent on the command line. It is asked only
// when it is named: its login, unlike a key, is not made for this.
const claudeEngine = "claude"

// The models that are asked when none is named.
const (
	anthropicModel = "claude-sonnet-5-5"
	openAIModel    = "gpt-5"
)

// keyOf names the variable that holds the key of an engine.
var keyOf = map[string]string{anthropicEngine: "ANTHROPIC_API_KEY", openAIEngine: "OPENAI_API_KEY"}

// urlOf names the variable that holds the address of an engine. The operator's
// environment may name another host; no file of a repository can.
var urlOf = map[string]string{anthropicEngine: "ANTHROPIC_BASE_URL", openAIEngine: "OPENAI_BASE_URL"}

// chosenEngine is the engine setting, or what the environment has a key for.
func (a *app) chosenEngine(o operator) setting {
	s := o.get(engineKnob, "", "")
	if s.Value != "" {
		return s
	}
	for _, found := range []struct{ variable, engine string }{
		{keyOf[anthropicEngine], anthropicEngine}, {keyOf[openAIEngine], openAIEngine}, {urlOf[openAIEngine], openAIEngine},
	} {
		if a.env[found.variable] != "" {
			return setting{engineKnob.key, found.engine, found.variable + " is set"}
		}
	}
	return setting{engineKnob.key, noEngine, "default"}
}

// model makes the model that an engine setting stands for.
func (a *app) model(o operator, s setting) (llm.Model, error) {
	key, url := llm.Secret(a.env[keyOf[s.Value]]), a.env[urlOf[s.Value]]
	if key == "" && url == "" {
		return nil, hinted(fmt.Errorf("engine %s (%s): %s is not set", s.Value, s.Source, keyOf[s.Value]), "set it in the environment, or use another engine")
	}
	names := o.get(modelKnob, "", "").Value
	if names == "" && s.Value == openAIEngine && url != "" && url != llm.OpenAIURL {
		return nil, hinted(errors.New("engine openai: no model is named for "+urlOf[s.Value]), "name one that the server has: --model NAME or PRECEDENT_MODEL=NAME")
	}
	var models []llm.Model
	for name := range strings.SplitSeq(names, ",") {
		var m llm.Model
		var err error
		name = strings.TrimSpace(name)
		if s.Value == anthropicEngine {
			m, err = llm.Anthropic(llm.AnthropicConfig{Key: key, BaseURL: url, Model: or(name, anthropicModel), Now: a.now})
		} else {
			m, err = llm.OpenAI(llm.OpenAIConfig{Key: key, BaseURL: url, Model: or(name, openAIModel), Now: a.now})
		}
		if err != nil {
			return nil, hinted(fmt.Errorf("engine %s: %w", s.Value, err), "look at %s", urlOf[s.Value])
		}
		models = append(models, llm.Reliable(m, llm.RealWaiting()))
	}
	return llm.Failover(models...), nil
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// reader is the engine that was chosen, before the change is known.
type reader struct {
	why     string        // why there is none
	program engine.Engine // a program, or what a command brought along
	model   llm.Model     // else a model, with the setting that named it
	agent   string        // else the path of Claude Code
	setting setting
}

// reads tells whether there is one.
func (r reader) reads() bool { return r.program != nil || r.model != nil || r.agent != "" }

// reader finds the engine that the operator chose.
func (a *app) reader(o operator) (reader, error) {
	if a.brought != nil {
		return reader{program: a.brought}, nil
	}
	s := a.chosenEngine(o)
	switch {
	case s.Value == noEngine:
		return reader{why: whyNoEngine(s)}, nil
	case s.Value == claudeEngine:
		path, err := a.lookPath(claudeEngine)
		return reader{agent: path, setting: s}, err
	case keyOf[s.Value] != "":
		m, err := a.model(o, s)
		return reader{model: m, setting: s}, err
	}
	path, err := a.enginePath(s)
	if err != nil {
		return reader{}, err
	}
	e, err := command.New(path, nil, a.engineEnvironment())
	if err != nil {
		return reader{}, err
	}
	e.Why = s.Source
	return reader{program: e}, nil
}

// lookPath finds a program in the absolute folders of PATH: a relative one could
// mean the reviewed repository.
func (a *app) lookPath(name string) (string, error) {
	for _, dir := range filepath.SplitList(a.env["PATH"]) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", hinted(fmt.Errorf("engine %s: there is no such program in PATH", name), "npm install -g @anthropic-ai/claude-code, or use another engine")
}

// agentEnvironment names what Claude Code gets of the environment: what it
// needs to log in and to reach its server.
var agentEnvironment = []string{
	"HOME", "PATH", "USER", "LANG", "TMPDIR", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN",
	"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
}

func (a *app) agent(o operator, r reader, b *engine.Budget) *claude.Engine {
	c := claude.Config{
		Program: r.agent, Model: o.get(modelKnob, "", "").Value, Why: r.setting.Source, Now: a.now, Budget: b,
		Host: or(a.env[urlOf[anthropicEngine]], "Anthropic, as it is logged in"),
	}
	for _, name := range agentEnvironment {
		if v := a.env[name]; v != "" {
			c.Env = append(c.Env, name+"="+v)
		}
	}
	return claude.New(c)
}

// assemble makes the engine that was chosen, nil if none was, and what ends it.
// A model with so many tokens of context, 0 for a large one, may look at the files.
func (a *app) assemble(op operator, r reader, b *engine.Budget, files api.Files, window int) (engine.Engine, func() error) {
	nothing := func() error { return nil }
	switch {
	case r.program != nil:
		return b.Within(r.program), nothing
	case r.agent != "":
		c := a.agent(op, r, b)
		return c, c.Close
	case r.model != nil:
		return api.New(api.Config{
			Model: r.model, Files: files, Prices: llm.ListPrices().With(op.prices), Budget: b, Window: window, Why: r.setting.Source,
		}), nothing
	}
	return nil, nothing
}
