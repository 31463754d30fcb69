package local

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// perPull is the distance between the comment ids of two pull requests, so that ids
// are unique in the folder.
const perPull = 1_000_000

// invalid is the error of a request that is not carried out.
func invalid(format string, args ...any) error {
	return &forge.Error{Kind: forge.KindInvalid, Msg: fmt.Sprintf(format, args...)}
}

// checkBody checks the length of a text.
func checkBody(body string) error {
	switch n := utf8.RuneCountInString(body); {
	case body == "":
		return invalid("the text is empty")
	case n > forge.MaxPost:
		return invalid("the text is too long: %d of at most %d characters", n, forge.MaxPost)
	}
	return nil
}

// openForWriting reads a pull request that accepts comments by Me. Invalid ids of
// comments are refused.
func (f *Forge) openForWriting(ctx context.Context, repo precedent.Repo, number int, comments ...precedent.ForgeID) (pullRequest, forge.Person, error) {
	s, err := f.loadPull(ctx, repo, number, comments...)
	if err != nil {
		return s, forge.Person{}, err
	}
	switch {
	case s.Archived:
		return s, forge.Person{}, &forge.Error{Kind: forge.KindClosed, Msg: "the repository is archived"}
	case s.Locked:
		return s, forge.Person{}, &forge.Error{Kind: forge.KindClosed, Msg: "the pull request is locked"}
	}
	me, err := f.me()
	return s, me, err
}

// updateDiscussion changes the comments of a pull request.
func (f *Forge) updateDiscussion(ctx context.Context, s *pullRequest, do func(*discussion) error) error {
	return updateFile(ctx, f, s.discussionFile(), func(t *discussion) error {
		if err := t.check(); err != nil {
			return invalidFile("%s: %v", s.discussionFile(), err)
		}
		return do(t)
	})
}

// appendComment adds a comment, and returns it with its id and time.
func (f *Forge) appendComment(t *discussion, s *pullRequest, by forge.Person, c comment) comment {
	t.Last = max(t.Last, int64(s.Number)*perPull)
	for i := range t.Comments {
		t.Last = max(t.Last, t.Comments[i].ID)
	}
	t.Last++
	c.ID, c.Author, c.At = t.Last, fileAccount(by), f.now().UTC()
	t.Comments = append(t.Comments, c)
	return c
}

// Post posts a review. Remarks that are not on lines of the diff are rejected one by
// one. A draft for another commit than the head is refused.
func (f *Forge) Post(ctx context.Context, repo precedent.Repo, number int, d forge.Draft) (forge.Posted, error) {
	doing := fmt.Sprintf("post review on %s#%d", repo, number)
	s, me, err := f.openForWriting(ctx, repo, number)
	if err == nil {
		err = checkBody(d.Body)
	}
	switch {
	case err != nil:
	case len(d.Remarks) > forge.MaxRemarks:
		err = invalid("too many comments: %d of at most %d", len(d.Remarks), forge.MaxRemarks)
	case d.Event != forge.Remarks && d.Event != forge.RequestChanges:
		err = invalid("unknown review event %q", d.Event)
	}
	if err != nil {
		return forge.Posted{}, fail(doing, err)
	}
	posted := forge.Posted{Remarks: make([]precedent.ForgeID, len(d.Remarks))}
	if posted.Rejected, err = f.rejected(ctx, &s, d); err != nil {
		return forge.Posted{}, fail(doing, err)
	}
	if len(d.Remarks) > 0 && len(posted.Rejected) == len(d.Remarks) {
		return posted, nil
	}
	if d.Event == forge.RequestChanges && s.Author.ID == me.ID.Number() {
		d.Event = forge.Remarks
		posted.Unsupported = append(posted.Unsupported, "authors cannot request changes on their own pull request: the review was posted as a comment")
	}
	err = f.updateDiscussion(ctx, &s, func(t *discussion) error {
		review := f.appendComment(t, &s, me, comment{Kind: forge.OnReview, Body: d.Body, Event: d.Event, Commit: d.Commit}).ID
		posted.Review = precedent.NumberID(review)
		for i, r := range d.Remarks {
			if !slices.ContainsFunc(posted.Rejected, func(no forge.Rejected) bool { return no.Remark == i }) {
				posted.Remarks[i] = precedent.NumberID(f.appendComment(t, &s, me, comment{
					Kind: forge.OnLine, Body: r.Body, Review: review, Commit: d.Commit,
					Path: r.Path, Side: r.Side, Start: r.Start, End: r.End,
				}).ID)
			}
		}
		return nil
	})
	return posted, fail(doing, err)
}

