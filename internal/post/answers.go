package post

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
)

// postAnswers posts the replies, and closes and reopens threads. If one of them fails, the
// others are still done.
func (j *job) postAnswers(ctx context.Context) error {
	held := false
	for _, kind := range []store.PostKind{store.PostReply, store.PostClose, store.PostReopen} {
		for _, p := range j.unsent(kind) {
			if !held || j.claimIsOld() {
				if err := j.hold(ctx); err != nil {
					return err
				}
				held = true
			}
			if kind == store.PostClose && j.replyPending(p.Thread) {
				continue
			}
			if err := j.sendUntilDone(ctx, p, j.postAnswer); err != nil {
				return err
			}
		}
	}
	return nil
}

// sendUntilDone sends a post until it is done. An error that concerns only this post becomes a
// note. A rate limit and a fence concern all.
func (j *job) sendUntilDone(ctx context.Context, p *store.Post, send func(context.Context, *store.Post) error) error {
	for !p.State.Done() {
		err := send(ctx, p)
		forgeErr, ok := errors.AsType[*forge.Error](err)
		switch {
		case err == nil:
		case !ok || ctx.Err() != nil || concernsAll(forgeErr):
			return err
		default:
			j.note("the %s failed; the next delivery tries again: %s", describe(*p), forgeErr.Msg)
			return nil
		}
	}
	if p.State == store.PostRejected && !j.told[p.Why] { // once, not for each of 60 threads
		j.told[p.Why] = true
		j.note("the %s failed: %s", describe(*p), p.Why)
	}
	return nil
}

// describe names a post in a note.
func describe(p store.Post) string {
	if p.Thread == "" {
		return string(p.Kind)
	}
	return string(p.Kind) + " in thread " + p.Thread
}

func (j *job) postAnswer(ctx context.Context, p *store.Post) error {
	a := payload[answer](*p)
	conversation, ok := j.state.conversation(a.Comment)
	switch {
	case !ok || !j.state.mine[a.Comment]:
		return j.setState(ctx, store.PostSuperseded, "the conversation is gone", p)
	case p.Kind == store.PostReply:
		return j.reply(ctx, p, a)
	}
	closed := p.Kind == store.PostClose
	switch {
	case conversation.Closed == closed:
		return j.setState(ctx, store.PostConfirmed, "", p)
	case !closed && conversation.ClosedBy.ID != "" && conversation.ClosedBy.ID != j.Me.ID:
		return j.setState(ctx, store.PostSuperseded, conversation.ClosedBy.Login+" closed it", p)
	}
	return j.resolve(ctx, p, conversation, closed)
}

// reply posts a reply in a thread.
func (j *job) reply(ctx context.Context, p *store.Post, a answer) error {
	err := j.sendAnswerBody(ctx, a.Comment, j.writer.Reply(a.Words, j.marker(comment.Reply, p.Thread)), p)
	switch {
	case forge.KindOf(err) == forge.KindUnsupported:
		// This notifies nobody. If people changed the comment so that it is no longer recognized, it is theirs, and
		// only the summary has the answer.
		return j.updateRoot(ctx, p, a.Comment, a.Words, j.review.Head, j.review.At)
	case isGone(err):
		return j.setState(ctx, store.PostSuperseded, "the conversation is gone", p)
	}
	return err
}

// updateRoot adds a dated line about a commit to the comment that opened a thread.
func (j *job) updateRoot(ctx context.Context, p *store.Post, opener precedent.ForgeID, words, head string,
	at time.Time,
) error {
	root, ok := j.state.comment(forge.OnLine, opener)
	body, fits := j.writer.Update(string(root.Body), words, head, at)
	switch {
	case !ok || !fits:
		return j.setState(ctx, store.PostRejected, "the comment was edited or is full; the answer is in the summary", p)
	case forge.SameText(string(root.Body), body):
		return j.setState(ctx, store.PostConfirmed, "", p)
	}
	p.Hash = hash(body)
	err := j.Forge.Edit(ctx, j.repo, j.number, forge.CommentRef{Kind: forge.OnLine, ID: opener}, body)
	if isGone(err) {
		return j.setState(ctx, store.PostSuperseded, "the conversation is gone", p)
	}
	if err != nil {
		return j.handleError(ctx, err, p)
	}
	j.d.Edits++
	return j.setState(ctx, store.PostConfirmed, "", p)
}

// replyPending tells whether a reply in the thread is still to be posted: a thread is not closed before that.
func (j *job) replyPending(thread string) bool {
	return slices.ContainsFunc(j.unsent(store.PostReply), func(p *store.Post) bool { return p.Thread == thread })
}

func (j *job) resolve(ctx context.Context, p *store.Post, conversation forge.Thread, closed bool) error {
	if err := j.markSending(ctx, p); err != nil {
		return err
	}
	unsupported, err := j.Forge.Resolve(ctx, j.repo, j.number, conversation, closed)
	switch {
	case isGone(err):
		return j.setState(ctx, store.PostSuperseded, "the conversation is gone", p)
	case err != nil:
		return j.handleError(ctx, err, p)
	case unsupported != "":
		return j.setState(ctx, store.PostRejected, string(unsupported), p)
	}
	j.d.Resolved++
	return j.setState(ctx, store.PostConfirmed, "", p)
}
