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

// demoEngine names the command that is the demo's model.
const demoEngine = "demo-engine"

//go:embed demo/script.json
var demoScript []byte

// script is what the demo's engine says about the demo's change.
type script struct {
	Finders  map[string]json.RawMessage `json:"finders"`  // answers, by finder; the others find nothing
	Verdicts map[string]map[string]any  `json:"verdicts"` // by the title of the claim
	Pair     map[string]any             `json:"pair"`     // of the one pair that may be the same
}

// newDemoEngine is the program that the demo's engine runs: this one again.
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
		// As the verifier's prompts write a claim.
		claimed := regexp.MustCompile(`(?ms)^id: (\S+)\nplace: .*?^claim: (.*?)$`)
		for _, claim := range claimed.FindAllStringSubmatch(task.Prompt, -1) {
			if v := s.Verdicts[claim[2]]; v != nil {
				v["finding"] = claim[1]
				verdicts = append(verdicts, v)
			}
		}
		return map[string]any{"verdicts": verdicts}
	case engine.Judge:
		var pairs []any
		paired := regexp.MustCompile(`(?m)^id: (\S+)$`)
		for _, pair := range paired.FindAllStringSubmatch(task.Prompt, 1) {
			s.Pair["pair"] = pair[1]
			pairs = append(pairs, s.Pair)
		}
		return map[string]any{"pairs": pairs}
	}
	if found, ok := s.Finders[task.Name]; ok {
		return found
	}
	return map[string]any{"findings": []any{}}
}
