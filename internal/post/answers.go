package post

import (
	"context"
	"errors"

	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
)

// answers says and does what is to be said and done in threads that are there.
// What does not work is left, and the rest goes on.
func (j *job) answers(ctx context.Context) error {
	for _, kind := range []store.PostKind{store.PostReply, store.PostClose, store.PostReopen} {
		for _, p := range j.left(kind) {
			if kind == store.PostClose && j.unsaid(p.Thread) {
				continue
			}
			if err := j.spare(ctx, p, j.answer); err != nil {
				return err
			}
		}
	}
	return nil
}

// spare sends a post until that has come to an end. An error that is about this
// one alone is noted.
func (j *job) spare(ctx context.Context, p *store.Post, send func(context.Context, *store.Post) error) error {
	for !p.State.Done() {
		err := send(ctx, p)
		trouble, ok := errors.AsType[*forge.Error](err)
		switch {
		case err == nil:
		case !ok || ctx.Err() != nil || trouble.Kind == forge.KindRate:
			return err
		default:
			j.note("the %s was not done, and is tried again with the next delivery: %s", what(*p), trouble.Msg)
			return nil
		}
	}
	if p.State == store.PostRejected {
		j.note("the %s was not done: %s", what(*p), p.Why)
	}
	return nil
}

// what is a post in words.
func what(p store.Post) string {
	if p.Thread == "" {
		return string(p.Kind)
	}
	return string(p.Kind) + " in thread " + p.Thread
}

func (j *job) answer(ctx context.Context, p *store.Post) error {
	said := payload[answer](*p)
	conversation, ok := j.forgeState.conversation(said.Comment)
	switch {
	case !ok || !j.forgeState.mine[said.Comment]:
		return j.finish(ctx, store.PostSuperseded, "the conversation is gone", p)
	case p.Kind == store.PostReply:
		return j.reply(ctx, p, said)
	}
	closed := p.Kind == store.PostClose
	switch {
	case conversation.Closed == closed:
		return j.finish(ctx, store.PostConfirmed, "", p)
	case !closed && conversation.ClosedBy.ID != "" && conversation.ClosedBy.ID != j.Me.ID:
		return j.finish(ctx, store.PostSuperseded, conversation.ClosedBy.Login+" closed it", p)
	}
	return j.resolve(ctx, p, conversation, closed)
}

// reply says something in a thread.
func (j *job) reply(ctx context.Context, p *store.Post, said answer) error {
	body := j.writer.Reply(said.Words, j.mark(comment.Reply, p.Thread))
	p.Hash = hash(body)
	if err := j.begin(ctx, p); err != nil {
		return err
	}
	c, err := j.Forge.Reply(ctx, j.repo, j.number, said.Comment, body)
	if deleted(err) {
		return j.finish(ctx, store.PostSuperseded, "the conversation is gone", p)
	}
	if err != nil {
		return j.handleError(ctx, err, p)
	}
	p.Remote = c.ID
	j.d.Posted++
	return j.finish(ctx, store.PostConfirmed, "", p)
}

// unsaid tells whether a reply in the thread is still to be posted: nothing is
// closed without a word that was meant to be said first.
func (j *job) unsaid(thread string) bool {
	for _, p := range j.left(store.PostReply) {
		if p.Thread == thread {
			return true
		}
	}
	return false
}

func (j *job) resolve(ctx context.Context, p *store.Post, conversation forge.Thread, closed bool) error {
	if err := j.begin(ctx, p); err != nil {
		return err
	}
	unsupported, err := j.Forge.Resolve(ctx, j.repo, j.number, conversation, closed)
	switch {
	case deleted(err):
		return j.finish(ctx, store.PostSuperseded, "the conversation is gone", p)
	case err != nil:
		return j.handleError(ctx, err, p)
	case unsupported != "":
		return j.finish(ctx, store.PostRejected, string(unsupported), p)
	}
	j.d.Posted++
	return j.finish(ctx, store.PostConfirmed, "", p)
}
