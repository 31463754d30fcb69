package main

import "github.com/spf13/cobra"

// usages says what each setting's flag does.
var usages = map[string]string{
	"engine":      "what reads the change: `anthropic`, openai, claude (Claude Code), command:PATH (any program), or none",
	"model":       "the `name` of the model that the engine asks; after commas, those that take over when it fails",
	"context":     "the model's context window holds `N` tokens: for small local models",
	"concurrency": "send at most `N` requests to the engine at a time",
	"max-cost":    "the review may take at most so many `dollars`",
	"max-tokens":  "the review may take at most `N` tokens, input and output",
	"memory-db":   "the memory's database `file`",
	"repo":        "the repository's identity as `host/owner/name`, instead of its remote's",
	"forge":       "where pull requests are: github, github:https://HOST/api/v3, gitea:https://HOST, or `local:DIR`",
	"threshold":   "show findings from this confidence in `percent`",
	"max-inline":  "show at most `N` findings in full",
	"fail-on":     "exit with 1 for findings from this `severity`: critical, high, medium or low",
	"timeout":     "give up on what has not answered after this `duration`",
}

// addKnobs gives a command the flags of settings.
func addKnobs(cmd *cobra.Command, ks ...knob) {
	for _, k := range ks {
		if k.flag == "" {
			continue
		}
		usage := usages[k.flag]
		if k.env != "" {
			usage += " (environment: " + k.env + ")"
		}
		cmd.Flags().String(k.flag, "", usage)
	}
}

// knobFlags returns the settings' flags that were given.
func knobFlags(cmd *cobra.Command) map[string]string {
	given := map[string]string{}
	for name := range usages {
		if f := cmd.Flag(name); f != nil && f.Changed {
			given[name] = f.Value.String()
		}
	}
	return given
}
