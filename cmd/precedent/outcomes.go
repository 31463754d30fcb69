package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/thread"
)

func newOutcomes(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "outcomes [NUMBER|URL]",
		Short: "Say what became of the posted findings of a pull request",
		Long: `Outcomes looks at the pull request as it is now and says of every finding that was
posted on it what became of it, with the proof: fixed, suggestion committed,
declined (with the person's words), accepted, resolved with the code as it was,
ignored when it was merged or closed, or unknown. What nobody declined is not
accepted for that.

The memory keeps it. A "no" of somebody with write permission, in words or as a
thumb down, hides the finding from then on, as precedent dismiss does.

Without an argument, in a workflow, it is the pull request of the event. Nothing
is written to the forge.`,
		Example: `  precedent outcomes 7
  precedent outcomes https://github.com/owner/name/pull/7 --json`,
		Args: between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			which := ""
			if len(args) == 1 {
				which = args[0]
			}
			flags := settingFlags(cmd)
			st, err := a.stationOf(flags)
			if err != nil {
				return err
			}
			return a.outcomes(cmd.Context(), st, which, flags, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	addSettings(cmd, "forge", "memory_db", "repo")
	return cmd
}

// outcomes finds out what became of the posted findings, keeps it and prints it.
func (a *app) outcomes(ctx context.Context, st *station, which string, flags map[string]string, asJSON bool) error {
	d, number, err := a.pullDesk(ctx, st, which, flags)
	if err != nil {
		return err
	}
	defer d.close()
	if err := d.rememberIfPossible(ctx, a); err != nil {
		return err
	}
	writer, err := a.writer(st, d.named, number)
	if err != nil {
		return err
	}
	s, err := a.fetchPull(ctx, st, d, number, errand{writer: writer})
	if err != nil {
		return err
	}
	defer s.pull.history.close()
	if s.pull.history.trees.Read == nil {
		return hinted(errors.New("what became of the findings cannot be told: "+incomplete(s.pull.failures)), "the token needs to read the repository and to know its own account")
	}
	var answers []precedent.ThreadAnswer
	rows, err := d.rows(ctx)
	if err != nil {
		return err
	}
	if last, found, err := rows.LastReview(ctx, number); err != nil {
		return err
	} else if found && last.Head == s.rg.Head {
		answers = last.Threads
	}
	if err := a.learnOutcomes(ctx, st, d, s.pull, answers); err != nil {
		return err
	}
	got, err := d.memory.Outcomes(ctx, number)
	if err != nil {
		return err
	}
	a.tellQuota(st)
	if asJSON {
		return report.Value(a.out, append([]precedent.Outcome{}, got...))
	}
	p := a.page()
	printOutcomes(p, got)
	return p.Err()
}

// incomplete joins what went wrong with the threads.
func incomplete(failures []precedent.Failure) string {
	said := "nothing is known of its threads"
	for _, f := range failures {
		if f.Step == "threads" {
			said = f.Error
		}
	}
	return said
}

// learnOutcomes finds out what became of the threads' findings, and keeps it.
func (a *app) learnOutcomes(
	ctx context.Context, st *station, d *desk, p *pull, answers []precedent.ThreadAnswer,
) error {
	h := &p.history
	votes, err := a.votes(ctx, st, d, p)
	if err != nil {
		return err
	}
	got := thread.Outcomes(h.threads, thread.OutcomeInput{
		State: p.State, Author: p.Author.ID, Trees: h.trees, Votes: votes, Answers: answers, Now: a.now(),
	})
	rejections, err := d.memory.Learn(ctx, p.Number, h.threads, got)
	for _, j := range rejections {
		a.notice("remembered: %s declined %s (precedent dismiss --undo %s takes it back)", j.Who, j.Finding, j.Finding)
	}
	return err
}

// votes are the thumbs on the comments that opened threads.
func (a *app) votes(ctx context.Context, st *station, d *desk, p *pull) (map[string][]thread.Vote, error) {
	voted := map[precedent.ForgeID]bool{}
	for _, c := range p.comments {
		if c.Kind == forge.OnLine && c.Votes != 0 {
			voted[c.ID] = true
		}
	}
	votes := map[string][]thread.Vote{}
	for _, t := range p.history.threads {
		if !voted[t.Comment] {
			continue
		}
		reactions, err := st.Reactions(ctx, d.named, p.Number, forge.CommentRef{Kind: forge.OnLine, ID: t.Comment})
		if err != nil {
			return nil, st.fault(err)
		}
		for _, r := range reactions {
			votes[t.ID] = append(votes[t.ID], thread.Vote{Reaction: r, MayWrite: p.history.permission(r.Who).MayWrite()})
		}
	}
	return votes, nil
}

func printOutcomes(p *report.Page, all []precedent.Outcome) {
	if len(all) == 0 {
		p.Para("", p.Ink(report.Faint, "Nothing of ours was posted on this pull request."))
		return
	}
	count := map[precedent.OutcomeKind]int{}
	var rows [][]string
	for _, o := range all {
		count[o.Kind]++
		rows = append(rows, []string{
			p.Ink(report.Faint, o.Finding), p.Ink(report.Bold, string(o.Kind)), p.Ink(report.Plain, string(o.Severity)), p.Ink(report.Plain, o.Title+": "+o.Proof),
		})
	}
	p.Table(rows)
	p.Line()
	said := fmt.Sprintf("%d posted", len(all))
	for _, kind := range precedent.OutcomeKinds {
		if n := count[kind]; n > 0 {
			said += fmt.Sprintf(", %d %s", n, kind)
		}
	}
	p.Para("", p.Ink(report.Plain, said))
}
