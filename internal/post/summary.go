package post

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/store"
)

// postSummary posts the summary of the newest review: one comment, which later reviews edit.
func (j *job) postSummary(ctx context.Context) error {
	for {
		left := j.unsent(store.PostSummary)
		if len(left) == 0 {
			return nil
		}
		if err := j.checkHead(ctx, j.review.Head); err != nil {
			return err
		}
		// The summary links to the comments that exist now, and may edit one.
		if err := inOrder(ctx, j.hold, j.adopt); err != nil {
			return err
		}
		if err := j.summarize(ctx, left[0]); err != nil {
			return err
		}
	}
}

// summarize edits the existing summary, or posts the first one.
func (j *job) summarize(ctx context.Context, p *store.Post) error {
	j.reuseSummary(p)
	end := OptionsOf(*p)
	if result, _ := report.Check(j.review, end.FailOn, end.PassWithoutModel); forge.CheckResult(result) == forge.Success {
		if err := j.takeRequestsBack(ctx, end.FailOn); err != nil {
			return j.handleError(ctx, err, p)
		}
	}
	page, err := j.page(p)
	if err != nil {
		return err
	}
	m := j.marker(comment.Summary, p.Thread)
	m.Spent, m.Tries = j.spentSince(p.Remote), end.Tries
	body := j.writer.Summary(page, m)
	if o, ok := j.state.comment(forge.OnThread, p.Remote); ok && forge.SameText(string(o.Body), body) {
		return j.setState(ctx, store.PostConfirmed, "", p)
	}
	p.Hash = hash(body)
	if err := j.markSending(ctx, p); err != nil {
		return err
	}
	if p.Remote != "" {
		err = j.Forge.Edit(ctx, j.repo, j.number, forge.CommentRef{Kind: forge.OnThread, ID: p.Remote}, body)
		if isGone(err) {
			j.forgetSummary(p.Remote) // a person deleted it
			if j.failed++; j.failed >= maxTries {
				return err
			}
			return j.setState(ctx, store.PostPlanned, "", p)
		}
	} else {
		var posted forge.Comment
		posted, err = j.Forge.Comment(ctx, j.repo, j.number, body)
		p.Remote, j.d.URL = posted.ID, posted.URL
	}
	if err != nil {
		return j.handleError(ctx, err, p)
	}
	j.d.Summaries++
	j.claim.summary = "" // the text that was sent names no run
	return j.setState(ctx, store.PostConfirmed, "", p)
}

// reuseSummary gives the summary the thread and the comment id of an earlier one. A comment of another
// account, which posted before this one did, is not reused: a forge may refuse the edit.
func (j *job) reuseSummary(p *store.Post) {
	for _, earlier := range slices.Backward(j.posts) {
		if earlier.Kind != store.PostSummary {
			continue
		}
		if p.Thread == "" {
			p.Thread = earlier.Thread
		}
		if p.Remote == "" && !j.state.theirs[earlier.Remote] {
			p.Remote = earlier.Remote
		}
	}
	if p.Thread == "" {
		p.Thread = j.NewID()
	}
}

// forgetSummary removes the id of a summary that a person deleted.
func (j *job) forgetSummary(id precedent.ForgeID) {
	for i := range j.posts {
		if j.posts[i].Kind == store.PostSummary && j.posts[i].Remote == id {
			j.posts[i].Remote = ""
		}
	}
}

// isGone tells whether an error means that the comment does not exist.
func isGone(err error) bool {
	forgeErr, ok := errors.AsType[*forge.Error](err)
	return ok && (forgeErr.Kind == forge.KindNotFound || forgeErr.Status == http.StatusNotFound ||
		forgeErr.Status == http.StatusGone)
}

