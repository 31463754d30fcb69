package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/doctor"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/settings"
)

// engineRows looks at the engine that an environment and the flags choose, and
// returns the rows by their names. No row shows a key.
func engineRows(t *testing.T, env, flags map[string]string, try bool) (map[string]doctor.Check, bool) {
	t.Helper()
	a := &app{env: env, dir: t.TempDir(), now: time.Now}
	op, err := a.settings(flags)
	if err != nil {
		t.Fatal(err)
	}
	d := doctor.New(hintOf)
	a.checkEngine(t.Context(), d, op, try)
	if said := fmt.Sprint(d.Checks); strings.Contains(said, "canary") {
		t.Errorf("the key shows: %s", said)
	}
	rows := map[string]doctor.Check{}
	for _, c := range d.Checks {
		rows[c.Name] = c
	}
	return rows, d.Works
}

// TestDoctorNamesTheEngine: which, why, and where the code goes.
func TestDoctorNamesTheEngine(t *testing.T) {
	claude := t.TempDir()
	program := filepath.Join(claude, "claude")
	writeFile(t, program, "#!/bin/sh\n", 0o755)
	for _, test := range []struct {
		name   string
		env    map[string]string
		engine string
		state  doctor.State
		says   string
		hint   string
	}{
		{"nothing", nil, "", doctor.Warning, "none: only the analyzers run; ANTHROPIC_API_KEY is not set, OPENAI_API_KEY is not set", "docs/getting-started.md"},
		{"a key", map[string]string{"ANTHROPIC_API_KEY": "sk-canary"}, "", doctor.OK, "(ANTHROPIC_API_KEY is set) → api.anthropic.com; ANTHROPIC_API_KEY is set, OPENAI_API_KEY is not", ""},
		{"no key", nil, "openai", doctor.Missing, "OPENAI_API_KEY is not set", "another engine"},
		{"a server without a model", map[string]string{"OPENAI_BASE_URL": "http://localhost:1/v1"}, "", doctor.Missing, "no model is set", "--model"},
		{"a program", nil, "command:" + program, doctor.OK, "this program gets the code", ""},
		{"no such program", nil, "command:" + program + "s", doctor.Missing, "find engine program", ""},
		{"no Claude Code", map[string]string{"PATH": "/nowhere"}, "claude", doctor.Missing, "the program is not in PATH", "npm install"},
		{"Claude Code", map[string]string{"PATH": claude}, "claude", doctor.OK, "/claude (flag --engine)", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			flags := map[string]string{}
			if test.engine != "" {
				flags["engine"] = test.engine
			}
			rows, works := engineRows(t, test.env, flags, false)
			got := rows["engine"]
			if got.State != test.state || !strings.Contains(got.Text, test.says) || !strings.Contains(got.Hint, test.hint) || works != (test.state != doctor.Missing) {
				t.Errorf("said %+v, works: %t; want %s, %q and the hint %q", got, works, test.state, test.says, test.hint)
			}
			if len(rows) != 1 {
				t.Errorf("something was tried unasked: %+v", rows)
			}
		})
	}
}

// TestDoctorTries: one request of one token, and what the provider says about it.
func TestDoctorTries(t *testing.T) {
	const shortOf = "Could not finish the message because max_tokens or model output limit was reached."
	for _, test := range []struct {
		name   string
		engine string
		reply  llmtest.Reply
		state  doctor.State
		says   string
	}{
		{"OpenAI answers", settings.OpenAI, llmtest.Reply{Text: "ok"}, doctor.OK, "gpt-5 answered: "},
		{"Anthropic answers", settings.Anthropic, llmtest.Reply{Text: "ok"}, doctor.OK, " answered: "},
		{"the key is wrong", settings.OpenAI, llmtest.Reply{Status: 401, Message: "no such key"}, doctor.Missing, "answered 401"},
		{"the model is unknown", settings.OpenAI, llmtest.Reply{Status: 404, Message: "no such model"}, doctor.Missing, "answered 404"},
		{"one token is too little", settings.OpenAI, llmtest.Reply{Status: 400, Message: shortOf}, doctor.Warning, "the key was accepted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			serve, model := llmtest.OpenAI, "gpt-5"
			if test.engine == settings.Anthropic {
				serve, model = llmtest.Anthropic, settings.DefaultModel[settings.Anthropic]
			}
			s := serve(t, llmtest.Script(test.reply))
			rows, works := engineRows(t, map[string]string{settings.KeyOf[test.engine]: "sk-canary-77", settings.URLOf[test.engine]: s.URL}, map[string]string{"model": model}, true)
			if got := rows["try"]; got.State != test.state || !strings.Contains(got.Text, test.says) || works != (test.state != doctor.Missing) {
				t.Errorf("said %+v, works: %t; want %s and %q", got, works, test.state, test.says)
			}
			asked := s.Requests()
			if len(asked) == 0 || asked[0].MaxTokens != 1 {
				t.Errorf("asked %+v, want one token", asked)
			}
			if test.state == doctor.OK && (len(asked) != 1 || !strings.Contains(rows["try"].Text, "$0.0")) {
				t.Errorf("%d requests; said %q, want the cost of one", len(asked), rows["try"].Text)
			}
		})
	}
	rows, works := engineRows(t, nil, nil, true)
	if got := rows["try"]; got.State != doctor.Warning || !works {
		t.Errorf("without a model: %+v", got)
	}
}
