package pull

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/thread"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// learn stores the outcomes of earlier findings, after a review that answered their
// threads. If it fails, the review is still valid.
func (p *Pull) learn(ctx context.Context, s *State, r *precedent.Review) error {
	if s.Earlier.trees == nil {
		return nil // the code could not be read
	}
	s.Earlier.Threads = thread.Apply(s.Earlier.Threads, r)
	return p.learnOutcomes(ctx, s, r.Threads)
}

// learnAgain is learn for a review that another process made, which may not have come to this. States that it
// stored before it posted are not applied again: people may have answered since.
func (p *Publisher) learnAgain(ctx context.Context, r *precedent.Review, s *State) error {
	if s == nil || s.Earlier.trees == nil || s.Range.Head != r.Head {
		return nil // the next review learns it
	}
	declined := precedent.Review{Head: r.Head}
	declined.Threads = slices.DeleteFunc(slices.Clone(r.Threads),
		func(a precedent.ThreadAnswer) bool { return a.State != precedent.DeclinedHere })
	s.Earlier.Threads = thread.Apply(s.Earlier.Threads, &declined)
	// Threads of this head have no outcome yet, unless people ended them.
	s.Earlier.Threads = slices.DeleteFunc(s.Earlier.Threads, func(t precedent.Thread) bool {
		return t.Commit == r.Head && !t.State.Final()
	})
	if len(s.Earlier.Threads) == 0 {
		return nil
	}
	return p.Pull.learnOutcomes(ctx, s, r.Threads)
}

// Outcomes determines, stores and returns the outcomes of the findings that were posted on the pull request.
func (p *Pull) Outcomes(ctx context.Context) ([]precedent.Outcome, error) {
	s, err := p.Gather(ctx, Purpose{})
	if err != nil {
		return nil, err
	}
	if s.Earlier.trees == nil {
		why := "its threads could not be read"
		for _, f := range s.failures {
			if f.Step == "threads" {
				why = f.Error
			}
		}
		return nil, workspace.Hinted(errors.New("the outcomes of the findings could not be determined: "+why),
			"the token needs access to the repository and to its own account")
	}
	var answers []precedent.ThreadAnswer
	if last, found, err := p.Workspace.Memory.Rows.LastReview(ctx, p.Number); err != nil {
		return nil, err
	} else if found && last.Head == s.Range.Head {
		answers = last.Threads
	}
	if err := p.learnOutcomes(ctx, s, answers); err != nil {
		return nil, err
	}
	p.noticeQuota(ctx)
	return p.Workspace.Memory.Rows.Outcomes(ctx, p.Number)
}

// learnOutcomes determines and stores the outcomes of the threads' findings.
func (p *Pull) learnOutcomes(ctx context.Context, s *State, answers []precedent.ThreadAnswer) error {
	outcomes := thread.Outcomes(s.Earlier.Threads, thread.OutcomeInput{
		State: p.State, Author: p.Author, Trees: *s.Earlier.trees, Votes: s.Earlier.votes, Answers: answers,
		Now: p.Env.Now(),
	})
	if err := p.Workspace.Memory.Rows.SaveThreads(ctx, s.Earlier.Threads); err != nil {
		return err
	}
	if err := p.learnAudit(ctx, s); err != nil {
		return err
	}
	dismissals, err := p.Workspace.Memory.Learn(ctx, p.Number, s.Earlier.Threads, outcomes)
	for _, j := range dismissals {
		p.Env.Notice(ctx, "stored: %s declined %s (undo: precedent dismiss --undo %s)", j.Who, j.Finding, j.Finding)
	}
	return err
}

