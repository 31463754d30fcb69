package post

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
)

// Only one run at a time posts on a pull request. Runs with one memory take turns in the store. Runs with
// separate memories claim the summary: they write the id of the run into its marker, wait until the forge
// must show the claims of others, and look who has it. A claim expires by the forge's clock, and is looked at
// again before each group of requests, so that at most one request of a run that lost its claim is carried
// out. docs/decisions/0037 describes the protocol.
const (
	// claimFor is how long a claim holds that is not renewed. It is renewed after three quarters.
	claimFor = 2 * time.Minute
	// claimWait is how long to wait for another run: long enough to see it die and to take over.
	claimWait = 5 * time.Minute
	// claimPause is the longest of the pauses, which grow, between two looks at another run.
	claimPause = 20 * time.Second
	// maxLooksAtRuns bounds the looks, if two runs claim at the same time again and again.
	maxLooksAtRuns = 60
	// maxTurns is how often a run whose claim was taken over claims again.
	maxTurns = 5
)

var (
	// errBusy ends a delivery because another run posts on the pull request.
	errBusy = errors.New("another run is posting on the pull request")
	// errOutrun means that another run has taken over the claim.
	errOutrun = errors.New("another run has taken over")
)

// claim is what this run holds on the pull request; the zero value is nothing.
type claim struct {
	summary precedent.ForgeID // the comment that names this run
	made    time.Time         // when it was last written, by our clock
	created bool              // this run made the comment
	waited  bool              // another run was posting
	spent   comment.Spending  // what the summary says since this run claimed it
}

// takeTurn waits for the turn in the store.
func (j *job) takeTurn(ctx context.Context) error {
	for over := j.Now().Add(claimWait); ; {
		taken, died, err := j.Rows.TakeTurn(ctx, j.number, j.run, j.Replica, claimFor)
		if err != nil || taken {
			j.turn, j.died = taken, died
			return err
		}
		if !j.Now().Before(over) {
			return errBusy
		}
		j.claim.waited = true
		if err := j.Sleep(ctx, listLag); err != nil {
			return err
		}
	}
}

// claimPull makes this run the only one that posts, or waits for the other one. What can be
// repeated needs no claim.
func (j *job) claimPull(ctx context.Context) error {
	if len(j.unsent(store.PostSummary))+len(j.unsent(store.PostRemark))+len(j.unsent(store.PostReply)) == 0 {
		return nil
	}
	over := j.Now().Add(claimWait)
	for n := range 2 * maxLooksAtRuns {
		began := j.Now()
		if err := j.look(ctx); err != nil {
			return err
		}
		j.impatient = n >= maxLooksAtRuns || !j.Now().Before(over)
		switch _, busy := j.rival(); {
		case busy && j.impatient:
			return errBusy
		case busy:
		case j.claim.waited && j.postedElsewhere():
			return j.leaveToOther(ctx)
		default:
			if won, err := j.stake(ctx, began); won || err != nil {
				return err
			}
		}
		j.claim.waited = true
		if err := j.Sleep(ctx, min(listLag<<min(n, 4), claimPause)+j.Rand(listLag)); err != nil {
			return err
		}
		if err := j.checkHead(ctx, j.review.Head); err != nil {
			return err
		}
	}
	return errBusy
}

// look reads the forge, and adopts what exists.
func (j *job) look(ctx context.Context) error {
	return inOrder(ctx, j.readForge, j.adopt)
}

// rival returns a summary that another run claims, preferably one whose marker is valid. Without
// a key, anyone who posts with our account can make such a claim: it only delays us. What a run
// claimed that died with its replica does not count.
func (j *job) rival() (ownComment, bool) {
	now := cmp.Or(j.Forge.Quota().At, j.Now())
	summaries := j.state.own
	if !j.impatient {
		summaries = slices.Concat(summaries, j.state.unknown)
	}
	for _, o := range summaries {
		if isSummary(o) && o.Run != "" && o.Run != j.run && !slices.Contains(j.died, o.Run) && now.Sub(o.Edited) < claimFor {
			return o, true
		}
	}
	return ownComment{}, false
}

