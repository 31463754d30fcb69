package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/workflow"
)

// dismissal are the options of dismiss.
type dismissal struct {
	undo, list, asJSON bool
	reason, who        string
	rule, path         string // dismiss all findings that match
}

func newDismiss(a *app) *cobra.Command {
	var d dismissal
	cmd := &cobra.Command{
		Use:   "dismiss ID... | --rule RULE | --path PATH",
		Short: "Dismiss findings that are not a problem here, undo that, or list dismissals",
		Long: `Dismiss hides the findings whose IDs begin with ID, whatever their severity,
starting with the next review. Every review lists what it hid, with your name and
reason. A dismissal also lowers the confidence of similar findings.

The reason decides the scope for similar findings: "intended here" means the
function, "we don't do this here" the folder, "never in this repo" the repository.`,
		Example: `  precedent dismiss k7m2q0v5xa --reason "the caller holds the lock"
  precedent dismiss k7m2q0v5xa p3c8w1n6te
  precedent dismiss --rule generic-api-key --path testdata --reason "keys of tests"
  precedent dismiss --list
  precedent dismiss --undo k7m2q0v5xa`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case d.list && (len(args) > 0 || d.undo):
				return misuse(cmd, errors.New("--list cannot be used with an ID or --undo"))
			case d.asJSON && !d.list:
				return misuse(cmd, errors.New("--json requires --list"))
			case (d.rule != "" || d.path != "") && (d.undo || d.list || len(args) > 0):
				return misuse(cmd, errors.New("--rule and --path choose findings: they cannot be used with an ID, --undo or --list"))
			case !d.list && len(args) == 0 && d.rule == "" && d.path == "":
				return misuse(cmd, fmt.Errorf("%s: missing argument: %s", cmd.CommandPath(), cmd.Use))
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if d.undo {
				return a.completeDismissed(cmd, nil, begun)
			}
			return a.completeFindings(cmd, nil, begun)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.dismiss(cmd, args, d) },
	}
	cmd.Flags().BoolVar(&d.undo, "undo", false, "show the dismissed findings again")
	cmd.Flags().BoolVar(&d.list, "list", false, "list what is dismissed, by whom, why and until when")
	cmd.Flags().BoolVar(&d.asJSON, "json", false, "with --list: print as JSON")
	cmd.Flags().StringVar(&d.rule, "rule", "", "dismiss all findings of this `rule`, or of this finder")
	cmd.Flags().StringVar(&d.path, "path", "", "dismiss all findings in this file or folder, a `path` from the top folder; with --rule those that fit both")
	addReason(cmd, &d)
	addSettings(cmd, memorySettings...)
	return cmd
}

func addReason(cmd *cobra.Command, d *dismissal) {
	cmd.Flags().StringVar(&d.reason, "reason", "", "why it is not a problem here, in a `sentence`")
	cmd.Flags().StringVar(&d.who, "who", "", "the `name` to store with it (default: your name in git, else your user name)")
}

// dismiss dismisses findings, restores them, or lists dismissals.
func (a *app) dismiss(cmd *cobra.Command, ids []string, d dismissal) error {
	w, err := a.openWorkspace(cmd.Context(), settingFlags(cmd))
	if err != nil {
		return err
	}
	defer w.Close()
	if d.list {
		return a.listDismissals(cmd.Context(), w, d.asJSON)
	}
	if d.who == "" && w.Git != nil {
		d.who = w.Git.UserName()
	}
	if d.who == "" {
		d.who = a.user()
	}
	if d.rule != "" || d.path != "" {
		if ids, err = matchingIDs(cmd.Context(), w, d); err != nil {
			return err
		}
	}
	p := a.page()
	for _, id := range ids {
		verb, next, back := "dismissed", "", ""
		var j precedent.Rejection
		if d.undo {
			j, err = w.Memory.Undismiss(cmd.Context(), id)
			verb, next = "restored", "The next review shows it again."
		} else if j, err = w.Memory.Dismiss(cmd.Context(), id, d.reason, d.who); err == nil {
			next = fmt.Sprintf("Reviews hide it until %s, and list it as hidden. It counts against %s.", j.ExpiresAt.Format(time.DateOnly), memory.Reach(j))
			back = "undo: precedent dismiss --undo " + j.Finding
		}
		if err != nil {
			return err
		}
		p.Para(verb+" "+p.Ink(report.Faint, j.Finding)+"  ", p.Ink(report.Cyan, j.Path)+"  "+p.Ink(report.Plain, j.Claim))
		p.Para("", p.Ink(report.Plain, next))
		if back != "" {
			p.Para("", p.Ink(report.Faint, back))
		}
	}
	return p.Err()
}

// matchingIDs returns the ids of the findings that --rule and --path choose.
func matchingIDs(ctx context.Context, w *workflow.Workspace, d dismissal) ([]string, error) {
	found, err := w.Memory.Matching(ctx, d.rule, d.path)
	if err == nil && len(found) == 0 {
		err = hinted(errors.New("no shown finding matches --rule and --path"), "precedent explain ID names the rule, the finder and the path of a finding")
	}
	var ids []string
	for _, k := range found {
		ids = append(ids, k.ID)
	}
	return ids, err
}

func (a *app) listDismissals(ctx context.Context, w *workflow.Workspace, asJSON bool) error {
	all, err := w.Memory.Rejections(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return report.Value(a.out, map[string]any{"rejections": append([]precedent.Rejection{}, all...)})
	}
	p := a.page()
	report.Dismissals(p, all)
	return p.Err()
}

// newFP is an alias of dismiss with subcommands.
func newFP(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "fp",
		Short:   "Alias of dismiss: fp add ID, fp list, fp remove ID",
		Example: "  precedent fp list",
		Args:    exactly(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var add, list dismissal
	adding := &cobra.Command{
		Use: "add ID", Short: "Dismiss a finding, as precedent dismiss does", Example: "  precedent fp add k7m2q0v5xa",
		Args: exactly(1), ValidArgsFunction: a.completeFindings,
		RunE: func(cmd *cobra.Command, args []string) error { return a.dismiss(cmd, args, add) },
	}
	addReason(adding, &add)
	listing := &cobra.Command{
		Use: "list", Short: "List what is dismissed, as precedent dismiss --list does", Example: "  precedent fp list --json",
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, args []string) error {
			list.list = true
			return a.dismiss(cmd, args, list)
		},
	}
	listing.Flags().BoolVar(&list.asJSON, "json", false, "print as JSON")
	removing := &cobra.Command{
		Use: "remove ID", Short: "Show a dismissed finding again, as precedent dismiss --undo does", Example: "  precedent fp remove k7m2q0v5xa",
		Args: exactly(1), ValidArgsFunction: a.completeDismissed,
		RunE: func(cmd *cobra.Command, args []string) error { return a.dismiss(cmd, args, dismissal{undo: true}) },
	}
	for _, sub := range []*cobra.Command{adding, listing, removing} {
		addSettings(sub, memorySettings...)
		cmd.AddCommand(sub)
	}
	return cmd
}

// user returns the name of the user who runs the program.
func (a *app) user() string {
	for _, name := range []string{"USER", "LOGNAME", "USERNAME"} {
		if v := a.env[name]; v != "" {
			return v
		}
	}
	return "an unknown user"
}
