package post

import (
	"context"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
)

// postRemarks posts what opens threads: one review of the forge for as many as it
// takes at once.
func (j *job) postRemarks(ctx context.Context) error {
	for {
		batch := j.unsent(store.PostRemark)
		if len(batch) == 0 {
			return j.waitForPosts(ctx, j.hasUnnumbered)
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

// postBatch posts some remarks in one review. The thread of its words is that of the
// first of them, which is the same however often the review is posted.
func (j *job) postBatch(ctx context.Context, batch []*store.Post) error {
	draft := forge.Draft{Commit: j.review.Head, Event: j.event(), Body: j.writer.Review(len(batch), j.review, j.marker(comment.Review, batch[0].ID))}
	for _, p := range batch {
		f, ok := j.finding(*p)
		if !ok {
			return j.setState(ctx, store.PostRejected, "its finding is not in the review", p)
		}
		body := j.writer.Finding(f, j.findingMarker(*p, f), f.Suggestion != "")
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
		j.note("the forge did not take all of the review: %s", u)
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
			j.d.Posted++
		}
	}
	return j.save(ctx, batch...)
}

// event is what the review asks for.
func (j *job) event() forge.ReviewEvent {
	for _, p := range j.posts {
		if p.Kind == store.PostSummary && p.Review == j.review.ID && payload[checkPayload](p).RequestChanges {
			return forge.RequestChanges
		}
	}
	return forge.Remarks
}

// finding is what a remark says.
func (j *job) finding(p store.Post) (precedent.Finding, bool) {
	return findingOf(j.review, p)
}

func findingOf(r *precedent.Review, p store.Post) (precedent.Finding, bool) {
	said := payload[remark](p)
	if said.Finding < 0 || said.Finding >= len(r.Findings) || r.Findings[said.Finding].Fingerprint != said.Fingerprint || said.Fingerprint == "" {
		return precedent.Finding{}, false
	}
	return r.Findings[said.Finding], true
}

// place is where a finding's remark stands.
func place(f precedent.Finding) precedent.Span {
	if f.Placement == precedent.WholeFile {
		return precedent.Span{Path: f.Path, Side: f.Side}
	}
	return f.Span
}

func (j *job) marker(kind comment.Kind, thread string) comment.Marker {
	return comment.Marker{Kind: kind, Thread: thread, Review: j.review.ID, Head: j.review.Head}
}

func (j *job) findingMarker(p store.Post, f precedent.Finding) comment.Marker {
	m := j.marker(comment.Finding, p.Thread)
	m.Fingerprint, m.Finding, m.Title = f.Fingerprint, f.ID, f.Title
	m.Category, m.Severity, m.Confidence = f.Category, f.Severity, f.Confidence
	return m
}
