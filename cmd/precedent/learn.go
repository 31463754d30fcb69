package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func newLearn(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "learn",
		Short: "Teach reviews what the team wants, and look after what they learned",
		Long: `A learning is a directive for later reviews, such as "check that every query has a
context" or "don't flag magic numbers in tests". Finders read those for the files of
a change. One that asks for less hides findings only in the files that it names, and
never those of high or critical severity or about security, secrets, data loss,
crashes and races; elsewhere it lowers their confidence.

With --scope me, a learning is your own: reviews of local changes in all repositories on
this computer use it, and with --scope owner in those of the owner. It is not posted.

Learnings that a team keeps in .precedent/learnings.yaml and changes by pull request
need no command.`,
		Example: `  precedent learn add "wrap errors with the verb and the object" --why "so that logs say what failed"
  precedent learn list`,
	}
	for _, sub := range []*cobra.Command{
		newLearnAdd(a), newLearnList(a), newLearnShow(a), newLearnApprove(a),
		newLearnEdit(a), newLearnForget(a),
	} {
		addSettings(sub, memorySettings...)
		cmd.AddCommand(sub)
	}
	return cmd
}

// taught are the options of add and edit.
type taught struct {
	directive, kind, glob, why, category, scope, expires string
}

// flags adds the options of both. what describes the kind.
func (t *taught) flags(cmd *cobra.Command, what string) {
	var kinds []string
	for _, k := range precedent.LearningKinds {
		kinds = append(kinds, string(k))
	}
	cmd.Flags().StringVar(&t.kind, "kind", "", what+": `kind` is "+strings.Join(kinds[:len(kinds)-1], ", ")+
		" or "+kinds[len(kinds)-1])
	cmd.Flags().StringVar(&t.glob, "glob", "", "limit it to the files of a `glob` or folder, from the top folder")
	cmd.Flags().StringVar(&t.category, "category", "", "limit it to findings of a `category`")
	cmd.Flags().StringVar(&t.why, "why", "", "the reason, in a `sentence`")
	cmd.Flags().StringVar(&t.expires, "expires", "",
		"forget it then: `TIME` is "+timeForms+", or never")
}

// expiry reads when to forget it; zero for never.
func (t *taught) expiry(a *app, cmd *cobra.Command) (time.Time, error) {
	if t.expires == "never" {
		return time.Time{}, nil
	}
	return a.timeFlag(cmd, "expires", t.expires, 1)
}

func newLearnAdd(a *app) *cobra.Command {
	var t taught
	cmd := &cobra.Command{
		Use:   "add DIRECTIVE",
		Short: "Teach a directive; it is active at once",
		Long: `Add stores a directive for later reviews. What it asks for, and for which files,
follows from its words: "do not flag X in test/**" hides X there, "never ignore X"
does not. A learning that nearly says the same is named instead. One that says the
opposite of an active one is pending: approving it replaces that one. One that could
hide findings of the past 90 days that are severe, or that
people accepted, is refused.

Exit status: 2 if it was refused.`,
		Example: `  precedent learn add "every query takes a context" --kind do --glob 'store/**'
  precedent learn add "don't flag magic numbers in **/*_test.go" --expires 90d`,
		Args: exactly(1),
		RunE: a.withMemory(func(cmd *cobra.Command, args []string, w *workspace.Workspace) error {
			expires, err := t.expiry(a, cmd)
			if err != nil {
				return err
			}
			c, err := a.workflow().Learn(cmd.Context(), w, memory.Proposal{
				Kind: precedent.LearningKind(t.kind), Directive: args[0], Rationale: t.why, Glob: t.glob,
				Category: precedent.Category(t.category), Scope: precedent.LearningScope(t.scope), ExpiresAt: expires,
			}, a.user())
			return a.printCaptured(c, "learned", w.Options(), err)
		}),
	}
	t.flags(cmd, "what it does if its words do not say it")
	cmd.Flags().StringVar(&t.scope, "scope", string(precedent.RepositoryScope),
		"`where` it applies: repository, owner for all repositories of the owner, or me for all repositories on this computer")
	return cmd
}

func newLearnList(a *app) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List learnings that are active or pending, with their use",
		Example: "  precedent learn list --all --json",
		RunE: a.reading(a.withMemory(func(cmd *cobra.Command, _ []string, w *workspace.Workspace) error {
			states := []precedent.LearningState{precedent.LearningActive, precedent.LearningPending}
			if all {
				states = nil
			}
			found, err := w.Memory.Learnings(cmd.Context(), states...)
			if err != nil {
				return err
			}
			own, err := a.workflow().OwnLearnings(cmd.Context(), w, states...)
			if err != nil {
				return err
			}
			found = append(found, own...)
			return a.show(map[string]any{"learnings": found}, func(p *report.Page) {
				report.Learnings(p, found)
			})
		})),
	}
	cmd.Flags().BoolVar(&all, "all", false, "list also those that are superseded, expired or forgotten")
	return a.data(cmd)
}

