package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"regexp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
)

//go:embed demo/script.json
var demoScript []byte

// script is the engine of the demo. Its answers are in demo/script.json.
type script struct {
	Finders  map[string]json.RawMessage `json:"finders"`  // answers, by finder; the others find nothing
	Verdicts map[string]map[string]any  `json:"verdicts"` // by the title of the claim
}

// Info describes the engine.
func (s *script) Info() engine.Info {
	const name = "the demo's script"
	return engine.Info{Name: "demo", Who: name, Line: name}
}

// Run does the task.
func (s *script) Run(ctx context.Context, t engine.Task) (engine.Answer, error) {
	return engine.Ask(ctx, t, func(_ context.Context, t engine.Task) (engine.Reply, error) {
		answer, err := json.Marshal(s.answer(engine.NewRequest(t, 0)))
		return engine.Reply{Status: precedent.StatusOK, Output: answer, Model: "script"}, err
	})
}

func (s *script) answer(task engine.Request) any {
	switch task.Role {
	case engine.Verifier:
		var verdicts []any
		// This is how the verifier's prompts write a claim.
		claims := regexp.MustCompile(`(?ms)^id: (\S+)\nplace: .*?^claim: (.*?)$`)
		for _, claim := range claims.FindAllStringSubmatch(task.Prompt, -1) {
			if v := s.Verdicts[claim[2]]; v != nil {
				v["finding"] = claim[1]
				verdicts = append(verdicts, v)
			}
		}
		return map[string]any{"verdicts": verdicts}
	case engine.Judge:
		return map[string]any{"pairs": []any{}}
	}
	if found, ok := s.Finders[task.Name]; ok {
		return found
	}
	return map[string]any{"findings": []any{}}
}
