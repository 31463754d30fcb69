package post

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/thread"
)

// ownComment is a comment of ours with its marker.
type ownComment struct {
	forge.Comment
	comment.Marker
}

// forgeState is what the pull request has on the forge.
type forgeState struct {
	own       []ownComment // that count, sorted by id
	unknown   []ownComment // of our account, with a marker that does not count
	threads   []forge.Thread
	mine      map[precedent.ForgeID]bool // inline comments of our account, with or without a marker
	theirs    map[precedent.ForgeID]bool // comments on the pull request as a whole by other accounts
	truncated bool                       // the forge did not return all comments
}

// knows tells whether a marker of our account counts. With a key, its signature says so, and without one it counts if
// the account is ours alone. A forge's own runners give one account to all workflows, and another one may repeat a
// marker that somebody gave it (decision 38). There the memory must have the comment's number, or have sent it and
// not heard the number: until then nobody else knew the ids in it.
func (j *job) knows(c forge.Comment, m comment.Marker) bool {
	if !j.writer.Key.IsZero() || !j.Me.SharedByWorkflows() || c.Kind == forge.OnLine &&
		slices.ContainsFunc(j.stored, func(t precedent.Thread) bool { return t.Comment == c.ID }) {
		return true
	}
	return slices.ContainsFunc(j.posts, func(p store.Post) bool {
		switch {
		case p.Thread != m.Thread || p.Attempts == 0:
			return false
		case m.Kind == comment.Review:
			return c.Kind == forge.OnReview && p.Review == m.Review
		}
		return becomes(p.Kind, m.Kind) && (p.Remote == c.ID || p.Remote == "" && reviewOf(p) == m.Review)
	})
}

// readForge reads the comments and threads of the pull request.
func (j *job) readForge(ctx context.Context) error {
	all, err := j.Forge.Comments(ctx, j.repo, j.number)
	truncated := forge.KindOf(err) == forge.KindTooLarge
	if err != nil && !truncated {
		return err
	}
	threads, err := j.Forge.Threads(ctx, j.repo, j.number)
	if err != nil {
		return err
	}
	j.state = forgeState{
		threads: threads, mine: map[precedent.ForgeID]bool{}, theirs: map[precedent.ForgeID]bool{}, truncated: truncated,
	}
	for _, c := range all {
		if c.Author.ID != j.Me.ID || j.Me.ID == "" {
			j.state.theirs[c.ID] = c.Kind == forge.OnThread || j.state.theirs[c.ID]
			continue
		}
		j.state.mine[c.ID] = c.Kind == forge.OnLine || j.state.mine[c.ID]
		m, ok := j.writer.Read(string(c.Body))
		switch {
		case !ok || c.Cut:
		case j.knows(c, m):
			j.state.own = append(j.state.own, ownComment{c, m})
		default:
			j.state.unknown = append(j.state.unknown, ownComment{c, m})
		}
	}
	slices.SortStableFunc(j.state.own, func(a, b ownComment) int { return a.ID.Compare(b.ID) })
	if o, ok := j.state.find(isSummary); ok {
		j.d.URL = o.URL
	}
	return nil
}

// find returns the oldest comment of ours that matches.
func (s *forgeState) find(is func(ownComment) bool) (ownComment, bool) {
	if i := slices.IndexFunc(s.own, is); i >= 0 {
		return s.own[i], true
	}
	return ownComment{}, false
}

// comment returns a comment of ours.
func (s *forgeState) comment(kind forge.CommentKind, id precedent.ForgeID) (ownComment, bool) {
	return s.find(func(o ownComment) bool { return o.ID == id && o.Comment.Kind == kind })
}

// findOwn finds the comment of a post if it exists already.
func (j *job) findOwn(p store.Post) (ownComment, bool) {
	switch p.Kind {
	case store.PostRemark:
		byThread := func(o ownComment) bool {
			return o.Comment.Kind == forge.OnLine && o.Marker.Kind == comment.Finding && o.Thread == p.Thread
		}
		if o, ok := j.state.find(byThread); ok {
			return o, true
		}
		fingerprint := payload[remark](p).Fingerprint
		return j.state.find(func(o ownComment) bool {
			return o.Comment.Kind == forge.OnLine && o.Marker.Kind == comment.Finding && fingerprint != "" &&
				o.Fingerprint == fingerprint
		})
	case store.PostReply:
		return j.state.find(func(o ownComment) bool {
			return o.Marker.Kind == comment.Reply && o.Thread == p.Thread && o.Marker.Review == p.Review
		})
	case store.PostAnswer:
		a := payload[ToComment](p)
		return j.state.find(func(o ownComment) bool {
			return o.Marker.Kind == a.kind() && a.Key != "" && (o.Answers == a.Key || a.Note == nil && slices.Contains(o.AllAnswers(), a.Key))
		})
	case store.PostSummary:
		return j.state.find(isSummary)
	}
	return ownComment{}, false
}

func isSummary(o ownComment) bool {
	return o.Comment.Kind == forge.OnThread && o.Marker.Kind == comment.Summary
}

// conversation returns the forge's thread that holds a comment.
func (s *forgeState) conversation(id precedent.ForgeID) (forge.Thread, bool) {
	i := slices.IndexFunc(s.threads, func(t forge.Thread) bool { return slices.Contains(t.Comments, id) })
	if i < 0 {
		return forge.Thread{}, false
	}
	return s.threads[i], true
}

// payload decodes the payload of a post. One that cannot be decoded gives the zero value,
// which matches no fingerprint and no comment.
func payload[T any](p store.Post) T {
	var v T
	if err := json.Unmarshal(p.Payload, &v); err != nil {
		var zero T
		return zero
	}
	return v
}

// adopt marks posts as confirmed whose comments exist already.
func (j *job) adopt(ctx context.Context) error {
	var changed []store.Post
	for i := range j.posts {
		p := &j.posts[i]
		unnumbered := p.State == store.PostConfirmed && p.Remote == ""
		if p.State.Done() && !unnumbered {
			continue
		}
		o, ok := j.findOwn(*p)
		if !ok {
			continue
		}
		if p.Kind == store.PostSummary {
			if p.State == store.PostPlanned && p.Remote == o.ID && p.Thread == o.Thread {
				continue
			}
			p.State = store.PostPlanned // its text may still be that of an older review
		} else {
			p.State, p.Why = store.PostConfirmed, ""
			if !unnumbered {
				j.d.Adopted++
			}
		}
		p.Remote, p.Thread = o.ID, o.Thread
		changed = append(changed, *p)
	}
	return j.Rows.SetPosts(ctx, changed...)
}

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
	t := precedent.ThreadOf(r, &f)
	t.ID, t.PullRequest, t.URL, t.OpenedAt = p.Thread, j.number, j.d.URL, j.Now()
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
