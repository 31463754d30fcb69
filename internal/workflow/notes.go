package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/post"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/store"
)

// say posts a note about the head, once for each key: it is planned in the memory before it is
// sent, and looked for on the forge before it is planned. review is the id in its marker.
func (x *round) say(ctx context.Context, kind comment.Kind, key, review string, n comment.Note) error {
	p := x.pub
	if x.cycles.has(kind, key) {
		return nil
	}
	handled, err := p.rows.HandledComments(ctx, p.pull.Number)
	if err != nil {
		return err
	}
	name := "note." + string(kind) + "." + key
	if _, planned := handled[name]; !planned {
		if err := p.planNotes(ctx, name, func(post.ToComment) string { return p.pull.Head.SHA }, post.ToComment{Key: key, Note: &post.ToNote{Note: redacted(n), Kind: kind, Review: review}}); err != nil {
			return err
		}
	}
	if err := p.deliverNotes(ctx); err != nil {
		return err
	}
	return x.recount(ctx)
}

// sendAwaiting sends the answers that waited for a review.
func (p *Publisher) sendAwaiting(ctx context.Context) error {
	if !p.poster.AwaitReview || ctx.Err() != nil {
		return ctx.Err()
	}
	p.poster.AwaitReview = false
	return p.deliverNotes(ctx)
}

// deliverNotes sends the notes that are planned.
func (p *Publisher) deliverNotes(ctx context.Context) error {
	d, err := p.poster.DeliverAnswers(ctx, p.pull.repo.Repo, p.pull.Number)
	if err != nil {
		return p.pull.connection.Explain(err)
	}
	for _, note := range d.Notes {
		p.pull.reviewer.notice(ctx, "%s", note)
	}
	if d.Left > 0 && d.Undeliverable == "" {
		return Hinted(fmt.Errorf("comment on #%d: %s left", p.pull.Number, countPosts(d.Left)), "run it again: it posts what is left, and nothing twice")
	}
	return nil
}

// planNotes saves notes before they are sent, and under a name that they are planned. headOf is the
// head that a note is about.
func (p *Publisher) planNotes(ctx context.Context, name string, headOf func(post.ToComment) string, all ...post.ToComment) error {
	var posts []store.Post
	for _, n := range all {
		planned, err := p.poster.PlanAnswer(p.pull.Number, headOf(n), n)
		if err != nil {
			return err
		}
		posts = append(posts, planned)
	}
	h := store.HandledComment{Comment: name, Document: json.RawMessage("{}"), At: p.pull.reviewer.Now()}
	return p.rows.SaveHandled(ctx, p.pull.Number, h, posts...)
}

// redacted is a note without credentials, as it is stored.
func redacted(n comment.Note) comment.Note {
	n.After, n.Text, n.Patch = redact(n.After), redact(n.Text), redact(n.Patch)
	if len(n.Suggestion) > 0 { // a redacted one is not a suggestion
		n.Suggestion = strings.Split(redact(strings.Join(n.Suggestion, "\n")), "\n")
	}
	n.Log, _ = secret.Redact("", n.Log)
	items := make([]comment.NoteItem, len(n.Items))
	for i, item := range n.Items {
		item.Name, _ = secret.Redact("", item.Name)
		item.Words, _ = secret.Redact("", item.Words)
		item.URL, _ = secret.Redact("", item.URL)
		items[i] = item
	}
	n.Items = items
	return n
}

// recount reads our comments again.
func (x *round) recount(ctx context.Context) error {
	p := x.pub.pull
	all, err := p.connection.Comments(ctx, p.repo.Repo, p.Number)
	if err != nil && !isTooLarge(err) {
		return p.connection.Explain(err)
	}
	x.cycles = countCycles(x.pub.said(all), p.Head.SHA)
	x.cycles.most = x.policy.Fix.MaxCycles
	return nil
}
