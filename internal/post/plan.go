package post

import (
	"encoding/json"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/thread"
)

// Payloads of posts. The text is made from the stored review when it is sent.

// remark is the payload of a post that opens a thread.
type remark struct {
	Finding     int    `json:"finding"` // index in the review
	Fingerprint string `json:"fingerprint"`
}

// answer is the payload of a post in an existing thread.
type answer struct {
	Comment precedent.ForgeID `json:"comment"` // the one that opened the thread
	Words   string            `json:"words,omitempty"`
}

// Plan returns the posts of the review on its pull request, which has the given threads: a
// remark for each live finding on lines or on a file that has no thread yet, one per place;
// replies in threads; threads of ours to close or to reopen; the summary and the check. It
// returns none for a review without a pull request. Save the posts with the review.
func (p *Poster) Plan(r *precedent.Review, threads []precedent.Thread, o Options) []store.Post {
	if r.PullRequest == nil {
		return nil
	}
	var posts []store.Post
	add := func(kind store.PostKind, id, thread string, payload any) {
		data, _ := json.Marshal(payload) // numbers and strings
		posts = append(posts, store.Post{
			ID: id, Pull: *r.PullRequest, Review: r.ID, Head: r.Head, Kind: kind, Thread: thread, Nth: len(posts),
			Payload: data, State: store.PostPlanned, At: r.At,
		})
	}
	planned := map[string]bool{}
	for i, f := range r.Findings {
		if !opensThread(f) || planned[f.Fingerprint] {
			continue
		}
		planned[f.Fingerprint] = true
		id := p.NewID()
		add(store.PostRemark, id, id, remark{Finding: i, Fingerprint: f.Fingerprint})
	}
	known := map[string]precedent.Thread{}
	for _, t := range threads {
		known[t.ID] = t
	}
	for _, a := range r.Threads {
		t, ok := known[a.Thread]
		if !ok || t.Comment == "" || t.Deleted {
			continue // it is only in the summary, which is rewritten, or deleted
		}
		if a.Reply != "" {
			add(store.PostReply, p.NewID(), t.ID, answer{Comment: t.Comment, Words: a.Reply})
		}
		switch {
		case p.closes(t, a):
			add(store.PostClose, p.NewID(), t.ID, answer{Comment: t.Comment})
		case p.reopens(t, a):
			add(store.PostReopen, p.NewID(), t.ID, answer{Comment: t.Comment})
		}
	}
	status := r.ExitStatus(o.FailOn)
	o.RequestChanges = o.RequestChanges && status == precedent.ExitFindings
	if status != precedent.ExitIncomplete {
		o.Tries = 0
	}
	add(store.PostSummary, p.NewID(), "", o)
	add(store.PostCheck, p.NewID(), "", o)
	return posts
}

// OptionsOf returns the options with which a summary was planned.
func OptionsOf(summary store.Post) Options { return payload[Options](summary) }

// opensThread tells whether a finding gets a comment that opens a thread.
func opensThread(f precedent.Finding) bool {
	return f.Live() && f.Thread == "" && f.Fingerprint != "" && (f.Placement == precedent.Inline ||
		f.Placement == precedent.WholeFile)
}

// closes tells whether to close the thread because its finding is gone.
func (p *Poster) closes(t precedent.Thread, a precedent.ThreadAnswer) bool {
	return !t.Closed && !t.State.Final() && (a.State == precedent.Addressed || a.State == precedent.NoLonger)
}

// reopens tells whether to reopen a thread that we closed because its finding is back, or may not be dismissed by
// the author any more. A thread that a person closed stays closed.
func (p *Poster) reopens(t precedent.Thread, a precedent.ThreadAnswer) bool {
	ours := t.ClosedBy == p.Me.Login || t.ClosedBy == "" && t.State == precedent.ThreadAddressed
	declined := t.State == precedent.ThreadWontFix && !thread.EndedByAuthor(t)
	return t.Closed && ours && !declined && a.State == precedent.StillThere
}
