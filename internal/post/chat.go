package post

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
)

// ToComment is an answer to a comment of a person.
type ToComment struct {
	// Key identifies the comment and what it asked: at most one answer is posted for each.
	Key string `json:"key"`
	// Root is the inline comment that opened the conversation; empty for an answer on the pull
	// request as a whole.
	Root  precedent.ForgeID `json:"root,omitempty"`
	URL   string            `json:"url,omitempty"` // of the comment
	Parts []string          `json:"parts"`         // paragraphs; they need not be safe
	// Learnings are the ids of those that the answer is about: approving it approves them.
	Learnings []string `json:"learnings,omitempty"`
	// Note is what a note says, in place of Parts; nil for an answer.
	Note *ToNote `json:"note,omitempty"`
}

// ToNote is a note on the pull request as a whole, or the reply of a fix in a conversation
// (ToComment.Root). It is posted like an answer: at most one for each ToComment.Key.
type ToNote struct {
	comment.Note
	Kind   comment.Kind `json:"kind"`             // of notes, or comment.Reply
	Review string       `json:"review,omitempty"` // the id for its marker: of the round or the review
	Thread string       `json:"thread,omitempty"` // that a reply is in
}

// kind is the kind of the comment.
func (a ToComment) kind() comment.Kind {
	if a.Note != nil && (a.Note.Kind.IsNote() || a.Note.Kind == comment.Reply) {
		return a.Note.Kind
	}
	return comment.Answer
}

// reviewOf is the id in the marker of a post's comment: of a note, that is not in the post itself.
func reviewOf(p store.Post) string {
	if p.Kind != store.PostAnswer {
		return p.Review
	}
	if n := payload[ToComment](p).Note; n != nil {
		return n.Review
	}
	return ""
}

// PlanAnswer returns the post of an answer. Save it together with what was done.
func (p *Poster) PlanAnswer(pull int, head string, a ToComment) (store.Post, error) {
	data, err := json.Marshal(a)
	id := p.NewID()
	thread := id
	if a.Note != nil && a.Note.Thread != "" {
		thread = a.Note.Thread
	}
	return store.Post{
		ID: id, Pull: pull, Head: head, Kind: store.PostAnswer, Thread: thread, Payload: data,
		State: store.PostPlanned, At: p.Now(),
	}, err
}

// ReadAnswer returns the answer of a post.
func ReadAnswer(p store.Post) ToComment { return payload[ToComment](p) }

// DeliverAnswers sends the answers to comments that are planned and not sent. Like Deliver it
// can be repeated at any time. A push does not supersede them.
func (p *Poster) DeliverAnswers(ctx context.Context, repo precedent.Repo, number int) (Delivery, error) {
	j, err := p.newJob(repo, number)
	if err != nil {
		return Delivery{}, err
	}
	err = j.deliverAnswers(ctx)
	j.release(ctx, true)
	if errors.Is(err, errSuperseded) {
		err = nil
	}
	return j.ended(err)
}

func (j *job) deliverAnswers(ctx context.Context) error {
	if err := j.load(ctx, j.Rows.AnswerPosts); err != nil || !j.pending() {
		return err
	}
	if err := j.takeTurn(ctx); err != nil {
		return err
	}
	if err := j.load(ctx, j.Rows.AnswerPosts); err != nil { // another run may have sent them
		return err
	}
	if err := j.awaitLost(ctx); err != nil {
		return err
	}
	if err := j.look(ctx); err != nil {
		return j.endIfClosed(ctx, err)
	}
	if err := inOrder(ctx, j.resolveUnknown, j.sendAnswers); err != nil {
		return err
	}
	// A run with another memory may have answered at the same time.
	if err := j.Sleep(ctx, j.lag()); err != nil {
		return err
	}
	return inOrder(ctx, j.readForge, j.sweep)
}

