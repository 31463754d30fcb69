package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/report"
)

func newFP(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fp",
		Short: "Say that findings are no problem here, and take it back",
		Long: `A finding that you add is hidden from the next review on, whatever its severity,
and every review lists what it hid, with your name and reason. It also counts
once against its pattern: findings like it lose weight.`,
		Example: `  precedent fp add k7m2q0v5xa --reason "the caller holds the lock"
  precedent fp list
  precedent fp remove k7m2q0v5xa`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newFPAdd(a), newFPList(a), newFPRemove(a))
	return cmd
}

func newFPAdd(a *app) *cobra.Command {
	var reason, who string
	cmd := &cobra.Command{
		Use:   "add ID",
		Short: "Hide one finding from now on",
		Long: `Add hides the finding whose id begins with ID. The reason says how far the "no"
reaches for findings like it: "intended here" means the function, "we don't do
this here" the folder, "never in this repo" the repository.`,
		Example:           `  precedent fp add k7m2q0v5xa --reason "the caller holds the lock"`,
		Args:              exactly(1),
		ValidArgsFunction: a.completeFindings,
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := a.remember(cmd.Context(), settingFlags(cmd))
			if err != nil {
				return err
			}
			defer w.close()
			if who == "" {
				who = a.user()
			}
			j, err := w.memory.Dismiss(cmd.Context(), args[0], reason, who)
			if err != nil {
				return err
			}
			p := a.page()
			p.Para("dismissed "+p.Ink(report.Faint, j.Finding)+"  ", p.Ink(report.Cyan, j.Path)+"  "+p.Ink(report.Plain, j.Claim))
			p.Para("", p.Inkf(report.Plain, "The next review hides it and says so, until %s.", j.ExpiresAt.Format(time.DateOnly)))
			p.Para("", p.Ink(report.Faint, "take it back: precedent fp remove "+j.Finding))
			return p.Err()
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why it is no problem here, in a `sentence`")
	cmd.Flags().StringVar(&who, "who", "", "the `name` that stands beside it (default: your user name)")
	addSettings(cmd, memorySettings...)
	return cmd
}

func newFPList(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List what is hidden, by whom, why and until when",
		Example: "  precedent fp list --json",
		Args:    exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := a.remember(cmd.Context(), settingFlags(cmd))
			if err != nil {
				return err
			}
			defer w.close()
			all, err := w.memory.Rejections(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return report.Value(a.out, map[string]any{"rejections": append([]precedent.Rejection{}, all...)})
			}
			p := a.page()
			if len(all) == 0 {
				p.Line("Nothing is dismissed in this repository.")
			}
			for _, j := range all {
				listRejection(p, j)
			}
			return p.Err()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	addSettings(cmd, memorySettings...)
	return cmd
}

func listRejection(p *report.Page, j precedent.Rejection) {
	p.Para(p.Ink(report.Bold, j.Finding)+"  ", p.Inkf(report.Plain, "%s %s  ", j.Severity, j.Category)+p.Ink(report.Cyan, j.Path)+"  "+p.Ink(report.Plain, j.Claim))
	p.Para("            ", p.Ink(report.Plain, said(j)))
	p.Para("            ", p.Inkf(report.Faint, "%s · until %s", times(j.Hits, "hid it"), j.ExpiresAt.Format(time.DateOnly)))
}

// said is who dismissed a finding, when and why.
func said(j precedent.Rejection) string {
	who := j.Who
	if who == "" {
		who = "somebody"
	}
	s := fmt.Sprintf("%s on %s", who, j.At.Format(time.DateOnly))
	if j.Reason == "" {
		return s + ", without a reason"
	}
	return s + ": “" + j.Reason + "”"
}

// times counts an event: "hid it once", "hid it 3 times", "has not hid it yet".
func times(n int, what string) string {
	switch n {
	case 0:
		return "never " + what + " yet"
	case 1:
		return what + " once"
	}
	return fmt.Sprintf("%s %d times", what, n)
}

func newFPRemove(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "remove ID",
		Short:             "Show a dismissed finding again",
		Example:           "  precedent fp remove k7m2q0v5xa",
		Args:              exactly(1),
		ValidArgsFunction: a.completeDismissed,
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := a.remember(cmd.Context(), settingFlags(cmd))
			if err != nil {
				return err
			}
			defer w.close()
			j, err := w.memory.Undismiss(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			p := a.page()
			p.Para("brought back "+p.Ink(report.Faint, j.Finding)+"  ", p.Ink(report.Cyan, j.Path)+"  "+p.Ink(report.Plain, j.Claim))
			p.Line("The next review shows it again.")
			return p.Err()
		},
	}
	addSettings(cmd, memorySettings...)
	return cmd
}

// user is the name of whoever runs the program, as the system knows it.
func (a *app) user() string {
	for _, name := range []string{"USER", "LOGNAME", "USERNAME"} {
		if v := a.env[name]; v != "" {
			return v
		}
	}
	return "somebody on this machine"
}