// hash is stored instead of the text that was sent.
func hash(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

// page writes the Markdown of a summary or a check.
func (j *job) page(p *store.Post) (string, error) {
	style := j.Style
	style.Blocking = j.blocking
	planned := OptionsOf(*p)
	style.Posted, style.PassWithoutModel, style.Precedents = j.postings(), planned.PassWithoutModel, planned.Precedents
	var page strings.Builder
	if err := report.Markdown(&page, j.review, style); err != nil {
		return "", fmt.Errorf("write summary: %w", err)
	}
	return page.String(), nil
}

// postings returns where the review's findings were posted, and those of earlier reviews that
// are open, by finding id.
func (j *job) postings() map[string]report.Posting {
	comments := map[string]string{} // by thread, the address
	for _, t := range j.stored {
		if t.Comment != "" {
			comments[t.ID] = t.URL
		}
	}
	postings := map[string]report.Posting{}
	note := func(finding, thread string) {
		if url, ok := comments[thread]; ok {
			postings[finding] = report.Posting{State: report.PostedBefore, URL: url}
		}
	}
	for _, a := range j.review.Threads {
		note(a.Finding, a.Thread)
	}
	for _, f := range j.review.Live() {
		note(f.ID, f.Thread)
	}
	for _, p := range j.posts {
		f, ok := findingOf(j.review, p)
		if p.Kind != store.PostRemark || p.Review != j.review.ID || !ok {
			continue
		}
		switch p.State {
		case store.PostRejected:
			postings[f.ID] = report.Posting{State: report.Refused, Why: p.Why}
		case store.PostSuperseded:
			if o, ok := j.state.find(func(o ownComment) bool {
				return o.Fingerprint == f.Fingerprint && o.Comment.Kind == forge.OnLine
			}); ok {
				j.notePostedBefore(postings, f, o)
			}
		case store.PostConfirmed:
			o, ok := j.state.comment(forge.OnLine, p.Remote)
			if ok && o.Marker.Review != j.review.ID {
				j.notePostedBefore(postings, f, o)
				continue
			}
			postings[f.ID] = report.Posting{State: report.PostedNow, URL: o.URL}
		}
	}
	return postings
}

// notePostedBefore records that a comment of an earlier review has the finding. If that conversation is
// closed, the finding may be another defect at the same place, and the summary shows it in full.
func (j *job) notePostedBefore(postings map[string]report.Posting, f precedent.Finding, o ownComment) {
	if c, _ := j.state.conversation(o.ID); !c.Closed {
		postings[f.ID] = report.Posting{State: report.PostedBefore, URL: o.URL}
	}
}

// postChecks posts the result of the review as a check on the commit.
func (j *job) postChecks(ctx context.Context) error {
	for _, p := range j.unsent(store.PostCheck) {
		if err := j.sendUntilDone(ctx, p, j.postCheck); err != nil {
			return err
		}
	}
	return nil
}

// postCheck sends the check. The forge replaces an existing one. After an attempt without an
// answer it first gets time to show the result.
func (j *job) postCheck(ctx context.Context, p *store.Post) error {
	if p.Attempts > 0 {
		if err := j.Sleep(ctx, maxLooks*listLag); err != nil {
			return err
		}
	}
	page, err := j.page(p)
	if err != nil {
		return err
	}
	result, title, err := j.checkResult(ctx, OptionsOf(*p))
	if err != nil {
		return j.handleError(ctx, err, p)
	}
	c := forge.Check{
		Name: forge.CheckName, Commit: j.review.Head, Review: j.review.ID, Result: forge.CheckResult(result),
		Title: title, Body: j.writer.Safe(page), URL: j.d.URL,
	}
	if err := j.markSending(ctx, p); err != nil {
		return err
	}
	unsupported, err := j.Forge.Check(ctx, j.repo, c)
	switch {
	case err != nil:
		return j.handleError(ctx, err, p)
	case unsupported != "":
		return j.setState(ctx, store.PostRejected, string(unsupported), p)
	}
	j.d.Checks++
	return j.setState(ctx, store.PostConfirmed, "", p)
}

// checkResults are the results of a check, the worst last.
var checkResults = []forge.CheckResult{forge.Success, forge.Neutral, forge.Incomplete, forge.Failure}

// maxSameHead bounds the reviews of one head that are looked at.
const maxSameHead = 50

// checkResult returns the worst result of the open pull requests with the reviewed head: the commit has one check for
// all of them, and a green one of another pull request must not let this one pass.
func (j *job) checkResult(ctx context.Context, end Options) (worst, title string, err error) {
	worst, title = report.Check(j.review, end.FailOn, end.PassWithoutModel)
	var open []forge.PullRequest
	known := map[int]bool{j.number: true}
	for r, err := range j.Rows.ReviewsOfHead(ctx, j.review.Head, maxSameHead) {
		if err != nil {
			return "", "", err
		}
		number := *r.PullRequest
		if known[number] {
			continue
		}
		posts, err := j.Rows.Posts(ctx, number)
		if err != nil {
			return "", "", err
		}
		check := slices.IndexFunc(posts, func(p store.Post) bool { return p.Kind == store.PostCheck && p.Review == r.ID })
		if check < 0 { // none was planned
			continue
		}
		known[number] = true
		if open == nil {
			if open, err = j.Forge.Open(ctx, j.repo); err != nil {
				return "", "", err
			}
		}
		theirs := OptionsOf(posts[check]) // each base has its own policy
		result, of := report.Check(r, theirs.FailOn, theirs.PassWithoutModel)
		rank := func(result string) int { return slices.Index(checkResults, forge.CheckResult(result)) }
		if rank(result) > rank(worst) && slices.ContainsFunc(open, func(p forge.PullRequest) bool {
			return p.Number == number && p.Head.SHA == j.review.Head
		}) {
			worst, title = result, fmt.Sprintf("#%d has the same head: %s", number, of)
		}
	}
	return worst, title, nil
}

// takeRequestsBack dismisses our reviews that still request changes, although the check is
// green now: the forge keeps such a request until it is dismissed.
func (j *job) takeRequestsBack(ctx context.Context, failOn precedent.Severity) error {
	for i := range j.state.own {
		o := &j.state.own[i]
		if !o.Blocks || o.Marker.Kind != comment.Review {
			continue
		}
		why := fmt.Sprintf("Nothing at or above %s is left at %.12s.", failOn, j.review.Head)
		unsupported, err := j.Forge.Dismiss(ctx, j.repo, j.number, o.ID, why)
		if e, ok := errors.AsType[*forge.Error](err); ok && (e.Kind == forge.KindInvalid || e.Kind == forge.KindRefused) {
			unsupported, err = forge.Unsupported(e.Msg), nil
		}
		if err != nil {
			return err
		}
		if unsupported != "" {
			j.note("a request for changes is left: %s", unsupported)
			j.blocking = report.Blocking{Left: true, URL: o.URL}
		}
		o.Blocks = false
	}
	return nil
}

// spending returns what the marker of the summary is to say: what it says already and the cost
// of this review, which is counted once. Only a signed marker says it.
func (j *job) spending(shown comment.Marker) comment.Spending {
	s, day := shown.Spent, j.review.At.UTC().Format(time.DateOnly)
	cost := int64(math.Round(j.review.CostUSD * 1e6))
	switch {
	case j.writer.Key.IsZero():
		return comment.Spending{}
	case cost <= 0, shown.Review == j.review.ID, s.Day > day:
		return s
	case s.Day < day:
		s = comment.Spending{Day: day}
	}
	s.Microdollars += cost
	return s
}

// spentSince returns what the summary with this id is to say when this run edits it. What it
// has said since this run claimed it has the cost of this review.
func (j *job) spentSince(id precedent.ForgeID) comment.Spending {
	o, shown := j.summaryOf(id)
	switch {
	case !shown:
		return j.claim.spent
	case id == j.claim.summary:
		return o.Spent
	}
	return j.spending(o.Marker)
}

// addSpending adds the cost of a review that is not posted to the summary of another one, if
// there is one that no run has claimed. If it cannot, a note says so.
func (j *job) addSpending(ctx context.Context) {
	if j.review == nil || j.claim.spent != (comment.Spending{}) || j.spending(comment.Marker{}) == (comment.Spending{}) {
		return
	}
	err := j.readForge(ctx)
	o, ok := j.state.find(isSummary)
	if _, busy := j.rival(); err == nil && ok && !busy {
		body, _ := j.writer.WithSpending(string(o.Body), j.spending(o.Marker))
		err = j.Forge.Edit(ctx, j.repo, j.number, forge.CommentRef{Kind: forge.OnThread, ID: o.ID}, body)
	}
	if err != nil {
		j.note("other runs do not count what this review has cost: %v", err)
	}
}
