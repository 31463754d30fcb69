package post

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
)

// ownComment is a comment of ours, and what its marker says.
type ownComment struct {
	forge.Comment
	comment.Marker
}

// forgeState is what stands on a pull request.
type forgeState struct {
	own       []ownComment // the lowest number first
	threads   []forge.Thread
	mine      map[precedent.ForgeID]bool // inline comments of the own account, whatever they say
	theirs    map[precedent.ForgeID]bool // comments on the pull request as a whole by anybody else
	truncated bool                       // there is more than the forge gives
}

// trust says which markers count when none is signed: then the own account may
// be one that others post with, as that of a forge's own runners is.
type trust struct {
	all     bool
	threads map[string]bool
	numbers map[precedent.ForgeID]bool
}

func (t trust) accepts(c forge.Comment, m comment.Marker) bool {
	return t.all || t.threads[m.Thread] || t.numbers[c.ID]
}

// decideTrust finds out which markers count. All do with a key that signs them, and
// also while nothing was posted on the pull request as far as is known: a memory
// that was lost could not tell any apart.
func (j *job) decideTrust() {
	signed := !j.writer.Key.IsZero()
	j.trust = trust{all: signed || len(j.stored) == 0, threads: map[string]bool{}, numbers: map[precedent.ForgeID]bool{}}
	for _, p := range j.posts {
		j.trust.all = j.trust.all && (signed || p.Attempts == 0 && p.Remote == "")
		j.trust.threads[p.Thread], j.trust.numbers[p.Remote] = true, true
	}
	for _, t := range j.stored {
		j.trust.threads[t.ID], j.trust.numbers[t.Comment] = true, true
	}
	delete(j.trust.threads, "")
	delete(j.trust.numbers, "")
}

// readForge reads what stands on the pull request.
func (j *job) readForge(ctx context.Context) error {
	all, err := j.Forge.Comments(ctx, j.repo, j.number)
	forgeErr, known := errors.AsType[*forge.Error](err)
	cut := known && forgeErr.Kind == forge.KindTooLarge
	if err != nil && !cut {
		return err
	}
	threads, err := j.Forge.Threads(ctx, j.repo, j.number)
	if err != nil {
		return err
	}
	j.state = forgeState{threads: threads, mine: map[precedent.ForgeID]bool{}, theirs: map[precedent.ForgeID]bool{}, truncated: cut}
	for _, c := range all {
		if c.Author.ID != j.Me.ID || j.Me.ID == "" {
			j.state.theirs[c.ID] = c.Kind == forge.OnThread || j.state.theirs[c.ID]
			continue
		}
		j.state.mine[c.ID] = c.Kind == forge.OnLine || j.state.mine[c.ID]
		if m, ok := j.writer.Read(string(c.Body)); ok && !c.Cut && j.trust.accepts(c, m) {
			j.state.own = append(j.state.own, ownComment{c, m})
		}
	}
	slices.SortStableFunc(j.state.own, func(a, b ownComment) int { return cmp.Compare(a.ID, b.ID) })
	if o, ok := j.state.find(isSummary); ok {
		j.d.URL = o.URL
	}
	return nil
}

// find returns the oldest comment of ours that is what is asked for.
func (s *forgeState) find(is func(ownComment) bool) (ownComment, bool) {
	if i := slices.IndexFunc(s.own, is); i >= 0 {
		return s.own[i], true
	}
	return ownComment{}, false
}

// findOwn finds what a post would say among what stands there already.
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
			return o.Comment.Kind == forge.OnLine && o.Marker.Kind == comment.Finding && fingerprint != "" && o.Fingerprint == fingerprint
		})
	case store.PostReply:
		return j.state.find(func(o ownComment) bool {
			return o.Marker.Kind == comment.Reply && o.Thread == p.Thread && o.Marker.Review == p.Review
		})
	case store.PostSummary:
		return j.state.find(isSummary)
	}
	return ownComment{}, false
}

func isSummary(o ownComment) bool {
	return o.Comment.Kind == forge.OnThread && o.Marker.Kind == comment.Summary
}

// conversation is the forge's thread that a comment stands in.
func (s *forgeState) conversation(id precedent.ForgeID) (forge.Thread, bool) {
	i := slices.IndexFunc(s.threads, func(t forge.Thread) bool { return slices.Contains(t.Comments, id) })
	if i < 0 {
		return forge.Thread{}, false
	}
	return s.threads[i], true
}

// payload reads what a post holds. What cannot be read is the zero value, which
// names no finding's fingerprint and no comment.
func payload[T any](p store.Post) T {
	var v T
	if err := json.Unmarshal(p.Payload, &v); err != nil {
		var zero T
		return zero
	}
	return v
}

// adopt writes down what stands there already of what is to be said.
func (j *job) adopt(ctx context.Context) error {
	var changed []store.Post
	for i := range j.posts {
		p := &j.posts[i]
		numberless := p.State == store.PostConfirmed && p.Remote == ""
		if p.State.Done() && !numberless {
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
			p.State = store.PostPlanned // its text may still be an older one
		} else {
			p.State, p.Why = store.PostConfirmed, ""
			if !numberless {
				j.d.Adopted++
			}
		}
		p.Remote, p.Thread = o.ID, o.Thread
		changed = append(changed, *p)
	}
	return j.Rows.SetPosts(ctx, changed...)
}
