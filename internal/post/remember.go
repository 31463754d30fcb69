package post

import (
	"context"
	"errors"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/thread"
)

// remember saves the threads that the remarks opened. A finding that is only in the summary is
// a thread, too: without a comment.
func (j *job) remember(ctx context.Context) error {
	known := map[string]bool{}
	for _, t := range j.stored {
		known[t.Fingerprint] = true
	}
	var opened []precedent.Thread
	add := func(t precedent.Thread) {
		if !known[t.Fingerprint] {
			known[t.Fingerprint] = true
			opened = append(opened, t)
		}
	}
	reviews := map[string]*precedent.Review{}
	for _, p := range j.posts {
		if p.Kind != store.PostRemark || !j.shown(p) || known[payload[remark](p).Fingerprint] {
			continue
		}
		r, ok := reviews[p.Review]
		if !ok {
			var err error
			if r, err = j.Rows.Review(ctx, p.Review); err != nil && !errors.Is(err, store.ErrNoReview) {
				return err
			}
			reviews[p.Review] = r
		}
		if r == nil {
			continue
		}
		if f, ok := findingOf(r, p); ok {
			add(j.thread(r, f, p))
		}
	}
	if r := j.review; r != nil && j.summarized(r.ID) {
		for _, f := range r.Findings {
			if f.Live() && f.Thread == "" && f.Fingerprint != "" && f.Placement == precedent.Summary {
				add(j.thread(r, f, store.Post{Thread: j.NewID()}))
			}
		}
	}
	j.stored = append(j.stored, opened...)
	return j.Rows.SaveThreads(ctx, opened)
}

// shown tells whether people can see a remark: as a comment with a known id, or in a summary.
func (j *job) shown(p store.Post) bool {
	return p.State == store.PostConfirmed && p.Remote != "" || p.State == store.PostRejected && j.summarized(p.Review)
}

// summarized tells whether the summary of a review was posted.
func (j *job) summarized(review string) bool {
	return slices.ContainsFunc(j.posts, func(p store.Post) bool {
		return p.Kind == store.PostSummary && p.Review == review && p.State == store.PostConfirmed
	})
}

// thread returns the thread that a post opened. Without a comment id it is a thread in the summary.
func (j *job) thread(r *precedent.Review, f precedent.Finding, p store.Post) precedent.Thread {
	t := precedent.Thread{
		ID: p.Thread, PullRequest: j.number, Review: r.ID, Finding: f.ID, Fingerprint: f.Fingerprint, Place: f.Place,
		Finder: f.Finder, Category: f.Category, Severity: f.Severity, Confidence: f.Confidence, Refit: f.Refit,
		Title: f.Title, Body: f.Body, Suggestion: f.Suggestion, Quote: f.Quote, Span: f.Span, Commit: r.Head, URL: j.d.URL,
		State: precedent.ThreadOpen, OpenedAt: j.Now(),
	}
	if p.State == store.PostRejected || p.Remote == "" {
		return t
	}
	t.Comment, t.URL = p.Remote, ""
	if o, ok := j.state.comment(forge.OnLine, p.Remote); ok {
		t.URL, t.OpenedAt, t.Review = o.URL, o.At, o.Marker.Review
		if o.Span.Path != "" {
			t.Span, t.Commit = thread.PlaceOf(o.Comment, o.Marker)
		}
	}
	if c, ok := j.state.conversation(p.Remote); ok {
		t.Forge, t.Closed, t.ClosedBy = c.ID, c.Closed, c.ClosedBy.Login
	}
	return t
}
