package pull

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/post"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// DeliverNotes sends the notes that are planned.
func (p *Publisher) DeliverNotes(ctx context.Context) error {
	d, err := p.Poster.DeliverAnswers(ctx, p.Pull.Repo.Repo, p.Pull.Number)
	if err != nil {
		return p.Pull.Conn.Explain(err)
	}
	for _, note := range d.Notes {
		p.Pull.Env.Notice(ctx, "%s", note)
	}
	if d.Left > 0 && d.Undeliverable == "" {
		return workspace.Hinted(fmt.Errorf("comment on #%d: %s left", p.Pull.Number, countPosts(d.Left)),
			"run it again: it posts what is left, and nothing twice")
	}
	return nil
}

// PlanNotes saves notes before they are sent, and under a name that they are planned. headOf is the
// head that a note is about.
func (p *Publisher) PlanNotes(ctx context.Context, name string, headOf func(post.ToComment) string,
	all ...post.ToComment,
) error {
	var posts []store.Post
	for _, n := range all {
		planned, err := p.Poster.PlanAnswer(p.Pull.Number, headOf(n), n)
		if err != nil {
			return err
		}
		posts = append(posts, planned)
	}
	h := store.HandledComment{Comment: name, Document: json.RawMessage("{}"), At: p.Pull.Env.Now()}
	return p.Rows.SaveHandled(ctx, p.Pull.Number, h, posts...)
}

// Redacted is a note without credentials, as it is stored.
func Redacted(n comment.Note) comment.Note {
	n.After, n.Text, n.Patch, n.Log = secret.RedactText(n.After), secret.RedactText(n.Text), secret.RedactText(n.Patch), secret.RedactText(n.Log)
	if len(n.Suggestion) > 0 { // a redacted one is not a suggestion
		n.Suggestion = strings.Split(secret.RedactText(strings.Join(n.Suggestion, "\n")), "\n")
	}
	items := make([]comment.NoteItem, len(n.Items))
	for i, item := range n.Items {
		item.Name, item.Words, item.URL = secret.RedactText(item.Name), secret.RedactText(item.Words), secret.RedactText(item.URL)
		items[i] = item
	}
	n.Items = items
	return n
}

// OwnComment is a comment of ours on a pull request.
type OwnComment struct {
	comment.Marker
	At   time.Time // by the forge's clock
	Body precedent.Untrusted
	Ref  forge.CommentRef
}

// OwnComments returns our comments among those of the pull request, oldest first. A marker counts only
// in a comment of our account and, with a key, if it is signed.
func (p *Publisher) OwnComments(comments []forge.Comment) []OwnComment {
	var own []OwnComment
	for _, c := range comments {
		if p.Poster.Me.ID == "" || c.Author.ID != p.Poster.Me.ID || c.Cut {
			continue
		}
		if m, ok := p.Pull.Writer.Read(string(c.Body)); ok {
			own = append(own, OwnComment{m, c.At, c.Body, forge.CommentRef{Kind: c.Kind, ID: c.ID}})
		}
	}
	slices.SortStableFunc(own, func(a, b OwnComment) int { return a.At.Compare(b.At) })
	return own
}

// ReviewEvent is what a posted review means for the label. Everything that has a conversation is
// open, however mild it is.
func ReviewEvent(r *precedent.Review, failOn precedent.Severity, tries int) label.Event {
	open := slices.ContainsFunc(r.Live(), func(f precedent.Finding) bool {
		return f.Placement == precedent.Inline || f.Placement == precedent.WholeFile || f.Placement == precedent.Summary
	})
	switch status := r.ExitStatus(failOn); {
	case status == precedent.ExitIncomplete:
		return label.Event{Kind: label.Incomplete, Times: tries}
	case status == precedent.ExitFindings || open || len(r.OpenThreads()) > 0:
		return label.Event{Kind: label.Findings}
	}
	return label.Event{Kind: label.Clean}
}
