package post

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
)

// sweepReviewsFor is how long duplicate reviews are hidden: a forge does not tell whether they
// are hidden already, so this must end at some time.
const sweepReviewsFor = 24 * time.Hour

// sweep deletes duplicates and keeps the older comment: remarks of one thread or one place, summaries, and
// bodies of one review. It touches no comment that people wrote or answered, and none without a valid marker.
func (j *job) sweep(ctx context.Context) error {
	kept := map[string]ownComment{}
	var left []ownComment
	for _, o := range j.state.own {
		first, twice := isDuplicate(kept, o)
		switch {
		case !twice || o.Marker.Kind == comment.Finding && j.answered(o.ID):
			for _, k := range uniqueKeys(o) {
				if _, ok := kept[k]; !ok {
					kept[k] = o
				}
			}
		case o.Marker.Kind == comment.Review && j.Now().Sub(o.At) > sweepReviewsFor:
		default:
			if gone, err := j.discard(ctx, o); err != nil || !gone {
				if err != nil {
					return err
				}
				break
			}
			if err := j.redirect(ctx, o, first); err != nil {
				return err
			}
			continue
		}
		left = append(left, o)
	}
	j.state.own = left
	return nil
}

// uniqueKeys returns what must be unique on a pull request.
func uniqueKeys(o ownComment) []string {
	switch {
	case o.Marker.Kind == comment.Finding && o.Comment.Kind == forge.OnLine:
		k := []string{"thread " + o.Thread}
		if o.Fingerprint != "" {
			k = append(k, "place "+o.Fingerprint)
		}
		return k
	case o.Marker.Kind == comment.Summary && o.Comment.Kind == forge.OnThread:
		return []string{"summary"}
	case o.Marker.Kind == comment.Review && o.Comment.Kind == forge.OnReview:
		return []string{"review " + o.Marker.Review + " " + o.Thread}
	case o.Marker.Kind == comment.Reply:
		return []string{"reply " + o.Marker.Review + " " + o.Thread}
	case o.Marker.Kind == comment.Answer && o.Answers != "":
		var k []string
		for _, a := range o.AllAnswers() {
			k = append(k, "answer "+a)
		}
		return k
	case o.Marker.Kind.IsNote() && o.Answers != "":
		return []string{"note " + string(o.Marker.Kind) + " " + o.Answers}
	}
	return nil
}

func isDuplicate(kept map[string]ownComment, o ownComment) (first ownComment, twice bool) {
	keys := uniqueKeys(o)
	for _, k := range keys {
		switch there, ok := kept[k]; {
		case ok:
			first, twice = there, true
		case o.Marker.Kind == comment.Answer: // it has an answer that the others do not have
			return ownComment{}, false
		}
	}
	return first, twice
}

// answered tells whether somebody else wrote in the conversation that a comment opened.
func (j *job) answered(id precedent.ForgeID) bool {
	t, ok := j.state.conversation(id)
	return ok && slices.ContainsFunc(t.Comments, func(n precedent.ForgeID) bool { return !j.state.mine[n] })
}

// discard deletes a duplicate, and tells whether the forge could.
func (j *job) discard(ctx context.Context, o ownComment) (bool, error) {
	unsupported, err := j.Forge.Delete(ctx, j.repo, j.number, forge.CommentRef{Kind: o.Comment.Kind, ID: o.ID})
	why := string(unsupported)
	if forgeErr, ok := errors.AsType[*forge.Error](err); ok && ctx.Err() == nil && !concernsAll(forgeErr) {
		why, err = forgeErr.Msg, nil
	}
	if err != nil || why != "" {
		if why != "" {
			j.note("a duplicate comment could not be deleted: %s", why)
		}
		return false, err
	}
	j.d.Deleted++
	return true, nil
}

// redirect makes posts and threads refer to the kept comment instead of the deleted duplicate.
func (j *job) redirect(ctx context.Context, gone, kept ownComment) error {
	if err := j.updatePosts(ctx, func(p *store.Post) bool {
		if p.Remote != gone.ID || !becomes(p.Kind, gone.Marker.Kind) {
			return false
		}
		p.Remote, p.Thread = kept.ID, kept.Thread
		return true
	}); err != nil {
		return err
	}
	if gone.Marker.Kind != comment.Finding {
		return nil
	}
	for i := range j.stored {
		if t := &j.stored[i]; t.Comment == gone.ID {
			t.Comment, t.URL, t.Forge = kept.ID, kept.URL, ""
			if c, ok := j.state.conversation(kept.ID); ok {
				t.Forge = c.ID
			}
			return j.Rows.SaveThreads(ctx, j.stored[i:i+1])
		}
	}
	return nil
}

// becomes tells whether posts of a kind become comments of a kind: ids are unique among
// comments of one kind only.
func becomes(p store.PostKind, c comment.Kind) bool {
	switch p {
	case store.PostRemark:
		return c == comment.Finding
	case store.PostReply:
		return c == comment.Reply
	case store.PostSummary:
		return c == comment.Summary
	case store.PostAnswer:
		return c == comment.Answer || c == comment.Reply || c.IsNote()
	}
	return false
}

// sweepUnknown deletes comments of our account whose marker does not count, if a newer comment
// that counts says the same: they are from a run that had another memory, or were not posted
// by Precedent. It touches no comment that people answered, and no summary that a run still claims.
func (j *job) sweepUnknown(ctx context.Context) error {
	newest := map[string]ownComment{}
	for _, o := range j.state.own {
		for _, k := range replacedBy(o) {
			newest[k] = o
		}
	}
	deleted := 0
	for _, u := range j.state.unknown {
		if u.Run != "" && u.Run != j.run && j.Now().Sub(u.Edited) < claimFor || j.answered(u.ID) {
			continue
		}
		for _, k := range replacedBy(u) {
			if o, ok := newest[k]; !ok || o.ID.Compare(u.ID) < 0 {
				continue
			}
			gone, err := j.discard(ctx, u)
			if err != nil {
				return err
			}
			if gone {
				deleted++
			}
		}
	}
	if deleted > 0 {
		j.note("comments that may be of an earlier run were posted again and replaced, because nothing proves who wrote " +
			"them: set PRECEDENT_MARKER_KEY, or keep the memory")
	}
	return nil
}

// replacedBy returns what a comment says that only the newest should say.
func replacedBy(o ownComment) []string {
	switch {
	case o.Marker.Kind == comment.Finding && o.Comment.Kind == forge.OnLine && o.Fingerprint != "":
		return []string{o.Fingerprint}
	case isSummary(o):
		return []string{"summary"}
	}
	return nil
}
