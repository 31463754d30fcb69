package round

import (
	"context"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/fix"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/gate"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/pull"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// Options are what a round may do, apart from reading and reviewing.
type Options struct {
	// At says where the memory and the commits are; the zero value is right for a server, whose
	// repositories share a database.
	At workspace.Location
	// Reviews is what the operator says leads to a review, where the policy does not; nil means the default.
	Reviews *precedent.ReviewTriggers
	// Gate builds and tests the head before a review; nil for no gate.
	Gate *gate.Runner
	// Fix lets rounds make one attempt at a time to fix what is open; nil for none: then the label
	// stays for people or another bot. Its Gate, Check and Problems are those of the round.
	Fix *fix.Options
	// FixAsked tells that a person with write permission asked for a fix in a comment. The round then
	// makes one attempt, whatever the label is, instead of what is due.
	FixAsked bool
	// Check is called right before each write; the write is not made if it returns an error. It may be nil.
	Check func(ctx context.Context) error
	// Pushing is called with a commit right before a fix pushes it. The forge then tells of a newer
	// head, which must not end the round. It may be nil.
	Pushing func(commit string)
}

// Result is what a round did.
type Result struct {
	Head string // of the pull request when it was read
	// Did is the one thing that was due.
	Did Act
	// Before and After are the states of the labels.
	Before, After label.State
	// Why says for people why nothing was due, or why a result is not what it could be.
	Why string
	// Moved is the present name of the repository if that is another one than it was asked for by: then
	// nothing else was done. It is zero otherwise.
	Moved precedent.Repo
	// Made is the review that this round made, also if it could not be posted; nil if it made none.
	Made *precedent.Review
	// Again is when another round is wanted although nothing happens until then: 0 for none.
	Again time.Duration
}

// Act is what a round does.
type Act string

// The acts.
const (
	Nothing Act = ""
	Review  Act = "review"
	Gate    Act = "gate" // it failed, so that nothing was reviewed
	Fix     Act = "fix"
	Checks  Act = "checks"
)

// When another round is wanted: because of what this one did, and because of what others do.
const (
	soon  = time.Second
	later = time.Minute
	// relabelPause is how long it takes until a label that could not be changed is looked at again.
	relabelPause = 15 * time.Minute
)

// Do looks at a pull request as it is now and does the one thing that is due: it answers comments, and then
// reviews, fixes, checks the results of CI, or does nothing. All that it decides by is on the forge, so that
// a round after an interruption goes on where that one ended, and a round with nothing due writes nothing,
// except that the first one in a repository creates the labels.
func Do(ctx context.Context, r *workspace.Env, conn workspace.Connection, repo precedent.Repo, number int, job run.Job,
	o Options,
) (Result, error) {
	if o.Check != nil {
		ctx = forge.WithFence(ctx, o.Check)
	}
	opened, err := pull.OpenRepository(ctx, r, o.At, repo)
	if err != nil {
		return Result{}, err
	}
	defer opened.Close()
	asked := opened.Repo
	pr, err := pull.Read(ctx, r, conn, opened, number)
	if err != nil {
		return Result{}, err
	}
	defer pr.Close()
	if now := pr.Base.Repo; !workspace.SameRepo(now, asked) {
		return Result{Head: pr.Head.SHA, Moved: now}, nil
	}
	pub, err := pr.Publisher(ctx)
	if err != nil {
		return Result{}, err
	}
	pub.Keeps = true
	x := &round{pub: pub, job: job, o: o, did: Result{Head: pr.Head.SHA}}
	err = x.run(ctx)
	if err == nil && x.request != store.NotAsked && !x.unserved {
		err = pub.Rows.EndAsked(ctx, number, x.request)
	}
	return x.did, err
}

type round struct {
	pub      *pull.Publisher
	job      run.Job
	o        Options
	policy   precedent.Policy // of the base
	names    label.Names
	triggers precedent.ReviewTriggers
	request  store.Asking // what comments ask for that no earlier round has done
	unserved bool         // another round has to do that
	cycles   cycles
	// retargeted tells that the head was read against another base branch.
	retargeted bool
	did        Result
}

func (x *round) run(ctx context.Context) error {
	pr := x.pub.Pull
	var err error
	if x.request, err = x.pub.Rows.PullAsked(ctx, pr.Number); err != nil {
		return err
	}
	switch {
	case pr.State != forge.Open:
		x.did.Why = "it is " + string(pr.State)
		return nil
	case pr.Locked:
		x.did.Why, x.unserved = "it is locked, so that nothing can be posted", true
		return nil
	}
	conversed, _, err := answer(ctx, x.pub, x.job, nil)
	if err != nil {
		return err
	}
	if x.request, err = x.pub.Rows.PullAsked(ctx, pr.Number); err != nil {
		return err
	}
	if conversed.Paused {
		x.did.Why, x.unserved = "it is paused by "+conversed.PausedBy, true
		return nil
	}
	if err := x.readRules(ctx); err != nil {
		return err
	}
	if err := x.makeLabels(ctx); err != nil {
		return err
	}
	if err := x.recount(ctx); err != nil {
		return err
	}
	if x.retargeted, err = x.pub.Retargeted(ctx); err != nil {
		return err
	}
	x.did.Before = label.Of(pr.Labels, x.names)
	x.did.After = x.did.Before
	if x.cycles.has(comment.Remark, x.unlabelledKey()) {
		may, err := x.mayLabel(ctx)
		if err != nil {
			return err
		}
		if !may {
			x.did.Before, x.did.After = label.None, label.None // the label says nothing if it cannot be changed
			x.did.Again = relabelPause
		}
	}
	return x.act(ctx)
}

// facts are what decides what a round does. They come from the forge, except unposted and asked, which
// only ask for more.
type facts struct {
	state    label.State
	fixAsked bool // a person asks for a fix in a comment
	asked    bool // somebody asks for a review
	unposted bool // a review of the head is not posted to its end
	pushed   bool // the head is a fix of ours that nothing has looked at since
	unread   bool // the head is to be reviewed without anybody asking
}

type step int

const (
	doNothing step = iota
	doReviewLabelled
	doReview // without a label for it
	doFixAsked
	doFix
	doAfterPush // what an interrupted round did not come to
	doChecks
	doExplain // why people have to look
	doTidy    // leave one label
)

// due returns what is due. A fix that was pushed comes before people who ask: as long as it is not known to
// be one, a review would hide that, and the cycle would not wait for its checks.
func (f facts) due() step {
	switch {
	case f.fixAsked:
		return doFixAsked
	case f.state == label.ReviewNeeded:
		return doReviewLabelled
	case f.state == label.Changes && f.pushed:
		return doAfterPush
	case f.asked, f.unposted: // people first
		return doReview
	case f.state == label.Changes:
		return doFix
	case f.state == label.CIPending:
		return doChecks
	case f.unread:
		return doReview
	case f.state == label.Intervention:
		return doExplain
	case f.state == label.HumanReview:
		return doTidy
	}
	return doNothing
}

func (x *round) act(ctx context.Context) error {
	state := x.did.Before
	if !slices.Contains(x.triggers.On, precedent.OnLabel) {
		state = label.None
	}
	x.did.Before, x.did.After = state, state
	f := facts{
		state: state, fixAsked: x.o.FixAsked, asked: x.asked(),
		pushed: x.cycles.pushed(x.pub.Pull.Head.SHA), unread: x.unread(),
	}
	if !f.asked && state != label.ReviewNeeded {
		var err error
		if f.unposted, err = x.pub.Unfinished(ctx, x.job); err != nil {
			return err
		}
	}
	due := f.due()
	if due != doReviewLabelled && due != doReview {
		if err := x.pub.Refresh(ctx, x.job); err != nil {
			return err
		}
	}
	switch due {
	case doFixAsked:
		return x.fixAsked(ctx)
	case doReviewLabelled:
		return x.review(ctx, true)
	case doAfterPush:
		x.did.Did, x.unserved = Fix, true
		return x.follow(ctx, label.Event{Kind: label.FixPushed})
	case doReview:
		if state == label.Changes || state == label.CIPending {
			x.did.Again = soon
		}
		return x.review(ctx, false)
	case doFix:
		return x.fix(ctx)
	case doChecks:
		return x.checkCI(ctx)
	case doExplain:
		x.did.Why = "people have to look"
		return x.explainIntervention(ctx)
	case doTidy:
		x.did.Why = "it waits for a person's review"
		return x.enter(ctx, state) // alone, if an interruption left another label
	}
	x.did.Why = "nothing is due"
	return nil
}

// readRules reads the policy of the base branch, and what it says about labels and reviews.
func (x *round) readRules(ctx context.Context) error {
	policy, err := x.pub.Pull.BasePolicy(ctx)
	if err != nil {
		return err
	}
	x.policy = policy
	x.names = labelNames(ctx, x.pub.Pull.Env, label.Names(policy.Labels))
	x.triggers = defaultTriggers
	switch {
	case policy.Reviews != nil:
		x.triggers = *policy.Reviews
	case x.o.Reviews != nil:
		x.triggers = *x.o.Reviews
	}
	return nil
}

// defaultTriggers are those of an installation that sets nothing: a review costs, so somebody asks for it.
var defaultTriggers = precedent.ReviewTriggers{On: []precedent.ReviewTrigger{
	precedent.OnLabel, precedent.OnRequest, precedent.OnCommand,
}}

// asked tells whether somebody asked for a review: in a comment, or on the forge.
func (x *round) asked() bool {
	pr := x.pub.Pull
	read := x.cycles.summary.Head == pr.Head.SHA
	return slices.Contains(x.triggers.On, precedent.OnCommand) && x.request != store.NotAsked ||
		slices.Contains(x.triggers.On, precedent.OnRequest) && !read &&
			slices.ContainsFunc(pr.Requested, func(p forge.Person) bool { return p.ID != "" && p.ID == x.pub.Poster.Me.ID })
}

// unread tells whether the head is to be reviewed without anybody asking for it. A head that we
// pushed, or whose gate failed, is not.
func (x *round) unread() bool {
	pr, c := x.pub.Pull, &x.cycles
	if pr.Draft && !x.triggers.Drafts || c.gates[pr.Head.SHA] {
		return false
	}
	if _, ours := c.fixed[pr.Head.SHA]; ours {
		return false
	}
	on := func(t precedent.ReviewTrigger) bool { return slices.Contains(x.triggers.On, t) }
	first := !c.reviewed && len(c.gates) == 0
	switch {
	case first:
		return on(precedent.OnOpen) || on(precedent.OnReady) && !pr.Draft
	case c.summary.Head != pr.Head.SHA, x.retargeted:
		return on(precedent.OnPush)
	}
	incomplete := c.tries > 0 && c.tries < label.MaxIncomplete
	return incomplete && (on(precedent.OnOpen) || on(precedent.OnReady) || on(precedent.OnPush))
}