// sendAnswers posts notes, answers in the conversations of comments where the forge has replies, and
// collects the others: a forge notifies everybody of each comment on the pull request.
func (j *job) sendAnswers(ctx context.Context) error {
	var rest []*store.Post
	for _, p := range j.unsent(store.PostAnswer) {
		a := payload[ToComment](*p)
		err := errElsewhere
		switch {
		case a.Note != nil:
			err = j.sendUntilDone(ctx, p, j.sendNote)
		case a.Root != "":
			err = j.sendUntilDone(ctx, p, j.answerInThread)
		}
		if errors.Is(err, errElsewhere) {
			rest = append(rest, p)
		} else if err != nil {
			return err
		}
	}
	for len(rest) > 0 {
		n := collectable(rest)
		if err := j.sendUntilDone(ctx, rest[0], func(ctx context.Context, _ *store.Post) error {
			return j.sendCollected(ctx, rest[:n])
		}); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// maxCollected limits the text of answers that one comment collects, in bytes: Markdown makes it longer.
const maxCollected = 20_000

// collectable returns how many of the answers one comment takes, at least one.
func collectable(all []*store.Post) int {
	keys, words := 0, 0
	for n, p := range all {
		a := payload[ToComment](*p)
		keys += len(a.Key) + 1
		for _, part := range a.Parts {
			words += len(part)
		}
		if n > 0 && (keys > comment.MaxAnswers || words > maxCollected) {
			return n
		}
	}
	return len(all)
}

// sendCollected posts answers as one comment on the pull request.
func (j *job) sendCollected(ctx context.Context, posts []*store.Post) error {
	var all []comment.Answered
	var keys []string
	for _, p := range posts {
		a := payload[ToComment](*p)
		if len(posts) > 1 { // which would be meant?
			for i := range a.Parts {
				a.Parts[i] = strings.Replace(a.Parts[i], ByVote, "", 1)
			}
		}
		all, keys = append(all, comment.Answered{Parts: a.Parts, To: a.URL}), append(keys, a.Key)
	}
	m := comment.Marker{
		Kind: comment.Answer, Thread: posts[0].Thread, Head: posts[0].Head, Answers: comment.Collect(keys),
	}
	return j.sendAnswerBody(ctx, "", j.writer.Answer(m, all...), posts...)
}

// ByVote ends a sentence of an answer about one learning that a 👍 approves.
const ByVote = " or a 👍 on this comment"

// errElsewhere means that an answer cannot be in the conversation: the forge has no replies, or the
// conversation is gone.
var errElsewhere = errors.New("the answer cannot be in the conversation")

// answerInThread posts an answer in the conversation of the comment.
func (j *job) answerInThread(ctx context.Context, p *store.Post) error {
	a := payload[ToComment](*p)
	m := comment.Marker{Kind: comment.Answer, Thread: p.Thread, Head: p.Head, Answers: a.Key}
	err := j.sendAnswerBody(ctx, a.Root, j.writer.Answer(m, comment.Answered{Parts: a.Parts}), p)
	if err == nil || !isGone(err) && forge.KindOf(err) != forge.KindUnsupported {
		return err
	}
	return errElsewhere
}

// sendNote posts a note on the pull request, or the reply of a fix.
func (j *job) sendNote(ctx context.Context, p *store.Post) error {
	a := payload[ToComment](*p)
	m := comment.Marker{Kind: a.kind(), Thread: p.Thread, Head: p.Head, Review: a.Note.Review, Answers: a.Key}
	if a.Root != "" {
		return j.sendReply(ctx, p, a, m)
	}
	return j.sendAnswerBody(ctx, "", j.writer.Note(a.Note.Note, m), p)
}

// sendAnswerBody sends the text of answers, in the conversation of a comment or, if root is empty, on the pull
// request as a whole. Its error is that of a forge that has no replies, or whose conversation is gone, or one that
// ends the delivery.
func (j *job) sendAnswerBody(ctx context.Context, root precedent.ForgeID, body string, posts ...*store.Post) error {
	for _, p := range posts {
		p.Hash = hash(body)
	}
	if err := j.markSending(ctx, posts...); err != nil {
		return err
	}
	var c forge.Comment
	var err error
	if root != "" {
		c, err = j.Forge.Reply(ctx, j.repo, j.number, root, body)
	} else {
		c, err = j.Forge.Comment(ctx, j.repo, j.number, body)
	}
	switch {
	case forge.KindOf(err) == forge.KindUnsupported, isGone(err):
		return err
	case err != nil:
		return j.handleError(ctx, err, posts...)
	}
	for _, p := range posts {
		p.Remote, p.Thread = c.ID, posts[0].Thread
	}
	j.d.Replies += len(posts)
	return j.setState(ctx, store.PostConfirmed, "", posts...)
}

// sendReply posts the reply of a fix in a conversation. Where a forge has no replies, it becomes a
// dated line of the comment that opened the conversation, which is the same if it is written
// twice. If a person opened it, it becomes a comment on the pull request that links to it.
func (j *job) sendReply(ctx context.Context, p *store.Post, a ToComment, m comment.Marker) error {
	err := j.sendAnswerBody(ctx, a.Root, j.writer.Note(a.Note.Note, m), p)
	switch {
	case isGone(err):
		return j.setState(ctx, store.PostSuperseded, "the conversation is gone", p)
	case forge.KindOf(err) != forge.KindUnsupported:
		return err
	case !j.state.mine[a.Root]:
		n := a.Note.Note
		n.Lead = j.writer.InReplyTo(a.URL) + "\n\n" + n.Lead
		return j.sendAnswerBody(ctx, "", j.writer.Note(n, m), p)
	}
	return j.updateRoot(ctx, p, a.Root, a.Note.Lead+" "+a.Note.After, p.Head, p.At)
}
