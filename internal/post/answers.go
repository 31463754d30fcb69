package post

import (
	"context"
	"errors"

	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
)

// postAnswers says and does what is to be said and done in threads that are there.
// What does not work is left, and the rest goes on.
func (j *job) postAnswers(ctx context.Context) error {
	for _, kind := range []store.PostKind{store.PostReply, store.PostClose, store.PostReopen} {
		for _, p := range j.unsent(kind) {
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

// sendUntilDone sends a post until that has come to an end. An error that is about this
// one alone is noted.
func (j *job) sendUntilDone(ctx context.Context, p *store.Post, send func(context.Context, *store.Post) error) error {
	for !p.State.Done() {
		err := send(ctx, p)
		forgeErr, ok := errors.AsType[*forge.Error](err)
		switch {
		case err == nil:
		case !ok || ctx.Err() != nil || forgeErr.Kind == forge.KindRate:
			return err
		default:
			j.note("the %s was not done, and is tried again with the next delivery: %s", describe(*p), forgeErr.Msg)
			return nil
		}
	}
	if p.State == store.PostRejected {
		j.note("the %s was not done: %s", describe(*p), p.Why)
	}
	return nil
}

// describe is a post in words.
func describe(p store.Post) string {
	if p.Thread == "" {
		return string(p.Kind)
	}
	return string(p.Kind) + " in thread " + p.Thread
}

func (j *job) postAnswer(ctx context.Context, p *store.Post) error {
	said := payload[answer](*p)
	conversation, ok := j.state.conversation(said.Comment)
	switch {
	case !ok || !j.state.mine[said.Comment]:
		return j.setState(ctx, store.PostSuperseded, "the conversation is gone", p)
	case p.Kind == store.PostReply:
		return j.reply(ctx, p, said)
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

// reply says something in a thread.
func (j *job) reply(ctx context.Context, p *store.Post, said answer) error {
	body := j.writer.Reply(said.Words, j.marker(comment.Reply, p.Thread))
	p.Hash = hash(body)
	if err := j.markSending(ctx, p); err != nil {
		return err
	}
	c, err := j.Forge.Reply(ctx, j.repo, j.number, said.Comment, body)
	if isGone(err) {
		return j.setState(ctx, store.PostSuperseded, "the conversation is gone", p)
	}
	if err != nil {
		return j.handleError(ctx, err, p)
	}
	p.Remote = c.ID
	j.d.Posted++
	return j.setState(ctx, store.PostConfirmed, "", p)
}

// replyPending tells whether a reply in the thread is still to be posted: nothing is
// closed without a word that was meant to be said first.
func (j *job) replyPending(thread string) bool {
	for _, p := range j.unsent(store.PostReply) {
		if p.Thread == thread {
			return true
		}
	}
	return false
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
	j.d.Posted++
	return j.setState(ctx, store.PostConfirmed, "", p)
}
