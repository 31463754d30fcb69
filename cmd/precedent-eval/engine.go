package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/engine/api"
	"github.com/precedent-dev/precedent/internal/engine/claude"
	"github.com/precedent-dev/precedent/internal/engine/command"
	"github.com/precedent-dev/precedent/internal/eval"
	"github.com/precedent-dev/precedent/internal/llm"
	"github.com/precedent-dev/precedent/internal/settings"
)

// judge returns the engine that the command line sets as judge, or nil. It ignores the engine of the
// environment and the configuration file, so that a measurement costs nothing unless requested.
func (p *program) judge(cmd *cobra.Command) (v *eval.Reviewer, end func(), err error) {
	flags := given(cmd)
	if len(flags) == 0 {
		return nil, func() {}, nil
	}
	if flags["engine"] == "" {
		return nil, nil, errors.New("flags for the engine require --engine")
	}
	if v, end, err = p.engine(flags); v != nil {
		p.notice("engine %s", v.Engine.Info().Line)
	}
	return v, end, err
}

// engine returns the settings and the engine, with one budget for the whole run and without access to files.
// end removes what the engine leaves behind.
func (p *program) engine(flags map[string]string) (v *eval.Reviewer, end func(), err error) {
	s, err := p.settings(flags)
	if err != nil {
		return nil, nil, err
	}
	budget := &engine.Budget{USD: s.MaxCost.Value, Tokens: s.MaxTokens.Value}
	var e engine.Engine
	end = func() {}
	switch kind := s.Engine.Value.Kind; kind {
	case settings.NoEngine:
		return nil, nil, errors.New("no engine is set up: choose one with --engine anthropic, openai, claude or command:PATH")
	case settings.Command:
		c, err := command.New(s.Engine.Value.Program, nil, p.programEnv())
		if err != nil {
			return nil, nil, err
		}
		e = budget.Within(c)
	case settings.Claude:
		path, err := exec.LookPath("claude")
		if err != nil {
			return nil, nil, err
		}
		c := claude.New(claude.Config{Program: path, Model: s.Model.Text, Host: "Anthropic", Env: p.programEnv(), Now: time.Now, Budget: budget})
		e, end = c, func() { _ = c.Close() } // what remains is a temporary folder
	default:
		m, err := p.model(s, kind)
		if err != nil {
			return nil, nil, fmt.Errorf("engine %s: %w", kind, err)
		}
		e = api.New(api.Config{Model: m, Prices: llm.ListPrices().With(s.Prices), Budget: budget, Window: s.Context.Value})
	}
	return &eval.Reviewer{
		Engine: e, Threshold: s.Threshold.Value, Window: s.Context.Value,
		Concurrency: s.Concurrency.Value, Timeout: s.Timeout.Value, Now: time.Now, NewID: newID,
	}, end, nil
}

// model returns the first model that the settings name.
func (p *program) model(s *settings.Settings, kind string) (llm.Model, error) {
	key, url := llm.Secret(p.env[settings.KeyOf[kind]]), p.env[settings.URLOf[kind]]
	name := cmp.Or(append(s.Model.Value, "")[0], settings.DefaultModel[kind])
	if kind == settings.Anthropic {
		return llm.Anthropic(llm.Config{Key: key, BaseURL: url, Model: name, Now: time.Now})
	}
	return llm.OpenAI(llm.Config{Key: key, BaseURL: url, Model: name, Now: time.Now})
}

// programEnv is the environment of an engine that is a program.
func (p *program) programEnv() []string {
	var env []string
	for name, value := range p.env {
		env = append(env, name+"="+value)
	}
	return env
}

// newID returns the ID of a review, which no memory keeps.
func newID() string { return rand.Text() }