func newLearnShow(a *app) *cobra.Command {
	return a.data(&cobra.Command{
		Use:     "show ID",
		Short:   "Show a learning, where it comes from, and who changed it",
		Example: "  precedent learn show k7m2q0v5xa",
		Args:    exactly(1),
		RunE: a.reading(a.withLearning(func(cmd *cobra.Command, args []string, w *workspace.Workspace) error {
			l, err := w.Memory.Learning(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			history, err := w.Memory.LearningHistory(cmd.Context(), l.ID)
			if err != nil {
				return err
			}
			return a.show(struct {
				precedent.Learning
				History []memory.LearningChange `json:"history"`
			}{l, history}, func(p *report.Page) {
				report.Learning(p, &l)
				for _, c := range history {
					p.Sayf(c.At.UTC().Format(time.DateTime)+"  ", "%s: %s by %s, version %d: %s", c.After.State, c.Action, c.Who,
						c.After.Version, c.After.Directive)
				}
			})
		})),
	})
}

func newLearnApprove(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "approve ID",
		Short:   "Make a pending learning active",
		Example: "  precedent learn approve k7m2q0v5xa",
		Args:    exactly(1),
		RunE: a.withLearning(func(cmd *cobra.Command, args []string, w *workspace.Workspace) error {
			c, err := w.Memory.ApproveLearning(cmd.Context(), args[0], a.learner(cmd.Context(), w))
			return a.printCaptured(c, "approved", w.Options(), err)
		}),
	}
}

func newLearnEdit(a *app) *cobra.Command {
	var t taught
	cmd := &cobra.Command{
		Use:     "edit ID",
		Short:   "Change a learning; its history keeps the earlier versions",
		Example: "  precedent learn edit k7m2q0v5xa --glob 'internal/**'",
		Args:    exactly(1),
		RunE: a.withLearning(func(cmd *cobra.Command, args []string, w *workspace.Workspace) error {
			expires, err := t.expiry(a, cmd)
			changed := cmd.Flags().Changed
			if err == nil && !slices.ContainsFunc([]string{
				"directive", "why", "glob", "kind", "category", "expires",
			}, changed) {
				err = misuse(cmd, errors.New("learn edit: say what to change, for example with --directive"))
			}
			if err != nil {
				return err
			}
			who := a.learner(cmd.Context(), w)
			c, err := w.Memory.EditLearning(cmd.Context(), args[0], who, func(l *precedent.Learning) {
				for flag, field := range map[string]*string{
					"directive": &l.Directive, "why": &l.Rationale, "glob": &l.Glob, "kind": (*string)(&l.Kind),
					"category": (*string)(&l.Category),
				} {
					if changed(flag) {
						*field = cmd.Flag(flag).Value.String()
					}
				}
				if changed("expires") {
					l.ExpiresAt = expires
				}
			})
			return a.printCaptured(c, "changed", w.Options(), err)
		}),
	}
	t.flags(cmd, "what it does")
	cmd.Flags().StringVar(&t.directive, "directive", "", "the new `sentence`")
	return cmd
}

func newLearnForget(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "forget ID|WORDS",
		Short:   "Forget the learning with the ID, or with these words",
		Example: "  precedent learn forget \"magic numbers\"",
		Args:    exactly(1),
		RunE: a.withLearning(func(cmd *cobra.Command, args []string, w *workspace.Workspace) error {
			l, err := w.Memory.ForgetLearning(cmd.Context(), args[0], a.learner(cmd.Context(), w))
			if err != nil {
				return err
			}
			p := a.page()
			p.Say("forgot "+p.Ink(report.Faint, l.ID)+"  ", l.Directive)
			return p.Err()
		}),
	}
}

func (a *app) learner(ctx context.Context, w *workspace.Workspace) string {
	return a.workflow().Learner(ctx, w, a.user())
}

// withLearning is withMemory for commands about one learning: of the repository, or the user's own.
func (a *app) withLearning(
	do func(cmd *cobra.Command, args []string, w *workspace.Workspace) error,
) func(*cobra.Command, []string) error {
	return a.withMemory(func(cmd *cobra.Command, args []string, w *workspace.Workspace) error {
		return a.workflow().FindLearning(cmd.Context(), w, func(w *workspace.Workspace) error { return do(cmd, args, w) })
	})
}

// printCaptured says what became of a learning. If it was refused, the exit status is 2.
func (a *app) printCaptured(c memory.Captured, verb, options string, err error) error {
	if err != nil {
		return err
	}
	p := a.page()
	switch {
	case c.Refused != "":
		return errors.Join(workspace.Hinted(errors.New("not "+verb+": "+c.Refused),
			"precedent learn list lists what is known"), p.Err())
	case c.Known:
		p.Sayf("already known as "+p.Ink(report.Faint, c.ID)+"  ", "%s (%s)", c.Directive, c.State)
	default:
		p.Sayf(verb+" "+p.Ink(report.Faint, c.ID)+"  ", "%s (%s)", c.Directive, c.State)
	}
	if c.Contradicts != nil {
		p.Sayf("", "It contradicts %s: %s", c.Contradicts.ID, c.Contradicts.Directive)
		p.Say("", "Which one holds? Approve this one to replace that, or forget it:")
		p.Line(p.Ink(report.Plain, "  precedent learn approve "+c.ID+options))
		p.Line(p.Ink(report.Plain, "  precedent learn forget "+c.ID+options))
	}
	if c.Note != "" {
		p.Say("", "Note: "+c.Note)
	}
	if c.Active() {
		p.Line(p.Ink(report.Faint, "undo: precedent learn forget "+c.ID+options))
	}
	return p.Err()
}