// unlearn ends the dismissals that were learned from threads in which nobody dismisses the finding any more, and the
// outcomes of resolved conversations: the reaction was taken back, or the conversation reopened. A reaction still
// counts here if only the permission of the person was taken away.
func (p *Pull) unlearn(ctx context.Context, s *State) error {
	outcomes, err := p.Workspace.Memory.Rows.Outcomes(ctx, p.Number)
	if err != nil {
		return err
	}
	for _, o := range outcomes {
		resolved := o.Kind == precedent.ResolvedUnchanged
		if !resolved && (o.Kind != precedent.Declined || !o.MayWrite) {
			continue
		}
		undone := slices.ContainsFunc(s.Earlier.Threads, func(t precedent.Thread) bool {
			who, _ := thread.Dismisser(t, s.Earlier.votes[t.ID], "")
			return t.ID == o.Thread && t.State != precedent.ThreadWontFix && who == "" && (!resolved || !t.State.Final())
		})
		votes := slices.ContainsFunc(s.Earlier.votes[o.Thread], func(v thread.Vote) bool {
			return v.Content == "-1" && v.Who.Login == o.Who
		})
		if !undone || votes {
			continue
		}
		switch ended, err := p.Workspace.Memory.Unlearn(ctx, o); {
		case errors.Is(err, store.ErrUnwritable):
			return nil
		case err != nil:
			return err
		case ended:
			p.Env.Notice(ctx, "the dismissal of %s no longer holds: %s took it back, or somebody reopened the conversation",
				o.Finding, o.Who)
		}
	}
	return nil
}

// votes returns the reactions to the comments that opened threads; after an error, those that it has read.
func (p *Pull) votes(ctx context.Context, s *State) (map[string][]thread.Vote, error) {
	voted := map[precedent.ForgeID]bool{}
	for _, c := range s.Comments {
		if c.Kind == forge.OnLine && c.Votes != 0 {
			voted[c.ID] = true
		}
	}
	votes := map[string][]thread.Vote{}
	for _, t := range s.Earlier.Threads {
		if !voted[t.Comment] {
			continue
		}
		reactions, err := p.Conn.Reactions(ctx, p.Repo.Repo, p.Number, forge.CommentRef{Kind: forge.OnLine, ID: t.Comment})
		if err != nil {
			return votes, p.Conn.Explain(err)
		}
		for _, r := range reactions {
			votes[t.ID] = append(votes[t.ID], thread.Vote{Reaction: r, MayWrite: p.People.Permission(ctx, r.Who).MayWrite()})
		}
	}
	return votes, nil
}

// maxAuditReviews bounds the reviews whose audited findings are looked at again.
const maxAuditReviews = 10

// learnAudit ends dismissals that were wrong: each hid a finding that was shown folded, as an
// audit, and that the pull request then fixed.
func (p *Pull) learnAudit(ctx context.Context, s *State) error {
	var audited []precedent.Thread
	hiddenBy := map[string]string{}
	for r, err := range p.Workspace.Memory.Rows.ReviewsOfPull(ctx, p.Number, maxAuditReviews) {
		if err != nil {
			return err
		}
		for i := range r.Findings {
			f := &r.Findings[i]
			if f.Dropped != precedent.Rejected || f.Placement != precedent.Collapsed || hiddenBy[f.Fingerprint] != "" ||
				r.Head == s.Range.Head {
				continue
			}
			hiddenBy[f.Fingerprint] = f.DroppedBy
			audited = append(audited, precedent.ThreadOf(r, f))
		}
	}
	if len(audited) == 0 {
		return nil
	}
	thread.Relocate(audited, *s.Earlier.trees)
	for _, o := range thread.Outcomes(audited, thread.OutcomeInput{
		State: p.State, Author: p.Author, Trees: *s.Earlier.trees, Now: p.Env.Now(),
	}) {
		if accepted, ok := o.Label(); !ok || !accepted {
			continue
		}
		id := hiddenBy[o.Fingerprint]
		why := fmt.Sprintf("#%d fixed finding %s, which it hid: %s", p.Number, o.Finding, o.Proof)
		ended, err := p.Workspace.Memory.Rows.Retire(ctx, id, why, p.Env.Now())
		if err != nil {
			return err
		}
		if ended {
			p.Env.Notice(ctx, "dismissal %s no longer holds: %s", id, why)
		}
	}
	return nil
}
