package post

import (
	"context"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
)

// postRemarks posts the remarks that open threads, as many per review as the forge takes.
func (j *job) postRemarks(ctx context.Context) error {
	for {
		batch := j.unsent(store.PostRemark)
		if len(batch) == 0 {
			return j.waitForPosts(ctx, j.hasUnnumbered)
		}
		if j.options().Unrelated {
			j.d.Rejected += len(batch)
			return j.setState(ctx, store.PostRejected, "the branches have no common commit", batch...)
		}
		if err := j.hold(ctx); err != nil {
			return err
		}
		if err := j.checkHead(ctx, j.review.Head); err != nil {
			return err
		}
		batch = batch[:min(len(batch), forge.MaxRemarks)]
		if err := j.postBatch(ctx, batch); err != nil {
			return err
		}
	}
}

// postBatch posts some remarks as one review of the forge. The thread in the marker of its
// body is that of the first remark, which is the same each time the review is posted.
func (j *job) postBatch(ctx context.Context, batch []*store.Post) error {
	m := j.marker(comment.Review, batch[0].ID)
	draft := forge.Draft{Commit: j.review.Head, Event: j.event(), Body: j.writer.Review(len(batch), j.review, m)}
	for _, p := range batch {
		f, ok := findingOf(j.review, *p)
		if !ok {
			return j.setState(ctx, store.PostRejected, "its finding is not in the review", p)
		}
		body := j.writer.Finding(f, j.marker(comment.Finding, p.Thread), f.Suggestion != "")
		draft.Remarks = append(draft.Remarks, forge.Remark{Span: place(f), Body: body})
		p.Hash = hash(body)
	}
	if err := j.markSending(ctx, batch...); err != nil {
		return err
	}
	posted, err := j.Forge.Post(ctx, j.repo, j.number, draft)
	if err != nil {
		return j.handleError(ctx, err, batch...)
	}
	for _, u := range posted.Unsupported {
		j.note("the forge did not accept all of the review: %s", u)
	}
	why := map[int]string{}
	for _, r := range posted.Rejected {
		why[r.Remark] = r.Why
	}
	for i, p := range batch {
		reason, rejected := why[i]
		switch {
		case rejected:
			p.State, p.Why = store.PostRejected, reason
			j.d.Rejected++
		default:
			p.State, p.Why = store.PostConfirmed, ""
			if i < len(posted.Remarks) {
				p.Remote = posted.Remarks[i]
			}
			j.d.Remarks++
		}
	}
	return j.save(ctx, batch...)
}

// event returns what the review requests.
func (j *job) event() forge.ReviewEvent {
	if j.options().RequestChanges {
		return forge.RequestChanges
	}
	return forge.Remarks
}

// options returns the options with which the review was planned.
func (j *job) options() Options {
	for _, p := range j.posts {
		if p.Kind == store.PostSummary && p.Review == j.review.ID {
			return OptionsOf(p)
		}
	}
	return Options{}
}

// findingOf returns the finding of a remark.
func findingOf(r *precedent.Review, p store.Post) (precedent.Finding, bool) {
	content := payload[remark](p)
	if content.Finding < 0 || content.Finding >= len(r.Findings) ||
		r.Findings[content.Finding].Fingerprint != content.Fingerprint || content.Fingerprint == "" {
		return precedent.Finding{}, false
	}
	return r.Findings[content.Finding], true
}

// place returns where the remark of a finding is posted.
func place(f precedent.Finding) precedent.Span {
	if f.Placement == precedent.WholeFile {
		return precedent.Span{Path: f.Path, Side: f.Side}
	}
	return f.Span
}

func (j *job) marker(kind comment.Kind, thread string) comment.Marker {
	return comment.Marker{Kind: kind, Thread: thread, Review: j.review.ID, Head: j.review.Head}
}