// rejected finds the remarks that are not on lines of the diff.
func (f *Forge) rejected(ctx context.Context, s *pullRequest, d forge.Draft) ([]forge.Rejected, error) {
	h, err := f.history(ctx, s.repository)
	if err != nil {
		return nil, err
	}
	defer h.close()
	if err := h.resolve(ctx, s); err != nil {
		return nil, err
	}
	if d.Commit != s.Head.SHA {
		return nil, invalid("the head is %.12s, not %.12q", s.Head.SHA, d.Commit)
	}
	if len(d.Remarks) == 0 {
		return nil, nil
	}
	c, err := h.change(ctx, s)
	if err != nil {
		return nil, err
	}
	var no []forge.Rejected
	for i, r := range d.Remarks {
		why := ""
		file := c.File(r.Path)
		for j := range c.Files { // one that is deleted is in no new tree
			if file == nil && (c.Files[j].Path == r.Path || r.Side == precedent.Left && c.Files[j].OldPath == r.Path) {
				file = &c.Files[j]
			}
		}
		switch {
		case checkBody(r.Body) != nil:
			why = checkBody(r.Body).Error()
		case r.Side != precedent.Left && r.Side != precedent.Right:
			why = "the side is neither LEFT nor RIGHT"
		case file == nil:
			why = "the file is not in the diff"
		case r.Start == 0 && r.End == 0:
		case r.Start < 1 || r.End < r.Start:
			why = "the last line comes before the first"
		case file.HunkAt(r.Side, r.Start) < 0 || file.HunkAt(r.Side, r.End) < 0:
			why = "the line is not in the diff"
		case file.HunkAt(r.Side, r.Start) != file.HunkAt(r.Side, r.End):
			why = "the lines are not in one hunk"
		}
		if why != "" {
			no = append(no, forge.Rejected{Remark: i, Why: why})
		}
	}
	return no, nil
}

// Comment comments on the pull request as a whole.
func (f *Forge) Comment(ctx context.Context, repo precedent.Repo, number int, body string) (forge.Comment, error) {
	return f.addComment(ctx, repo, number, fmt.Sprintf("comment on %s#%d", repo, number), body, func(*discussion) (comment, error) {
		return comment{Kind: forge.OnThread}, nil
	})
}

// Reply replies in the conversation that starts with the inline comment.
func (f *Forge) Reply(ctx context.Context, repo precedent.Repo, number int, to precedent.ForgeID, body string) (forge.Comment, error) {
	return f.addComment(ctx, repo, number, fmt.Sprintf("reply to comment %s of %s#%d", to, repo, number), body, func(t *discussion) (comment, error) {
		first := t.find(forge.CommentRef{Kind: forge.OnLine, ID: to})
		switch {
		case first == nil:
			return comment{}, errNoComment
		case first.ReplyTo != 0:
			return comment{}, invalid("the comment is itself a reply")
		}
		c := *first
		return comment{Kind: c.Kind, ReplyTo: c.ID, Commit: c.Commit, Path: c.Path, Side: c.Side, Start: c.Start, End: c.End, Outdated: c.Outdated}, nil
	}, to)
}

func (f *Forge) addComment(ctx context.Context, repo precedent.Repo, number int, doing, body string, where func(*discussion) (comment, error), comments ...precedent.ForgeID) (forge.Comment, error) {
	s, me, err := f.openForWriting(ctx, repo, number, comments...)
	if err == nil {
		err = checkBody(body)
	}
	if err != nil {
		return forge.Comment{}, fail(doing, err)
	}
	var said comment
	err = f.updateDiscussion(ctx, &s, func(t *discussion) error {
		c, err := where(t)
		if err != nil {
			return err
		}
		c.Body = body
		said = f.appendComment(t, &s, me, c)
		return nil
	})
	if err != nil {
		return forge.Comment{}, fail(doing, err)
	}
	return f.comment(&s, said), nil
}

