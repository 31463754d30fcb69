package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/workspace"
)

type dismissal struct {
	undo, list             bool
	rule, finder, category string
	path, reason, who      string
	pull                   int
}

func newDismiss(a *app) *cobra.Command {
	var d dismissal
	cmd := &cobra.Command{
		Use:   "dismiss ID... | --rule RULE | --finder FINDER | --category CATEGORY",
		Short: "Dismiss findings that are not a problem here, undo that, or list dismissals",
		Long: `Dismiss hides the findings whose IDs begin with ID, whatever their severity,
starting with the next review. Every review lists what it hid, with your name and
reason. A dismissal also lowers the confidence of similar findings. It prints
how far that reaches, and until when.

The reason decides the scope for similar findings: "intended here" means the
function, "we don't do this here" the folder, "never in this repo" the repository.
--path sets the scope instead.

--rule dismisses all findings of an analyzer's rule, as reviews name it, --finder
those of a finder, and --category those of a category. High and critical findings,
and those about security, secrets, data loss, crashes and races, stay shown.

A whole ID that the memory does not have is looked up in the comments of the 20
open pull requests that changed last, or of --pr. Nothing is written to the forge.

Exit status: 2 if an ID could not be dismissed; the others are.`,
		Example: `  precedent dismiss k7m2q0v5xa --reason "the caller holds the lock"
  precedent dismiss k7m2q0v5xa p3c8w1n6te
  precedent dismiss --rule gosec:G104 --path 'internal/tools/**' --reason "only for developers"
  precedent dismiss --finder tests --path 'internal/legacy/**'
  precedent dismiss --list
  precedent dismiss --undo k7m2q0v5xa`,
		Args:              func(cmd *cobra.Command, args []string) error { return d.check(cmd, args) },
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.dismiss(cmd, args, d) },
	}
	cmd.Flags().BoolVar(&d.undo, "undo", false, "show the dismissed findings, or those of the rule, again")
	cmd.Flags().BoolVar(&d.list, "list", false, "list what is dismissed, by whom, why and until when")
	cmd.Flags().BoolVar(&a.json, "json", false, "with --list: print as JSON")
	cmd.Flags().StringVar(&d.rule, "rule", "", "dismiss all findings of an analyzer's `rule`")
	cmd.Flags().StringVar(&d.finder, "finder", "", "dismiss all findings of a `finder`")
	cmd.Flags().StringVar(&d.category, "category", "", "dismiss all findings of a `category`")
	cmd.Flags().StringVar(&d.path, "path", "",
		"limit the rule, or similar findings, to a folder or `glob`, from the top folder")
	cmd.Flags().StringVar(&d.reason, "reason", "", "why it is not a problem here, in a `sentence`")
	cmd.Flags().StringVar(&d.who, "who", "",
		"the `name` to store with it (default: user.name of git, else your user name)")
	cmd.Flags().IntVar(&d.pull, "pr", 0,
		"the `number` of the pull request whose comments have the IDs that the memory does not have")
	addSettings(cmd, append([]string{"forge"}, memorySettings...)...)
	return cmd
}

// check rejects combinations of options that make no sense.
func (d *dismissal) check(cmd *cobra.Command, args []string) error {
	var wrong string
	many := 0
	for _, name := range []string{d.rule, d.finder, d.category} {
		if name != "" {
			many++
		}
	}
	switch {
	case many > 1:
		wrong = "--rule, --finder and --category cannot be used together"
	case d.list && (len(args) > 0 || d.undo || many > 0 || d.path != ""):
		wrong = "--list cannot be used with an ID, --undo, --rule, --finder, --category or --path"
	case cmd.Flags().Changed("json") && !d.list:
		wrong = "--json requires --list"
	case many > 0 && len(args) > 0:
		wrong = "--rule, --finder and --category cannot be used together with an ID"
	case d.path != "" && many == 0 && (d.undo || len(args) == 0):
		wrong = "--path requires an ID, --rule, --finder or --category"
	case !d.list && len(args) == 0 && many == 0:
		wrong = fmt.Sprintf("%s: missing argument: %s", cmd.CommandPath(), cmd.Use)
	case d.pull < 0 || d.pull == 0 && cmd.Flags().Changed("pr"):
		wrong = "--pr: want the number of a pull request"
	default:
		return nil
	}
	return misuse(cmd, errors.New(wrong))
}

