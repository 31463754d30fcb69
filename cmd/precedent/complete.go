package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// maxCompletions limits the IDs that are offered to a shell.
const maxCompletions = 50

func (a *app) completeFindings(cmd *cobra.Command, args []string,
	begun string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.completeIDs(cmd, args, func(w *workspace.Workspace) ([]cobra.Completion, error) {
		found, err := w.Memory.Rows.FindingsByID(cmd.Context(), begun, maxCompletions)
		var ids []cobra.Completion
		for _, k := range found {
			ids = append(ids, completion(k.ID, k.String()+" "+k.Title))
		}
		return ids, err
	})
}

func (a *app) completeDismissed(cmd *cobra.Command, args []string,
	_ string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.completeIDs(cmd, args, func(w *workspace.Workspace) ([]cobra.Completion, error) {
		all, err := w.Memory.Dismissals(cmd.Context())
		var ids []cobra.Completion
		for _, j := range all {
			ids = append(ids, completion(j.Finding, j.Path+" "+j.Claim))
		}
		return ids, err
	})
}

// completeRange completes the name of a branch or tag, also after the dots of a range.
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
	var all []cobra.Completion
	for _, name := range names {
		if strings.HasPrefix(before+name, begun) {
			all = append(all, completion(before+name, ""))
		}
	}
	return all[:min(len(all), maxCompletions)], cobra.ShellCompDirectiveNoFileComp
}

// completeIDs completes the first argument with what list returns. Errors complete
// nothing: a shell cannot show them.
func (a *app) completeIDs(cmd *cobra.Command, args []string,
	list func(*workspace.Workspace) ([]cobra.Completion, error),
) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	a.reads = true
	w, err := a.openWorkspace(cmd.Context(), settingFlags(cmd))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer w.Close()
	ids, err := list(w)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

func completion(id, about string) cobra.Completion {
	return cobra.CompletionWithDesc(id, text.VisibleLine(about))
}