// ownComment finds a comment by Me; nil if it does not exist.
func (t *discussion) ownComment(c forge.CommentRef, me forge.Person) (*comment, error) {
	found := t.find(c)
	if found != nil && found.Author.ID != me.ID.Number() {
		return nil, &forge.Error{Kind: forge.KindAuth, Msg: "the comment belongs to another account"}
	}
	return found, nil
}

// Edit replaces the text of a comment by Me.
func (f *Forge) Edit(ctx context.Context, repo precedent.Repo, number int, c forge.CommentRef, body string) error {
	doing := fmt.Sprintf("edit comment %s of %s#%d", c.ID, repo, number)
	s, me, err := f.openForWriting(ctx, repo, number, c.ID)
	if err == nil {
		err = checkBody(body)
	}
	if err != nil {
		return fail(doing, err)
	}
	return fail(doing, f.updateDiscussion(ctx, &s, func(t *discussion) error {
		found, err := t.ownComment(c, me)
		switch {
		case err != nil:
			return err
		case found == nil:
			return errNoComment
		}
		at := f.now().UTC()
		if at.Before(found.At) { // the clock was set back
			at = found.At
		}
		found.Body, found.Edited = body, &at
		return nil
	}))
}

// Delete deletes a comment by Me. Replies to it are kept.
func (f *Forge) Delete(ctx context.Context, repo precedent.Repo, number int, c forge.CommentRef) (forge.Unsupported, error) {
	doing := fmt.Sprintf("delete comment %s of %s#%d", c.ID, repo, number)
	s, me, err := f.openForWriting(ctx, repo, number, c.ID)
	if err != nil {
		return "", fail(doing, err)
	}
	return "", fail(doing, f.updateDiscussion(ctx, &s, func(t *discussion) error {
		found, err := t.ownComment(c, me)
		if err != nil || found == nil {
			return err
		}
		t.Last = max(t.Last, found.ID) // the number is not given again
		root := found.root()
		t.Comments = slices.DeleteFunc(t.Comments, func(o comment) bool { return o.ref() == c })
		t.Reactions = slices.DeleteFunc(t.Reactions, func(r reaction) bool { return r.ref() == c })
		if !t.hasThread(root) {
			delete(t.Closed, root)
		}
		return nil
	}))
}

// Dismiss takes back the request for changes of a review.
func (f *Forge) Dismiss(ctx context.Context, repo precedent.Repo, number int, review precedent.ForgeID, why string) (forge.Unsupported, error) {
	doing := fmt.Sprintf("take back the request for changes on %s#%d", repo, number)
	s, me, err := f.openForWriting(ctx, repo, number, review)
	if err != nil {
		return "", fail(doing, err)
	}
	return "", fail(doing, f.updateDiscussion(ctx, &s, func(t *discussion) error {
		found, err := t.ownComment(forge.CommentRef{Kind: forge.OnReview, ID: review}, me)
		if found != nil && found.Event == forge.RequestChanges {
			found.Taken = why
		}
		return err
	}))
}

// hasThread reports whether a conversation has comments.
func (t *discussion) hasThread(root int64) bool {
	return slices.ContainsFunc(t.Comments, func(c comment) bool { return c.Kind == forge.OnLine && c.root() == root })
}

// Resolve resolves a conversation, or reopens it.
func (f *Forge) Resolve(ctx context.Context, repo precedent.Repo, number int, th forge.Thread, closed bool) (forge.Unsupported, error) {
	doing := fmt.Sprintf("resolve conversation %q of %s#%d", th.ID, repo, number)
	s, me, err := f.openForWriting(ctx, repo, number)
	if err != nil {
		return "", fail(doing, err)
	}
	root := th.ID.Number()
	return "", fail(doing, f.updateDiscussion(ctx, &s, func(t *discussion) error {
		_, is := t.Closed[root]
		switch {
		case !t.hasThread(root):
			return &forge.Error{Kind: forge.KindNotFound, Msg: "conversation not found"}
		case closed && !is:
			if t.Closed == nil {
				t.Closed = map[int64]person{}
			}
			t.Closed[root] = fileAccount(me)
		case !closed:
			delete(t.Closed, root)
		}
		return nil
	}))
}