// stake claims the summary, or posts the first one with a claim. It is false if another run was first.
func (j *job) stake(ctx context.Context, began time.Time) (bool, error) {
	p := j.summaryPost()
	if p == nil {
		return true, nil // there is no summary, and there will be none
	}
	if !p.State.Done() {
		j.reuseSummary(p)
	}
	shown, _ := j.summaryOf(p.Remote)
	spent := j.spending(shown.Marker)
	body, err := j.claimed(p, spent)
	if err != nil || body == "" {
		return err == nil, err
	}
	if p.Remote != "" {
		err = j.Forge.Edit(ctx, j.repo, j.number, forge.CommentRef{Kind: forge.OnThread, ID: p.Remote}, body)
	} else {
		err = j.createSummary(ctx, p, body)
	}
	deleted := isGone(err) && p.Remote != "" // by a person
	if deleted {
		j.forgetSummary(p.Remote)
	}
	switch {
	case err == nil:
		j.claim.summary, j.claim.made, j.claim.spent = p.Remote, j.Now(), spent
		return j.verify(ctx, began)
	case p.State.Done():
		return true, nil // what is left to do can be repeated, and tells what is wrong
	case deleted:
		return false, j.save(ctx, p)
	}
	return false, j.handleError(ctx, err, p)
}

// summaryPost returns the post of the summary: that of the review, or an earlier one that was
// posted; nil if there is none.
func (j *job) summaryPost() *store.Post {
	if left := j.unsent(store.PostSummary); len(left) > 0 {
		return left[0]
	}
	for i := range slices.Backward(j.posts) {
		if p := &j.posts[i]; p.Kind == store.PostSummary && p.Remote != "" && !j.state.theirs[p.Remote] {
			return p
		}
	}
	return nil
}

// claimed returns the text of the summary with our claim and what was spent: what is there, or
// else what the review says so far. It is empty if neither is known.
func (j *job) claimed(p *store.Post, spent comment.Spending) (string, error) {
	if o, ok := j.summaryOf(p.Remote); ok {
		if body, ok := j.writer.WithRun(string(o.Body), j.run); ok {
			body, _ = j.writer.WithSpending(body, spent)
			return body, nil
		}
	}
	if p.State.Done() {
		return "", nil
	}
	page, err := j.page(p)
	m := j.marker(comment.Summary, p.Thread)
	m.Run, m.Spent, m.Tries = j.run, spent, OptionsOf(*p).Tries
	return j.writer.Summary(page, m), err
}

// summaryOf returns our summary with this id, if the forge shows it.
func (j *job) summaryOf(id precedent.ForgeID) (ownComment, bool) {
	return j.state.find(func(o ownComment) bool { return o.ID == id && isSummary(o) })
}

// createSummary posts the first summary, which names this run.
func (j *job) createSummary(ctx context.Context, p *store.Post, body string) error {
	p.Hash = hash(body)
	if err := j.markSending(ctx, p); err != nil {
		return err
	}
	posted, err := j.Forge.Comment(ctx, j.repo, j.number, body)
	if err != nil {
		return err
	}
	p.Remote, j.d.URL, j.claim.created = posted.ID, posted.URL, true
	return j.setState(ctx, store.PostPlanned, "", p)
}

// verify waits until the forge must show the claims that were made before ours, and tells whether ours holds:
// of two summaries the older counts, and of two claims of one summary the later. A claim that was long on its
// way may have replaced one that is in use, so its run waits as much longer.
func (j *job) verify(ctx context.Context, began time.Time) (bool, error) {
	pause := j.Now().Sub(began) + j.lag()
	for n := range maxLooks {
		if err := j.Sleep(ctx, pause); err != nil {
			return false, err
		}
		if err := j.look(ctx); err != nil {
			return false, err
		}
		mine, shown := j.summaryOf(j.claim.summary)
		rival, busy := j.rival()
		switch {
		case shown && mine.Run != j.run, busy && rival.ID.Compare(j.claim.summary) < 0:
			return false, j.abandon(ctx)
		case shown:
			return true, nil
		}
		pause = listLag + j.Rand(listLag<<n)
	}
	return true, nil // whatever the forge does not show is found by the sweep
}

// lag is how long the forge may take to list a comment.
func (j *job) lag() time.Duration {
	if j.Instant {
		return 0
	}
	return listLag
}

