package round

import (
	"context"
	"errors"
	"fmt"

	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/fix"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/pull"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// review runs the gate, reviews the head and posts the review. With the label for it, the result
// decides on the next label.
func (x *round) review(ctx context.Context, labelled bool) error {
	pub := x.pub
	x.did.Did = Review
	pub.Tries = x.cycles.tries%label.MaxIncomplete + 1
	job := x.job
	job.Again = job.Again || x.request == store.AskedAgain
	stopped := false
	posted, err := pub.Review(ctx, job, pull.Hooks{
		Run: func(ctx context.Context, p *run.Prepared) (run.Result, error) {
			made, err := p.Run(ctx, run.Watch{})
			if err == nil {
				x.did.Made = made.Review
			}
			return made, err
		},
		Gate: func(ctx context.Context, p *pull.Prepared) (bool, error) {
			goOn, err := x.gate(ctx, p)
			stopped = !goOn && err == nil
			return goOn, err
		},
	})
	switch {
	case pub.Delivered.Superseded:
		x.did.Why, x.did.Again, x.unserved = "it has new commits, so that the result does not count", soon, true
		return nil
	case err != nil:
		return err
	case stopped:
		x.did.Did = Gate
		if labelled {
			return x.follow(ctx, label.Event{Kind: label.GateFailed})
		}
		return nil
	case pub.Delivered.Undeliverable != "":
		x.did.Why = pub.Delivered.Undeliverable
		return nil
	case pub.Delivered.OtherRun && pub.Delivered.Left > 0:
		x.did.Why, x.did.Again, x.unserved = "another run is posting", later, true
		return nil
	}
	if err := x.recount(ctx); err != nil {
		return err
	}
	event := pull.ReviewEvent(posted.Review, x.job.Settings.FailOn.Value, x.cycles.tries)
	if event.Kind == label.Clean && labelled {
		wait, err := x.peopleWait(ctx)
		if err != nil {
			return err
		}
		if wait {
			event.Kind, x.did.Why = label.Findings, "a conversation of a person with write permission is unresolved"
		}
	}
	if event.Kind == label.Incomplete && event.Times < label.MaxIncomplete {
		x.did.Again, x.unserved = later, true
	}
	if !labelled {
		return nil
	}
	return x.follow(ctx, event)
}

// follow changes the label after an event.
func (x *round) follow(ctx context.Context, e label.Event) error {
	to := label.Next(x.did.Before, e)
	if to == label.Intervention {
		return x.giveUp(ctx)
	}
	if err := x.enter(ctx, to); err != nil {
		return err
	}
	switch {
	case x.did.After == label.Changes && x.did.Before != label.Changes && x.o.Fix != nil:
		x.did.Again = soon
	case x.did.After == label.CIPending:
		x.did.Again = later
	}
	return nil
}

// fix makes an attempt to fix what is open, if that is due and allowed.
func (x *round) fix(ctx context.Context) error {
	if x.cycles.unfixed >= label.MaxFailed {
		return x.follow(ctx, label.Event{Kind: label.FixFailed, Times: x.cycles.unfixed})
	}
	due := label.Event{Kind: label.FixDue, Cycles: x.cycles.n(), MaxCycles: x.policy.Fix.MaxCycles}
	if label.Next(label.Changes, due) == label.Intervention {
		return x.giveUp(ctx)
	}
	if x.o.Fix == nil || x.policy.Fix.Off || !x.job.Engine.Enabled() {
		x.did.Why = "it waits for changes"
		return x.enter(ctx, label.Changes)
	}
	if head := x.pub.Pull.Head.SHA; x.cycles.has(comment.Remark, malformedKey(head)) {
		x.did.Why = "the model's answers for " + workspace.ShortID(head) + " were not in the required format"
		return x.enter(ctx, label.Changes)
	}
	return x.attempt(ctx)
}

// malformedKey is the key of the note that the engine's answers about a head, or to what a person asked for, were
// malformed.
func malformedKey(of string) string { return "malformed." + of }

// fixAsked makes the attempt to fix that a person asked for. The label changes only where a fix is due
// anyway: elsewhere people decide. Another attempt is made only if this one was for a head that is
// not the newest any more.
func (x *round) fixAsked(ctx context.Context) error {
	x.did.Did, x.unserved = Fix, true
	if x.o.Fix == nil || !x.job.Engine.Enabled() {
		return errors.New("fix rounds are turned off")
	}
	tooMany := x.cycles.tooMany()
	var err error
	switch {
	case x.cycles.pushed(x.pub.Pull.Head.SHA): // a round before this one has done it
		err = x.follow(ctx, label.Event{Kind: label.FixPushed})
	case tooMany != "" && x.did.Before == label.Changes:
		err = x.giveUp(ctx)
	case tooMany != "":
		x.did.Why = tooMany
		review := x.cycles.latest()
		err = x.say(ctx, comment.GivenUp, "giveup."+review, review, comment.Note{
			Lead: "**A person has to look.** " + tooMany,
			End:  "Nothing was fixed. Asked again, it will be: the cycles are then counted anew.",
		})
	default:
		err = x.attempt(ctx)
	}
	if x.did.Again == later {
		x.did.Again = 0
	}
	return err
}

func (x *round) attempt(ctx context.Context) error {
	pub, head := x.pub, x.pub.Pull.Head.SHA
	x.did.Did = Fix
	o := *x.o.Fix
	o.Gate, o.Check, o.Pushing, o.Problems, o.Asked = x.o.Gate, x.o.Check, x.o.Pushing, x.cycles.problems(head),
		x.o.FixAsked
	fixed, err := fix.Round(ctx, pub, x.job, o)
	if err != nil {
		return err
	}
	x.did.Why = fixed.Why
	switch fixed.Status {
	case fix.Superseded:
		x.did.Again = soon
		return nil
	case fix.Pushed:
		return x.afterPush(ctx, fixed)
	case fix.Nothing:
		return x.nothingOpen(ctx)
	case fix.Malformed:
		return x.sayMalformed(ctx, fixed)
	}
	if err := x.recount(ctx); err != nil || x.did.Before != label.Changes {
		return err
	}
	times := max(1, x.cycles.unfixed)
	if times < label.MaxFailed {
		x.did.Again = later
	}
	return x.follow(ctx, label.Event{Kind: label.FixFailed, Times: times})
}

// nothingOpen goes on where nothing is left to fix: to CI, which may not have passed yet, and from there
// to the review that says so. Who asked for a fix in a comment gets an answer.
func (x *round) nothingOpen(ctx context.Context) error {
	if x.o.FixAsked {
		head := x.pub.Pull.Head.SHA
		if err := x.say(ctx, comment.Remark, "nothing."+head, "",
			comment.Note{Lead: "**Nothing was fixed** at `" + workspace.ShortID(head) + "`: nothing is open."}); err != nil {
			return err
		}
	}
	if x.did.Before != label.Changes {
		return nil
	}
	return x.follow(ctx, label.Event{Kind: label.NothingOpen})
}

// sayMalformed says that there was no attempt, because of the engine. The next one is made for another head, or when a
// person asks.
func (x *round) sayMalformed(ctx context.Context, fixed fix.Result) error {
	head := x.pub.Pull.Head.SHA
	of := head
	if x.o.FixAsked {
		of = fixed.Review
	}
	err := x.say(ctx, comment.Remark, malformedKey(of), "", comment.Note{
		Lead: "**No fix was made** at `" + workspace.ShortID(head) +
			"`: the model's answers were not in the required format.",
		Text: fixed.Why,
		End:  "This does not count as an attempt. To try again, push a commit or comment `@precedent fix`.",
	})
	if err != nil || x.did.Before != label.Changes {
		return err
	}
	return x.enter(ctx, label.Changes)
}

// afterPush waits for CI. The pull request has a new head then.
func (x *round) afterPush(ctx context.Context, fixed fix.Result) error {
	pr := x.pub.Pull
	now, err := pr.Conn.PullRequest(ctx, pr.Repo.Repo, pr.Number)
	if err != nil {
		return pr.Conn.Explain(err)
	}
	if now.Head.SHA != fixed.Commit {
		// Gitea shows a push some seconds later; the next round finds the commit.
		x.did.Why, x.did.Again = "the forge does not show what was pushed yet", soon
		return nil
	}
	pr.PullRequest = now
	x.did.Head = now.Head.SHA
	return x.follow(ctx, label.Event{Kind: label.FixPushed})
}

// giveUp leaves the pull request to people, and says why. The label comes first: the count begins
// anew with the comment, so that a round between the two must not fix again.
func (x *round) giveUp(ctx context.Context) error {
	if err := x.enter(ctx, label.Intervention); err != nil || x.did.After != label.Intervention {
		return err
	}
	return x.explainIntervention(ctx)
}

// explainIntervention says why people have to look, if that is not said yet.
func (x *round) explainIntervention(ctx context.Context) error {
	if x.did.Did == Nothing && len(label.Found(x.pub.Pull.Labels, x.names)) > 1 {
		if err := x.enter(ctx, label.Intervention); err != nil {
			return err
		}
	}
	why := x.cycles.exceeded()
	if why == "" {
		return nil
	}
	x.did.Why = why
	review := x.cycles.latest()
	names := x.names
	return x.say(ctx, comment.GivenUp, "giveup."+review, review, comment.Note{
		Lead: "**A person has to look.** " + why,
		End: fmt.Sprintf("To go on, replace the label %s by %s or %s: the cycles are then counted anew.",
			workspace.Quoted(names.Intervention), workspace.Quoted(names.ReviewNeeded), workspace.Quoted(names.Changes)),
	})
}

// peopleWait tells whether a conversation of a person with write permission waits for a change.
func (x *round) peopleWait(ctx context.Context) (bool, error) {
	p := x.pub.Pull
	comments, err := p.Conn.Comments(ctx, p.Repo.Repo, p.Number)
	if err != nil && forge.KindOf(err) != forge.KindTooLarge {
		return false, p.Conn.Explain(err)
	}
	convs, err := p.Conn.Threads(ctx, p.Repo.Repo, p.Number)
	if err != nil && forge.KindOf(err) != forge.KindTooLarge {
		return false, p.Conn.Explain(err)
	}
	found, err := x.pub.PeoplesThreads(ctx, comments, convs)
	return len(found.Open) > 0, err
}
