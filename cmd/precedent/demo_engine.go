package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/report"
)

// demoEngine is the name of the command that serves as the demo's engine.
const demoEngine = "demo-engine"

//go:embed demo/script.json
var demoScript []byte

// script holds the answers of the demo's engine.
type script struct {
	Finders  map[string]json.RawMessage `json:"finders"`  // answers, by finder; the others find nothing
	Verdicts map[string]map[string]any  `json:"verdicts"` // by the title of the claim
}

// newDemoEngine is the hidden command that the demo's engine runs.
func newDemoEngine(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     demoEngine,
		Short:   "Answer a task as the demo's script says",
		Example: "  precedent " + demoEngine + " < task.json",
		Hidden:  true,
		Args:    exactly(0),
		RunE: func(*cobra.Command, []string) error {
			var task engine.Request
			if err := json.NewDecoder(a.in).Decode(&task); err != nil {
				return fmt.Errorf("read task: %w", err)
			}
			var s script
			if err := json.Unmarshal(demoScript, &s); err != nil {
				return fmt.Errorf("read the demo's script: %w", err)
			}
			answer, err := json.Marshal(s.answer(task))
			if err != nil {
				return fmt.Errorf("write answer: %w", err)
			}
			return report.Value(a.out, engine.Response{Answer: answer, Model: "script"})
		},
	}
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