// abandon ends a claim without having posted: a summary that this run made is deleted.
func (j *job) abandon(ctx context.Context) error {
	held := j.claim
	j.claim = claim{waited: held.waited}
	if !held.created {
		return j.unmark(ctx, held.summary)
	}
	if _, err := j.Forge.Delete(ctx, j.repo, j.number, forge.CommentRef{
		Kind: forge.OnThread,
		ID:   held.summary,
	}); err != nil {
		return err
	}
	j.d.URL = ""
	return j.updatePosts(ctx, func(p *store.Post) bool {
		made := p.Kind == store.PostSummary && p.Remote == held.summary
		if made {
			p.Remote = ""
		}
		return made
	})
}

// unmark removes our claim from a summary. Its text stays.
func (j *job) unmark(ctx context.Context, id precedent.ForgeID) error {
	o, shown := j.summaryOf(id)
	if !shown || o.Run != j.run {
		return nil
	}
	body, ok := j.writer.WithRun(string(o.Body), "")
	if !ok {
		return nil
	}
	return j.Forge.Edit(ctx, j.repo, j.number, forge.CommentRef{Kind: forge.OnThread, ID: id}, body)
}

// hold reads the forge, makes sure that the claim is still ours, and renews it in time.
func (j *job) hold(ctx context.Context) error {
	if err := j.readForge(ctx); err != nil {
		return err
	}
	o, shown := j.summaryOf(j.claim.summary)
	_, busy := j.rival()
	switch {
	case j.claim.summary == "":
		return nil
	case shown && o.Run != j.run, !shown && busy:
		j.claim = claim{waited: true}
		return errOutrun
	case !shown || !j.claimIsOld():
		return nil
	}
	if _, _, err := j.Rows.TakeTurn(ctx, j.number, j.run, j.Replica, claimFor); err != nil {
		return err
	}
	j.claim.made = j.Now()
	return j.Forge.Edit(ctx, j.repo, j.number, forge.CommentRef{Kind: forge.OnThread, ID: o.ID}, string(o.Body))
}

// claimIsOld tells whether the claim has to be renewed.
func (j *job) claimIsOld() bool {
	return j.claim.summary != "" && j.Now().Sub(j.claim.made) > claimFor*3/4
}

// release ends claim and turn, also of a delivery that was canceled. If it cannot, they expire.
func (j *job) release(ctx context.Context, ended bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseFor)
	defer cancel()
	if j.claim.summary != "" && j.readForge(ctx) == nil {
		j.claim.created = j.claim.created && ended
		_ = j.abandon(ctx) // it expires
	}
	if j.turn {
		_ = j.Rows.EndTurn(ctx, j.number, j.run) // it expires
	}
}

// releaseFor bounds the requests that end a claim, in real time.
const releaseFor = 10 * time.Second

// postedElsewhere tells whether another run has posted all that this one has to say about the head.
func (j *job) postedElsewhere() bool {
	s, ok := j.state.find(isSummary)
	return ok && s.Head == j.review.Head && s.Marker.Review != j.review.ID && len(j.unsent(store.PostRemark)) == 0
}

// leaveToOther drops what another run has posted about the same head. The check is sent: the
// same one twice is one.
func (j *job) leaveToOther(ctx context.Context) error {
	j.d.OtherRun = true
	j.addSpending(ctx)
	return j.end(ctx, store.PostSuperseded, "another run has posted it",
		func(p store.Post) bool { return p.Kind != store.PostCheck })
}

// dropAnswered drops replies that another run has given: one with another memory, or one for
// which this one waited.
func (j *job) dropAnswered(ctx context.Context) error {
	stored := map[string]bool{} // reviews of this memory
	for _, p := range j.posts {
		stored[p.Review] = !j.claim.waited || p.Review == j.review.ID
	}
	return j.end(ctx, store.PostSuperseded, "another run has answered", func(p store.Post) bool {
		root := payload[answer](p).Comment
		_, found := j.state.find(func(o ownComment) bool {
			return o.Marker.Kind == comment.Reply && o.Thread == p.Thread && o.Head == j.review.Head &&
				!stored[o.Marker.Review] || j.claim.waited && o.ID == root && o.Comment.Kind == forge.OnLine &&
				j.writer.HasUpdate(string(o.Body), j.review.Head)
		})
		return found && p.Kind == store.PostReply
	})
}
