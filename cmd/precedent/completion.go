package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// completions are the functions that write the completion script of each shell.
var completions = map[string]func(root *cobra.Command, a *app) error{
	"bash":       func(r *cobra.Command, a *app) error { return r.GenBashCompletionV2(a.out, true) },
	"zsh":        func(r *cobra.Command, a *app) error { return r.GenZshCompletion(a.out) },
	"fish":       func(r *cobra.Command, a *app) error { return r.GenFishCompletion(a.out, true) },
	"powershell": func(r *cobra.Command, a *app) error { return r.GenPowerShellCompletionWithDesc(a.out) },
}

func newCompletion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a completion script for a shell",
		Example: `  source <(precedent completion bash)
  precedent completion zsh > "${fpath[1]}/_precedent"
  precedent completion fish > ~/.config/fish/completions/precedent.fish`,
		Args:      exactly(1),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := completions[args[0]]
			if !ok {
				return misuse(cmd, fmt.Errorf("no completion for %q: want bash, zsh, fish or powershell", args[0]))
			}
			return write(cmd.Root(), a)
		},
	}
}

// completeRange completes the name of a branch or tag, also after the dots of a range. The scripts of shells leave out
// those that begin otherwise.
func (a *app) completeRange(cmd *cobra.Command, args []string,
	begun string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault // paths
	}
	repo, err := a.openRepo(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer repo.Close()
	before := ""
	if at := strings.LastIndex(begun, ".."); at >= 0 {
		before = begun[:at+2]
	}
	names, err := repo.Branches(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for i, name := range names {
		names[i] = before + name
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