// what is what all findings are dismissed of, besides ids; empty for nothing.
func (d *dismissal) what() string {
	switch {
	case d.finder != "":
		return memory.OfFinder + d.finder
	case d.category != "":
		return memory.OfCategory + d.category
	}
	return d.rule
}

func (a *app) dismiss(cmd *cobra.Command, ids []string, d dismissal) error {
	ctx, flags := cmd.Context(), settingFlags(cmd)
	a.reads = d.list
	w, err := a.openWorkspace(ctx, flags)
	if err != nil {
		return err
	}
	defer w.Close()
	if d.list {
		return a.listDismissals(ctx, w)
	}
	do, verb := a.workflow().Dismiss, "dismissed"
	if d.undo {
		do, verb = a.workflow().Restore, "restored"
	}
	all := do(ctx, w, workspace.Dismissal{
		IDs: ids, Rule: d.what(), Pull: d.pull, User: a.user(),
		Dismissal: memory.Dismissal{Reason: d.reason, Who: d.who, Glob: d.path},
		Connect:   func() (workspace.Connection, error) { return a.connectWith(flags) },
	})
	return a.printDismissed(all, verb, w.Options())
}

// printDismissed prints what was dismissed or restored, and what could not be. options are those that the
// commands in it need. If something could not be, the exit status is 2.
func (a *app) printDismissed(all []workspace.Dismissed, verb, options string) error {
	p := a.page()
	done := 0
	for _, r := range all {
		j := r.Dismissal
		switch {
		case r.Err != nil && len(all) == 1:
			return r.Err
		case r.Err != nil:
			a.printError(r.Err)
			continue
		}
		done++
		p.Para(verb+" "+p.Ink(report.Faint, j.Finding)+"  ", report.DismissedWhat(p, j))
		if verb == "restored" {
			p.Say("", "The next review shows it again.")
			continue
		}
		for _, sentence := range memory.Effect(j) {
			p.Say("", sentence)
		}
		p.Line(p.Ink(report.Faint, "undo: precedent dismiss --undo "+j.Finding+options))
		if r.Widen != "" {
			p.Para("", p.Ink(report.Faint, "This remark was dismissed elsewhere before. To hide it in "+r.Widen+":"))
			p.Line(p.Ink(report.Plain, fmt.Sprintf("  precedent learn add %s --kind dont_flag --glob %s%s",
				text.ShellWord("do not flag: "+text.VisibleLine(j.Claim)), text.ShellWord(r.Widen), options)))
		}
	}
	if done < len(all) {
		a.notice("%s %d of %d", verb, done, len(all))
		return errors.Join(p.Err(), exitStatus(precedent.ExitUsage))
	}
	return p.Err()
}

func (a *app) listDismissals(ctx context.Context, w *workspace.Workspace) error {
	all, err := w.Memory.Dismissals(ctx)
	if err != nil {
		return err
	}
	return a.show(map[string]any{"rejections": all}, func(p *report.Page) {
		report.Dismissals(p, all)
	})
}

// newFP is an alias of dismiss with subcommands: dismiss itself, with a flag that is set.
func newFP(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "fp", Hidden: true, Short: "Alias of dismiss: fp add ID, fp list, fp remove ID", Example: "  precedent fp list",
	}
	for _, alias := range [][2]string{{"add ID..."}, {"list", "list"}, {"remove ID...", "undo"}} {
		sub := newDismiss(a)
		sub.Use, sub.Hidden = alias[0], true
		if alias[1] != "" {
			_ = sub.Flags().Set(alias[1], "true") // newDismiss defines it
		}
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
