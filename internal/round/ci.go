package round

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/workspace"
)

const (
	// checksTimeout is how long the checks of a head may take, if the policy does not say.
	checksTimeout = 10 * time.Minute
	// checksDelay is how long a forge may take to start checks after a push. Until then, those that
	// are there, if any, need not be all: a check of the author's signature is done before a build begins.
	checksDelay = time.Minute
)

// checkCI looks at the results of CI for the head.
func (x *round) checkCI(ctx context.Context) error {
	pull := x.pub.Pull
	x.did.Did = Checks
	all, err := pull.Conn.Checks(ctx, pull.Repo.Repo, pull.Head.SHA)
	if err != nil && forge.KindOf(err) != forge.KindTooLarge {
		return pull.Conn.Explain(err)
	}
	seen := lookAtChecks(all, x.cycles.fixed[pull.Head.SHA].At, pull.Updated, x.now())
	seen.complete = seen.complete && err == nil // of a list that was cut, only failures count
	seen.timeout = cmp.Or(x.policy.Fix.CITimeout, checksTimeout)
	event, why := seen.event()
	to := label.Next(label.CIPending, label.Event{Kind: event})
	if to == label.Changes {
		if err := x.sayChecks(ctx, seen, why); err != nil {
			return err
		}
	}
	if to == label.CIPending {
		x.did.Why, x.did.Again = why, later
		if len(label.Found(pull.Labels, x.names)) > 1 { // an interruption left another label
			return x.enter(ctx, to)
		}
		return nil
	}
	x.did.Again = soon
	return x.enter(ctx, to)
}

// checksSeen are the checks of a head, without our own.
type checksSeen struct {
	failed, pending []forge.CommitCheck
	n               int
	complete        bool          // the list has all of them
	age             time.Duration // of the head, at least
	timeout         time.Duration // of the checks
}

// lookAtChecks sorts checks. The head is as old as our comment about the push, or as the oldest
// check if that is younger; if there is neither, it is as old as the last update. These times are
// the forge's: the date of a commit is whatever its author says.
func lookAtChecks(all []forge.CommitCheck, pushed, updated, now time.Time) checksSeen {
	s := checksSeen{complete: true, timeout: checksTimeout}
	var first time.Time
	for _, c := range all {
		if c.Own {
			continue
		}
		s.n++
		if !c.Started.IsZero() && !c.Started.After(now) && (first.IsZero() || c.Started.Before(first)) {
			first = c.Started
		}
		switch c.State {
		case forge.CheckFailed:
			s.failed = append(s.failed, c)
		case forge.CheckPassed, forge.CheckSkipped:
		default:
			s.pending = append(s.pending, c)
		}
	}
	if first.After(pushed) {
		pushed = first
	}
	if pushed.IsZero() {
		pushed = updated
	}
	s.age = max(0, now.Sub(pushed))
	return s
}

// event is what the checks mean for the label, and why.
func (s checksSeen) event() (label.EventKind, string) {
	switch {
	case len(s.failed) > 0:
		return label.ChecksFailed, "checks failed"
	case s.n == 0 && s.complete && s.age >= checksDelay:
		return label.ChecksPassed, "no checks are configured"
	case s.n > 0 && len(s.pending) == 0 && s.complete && s.age >= checksDelay:
		return label.ChecksPassed, "all checks passed"
	case s.age > s.timeout:
		return label.ChecksFailed, "checks timed out"
	case s.n == 0:
		return label.ChecksWait, "no check has started yet"
	case len(s.pending) == 0:
		return label.ChecksWait, "other checks may start"
	}
	return label.ChecksWait, fmt.Sprintf("%s pending", workspace.Count(len(s.pending), "check is", "checks are"))
}

// now is the time by the forge's clock, as far as it tells.
func (x *round) now() time.Time {
	if at := x.pub.Pull.Conn.Quota().At; !at.IsZero() {
		return at
	}
	return x.pub.Pull.Env.Now()
}

// sayChecks comments which checks failed or did not end, once for each head and result.
func (x *round) sayChecks(ctx context.Context, s checksSeen, why string) error {
	key, listed := "failed", s.failed
	note := comment.Note{Lead: fmt.Sprintf("**%s failed** at `%s`.", workspace.Count(len(s.failed), "check", "checks"),
		workspace.ShortID(x.pub.Pull.Head.SHA))}
	if len(s.failed) == 0 {
		key, listed = "timeout", s.pending
		state := workspace.Count(len(s.pending), "is", "are") + " still pending"
		if len(s.pending) == 0 {
			state = "not all of them can be read"
		}
		note.Lead = fmt.Sprintf("**The checks timed out** at `%s`: after %s, %s.", workspace.ShortID(x.pub.Pull.Head.SHA),
			workspace.Count(int(s.timeout.Minutes()), "minute", "minutes"), state)
	}
	for _, c := range listed {
		note.Items = append(note.Items, comment.NoteItem{Name: c.Name, Words: string(c.State), URL: c.URL})
	}
	x.did.Why = why
	return x.say(ctx, comment.ChecksEnded, "checks."+x.pub.Pull.Head.SHA+"."+key, x.pub.Pull.Env.NewID(), note)
}
