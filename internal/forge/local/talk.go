package local

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
)

// talk is pulls/N/talk.json: all comments on a pull request.
type talk struct {
	Comments []comment `json:"comments"`
	// Closed says who resolved a conversation, by the id of its first comment.
	Closed    map[int64]person `json:"closed,omitempty"`
	Reactions []reaction       `json:"reactions,omitempty"`
	// Last is the last id used. No id is used twice.
	Last int64 `json:"last,omitempty"`
}

// comment is a comment, or the text of a review.
type comment struct {
	ID       int64             `json:"id"`
	Kind     forge.CommentKind `json:"kind"`
	Author   person            `json:"author"`
	Body     string            `json:"body"`
	At       time.Time         `json:"at"`
	Edited   time.Time         `json:"edited,omitzero"`
	Event    forge.ReviewEvent `json:"event,omitempty"`    // of a review
	Taken    string            `json:"taken,omitempty"`    // why the request for changes was taken back
	Review   int64             `json:"review,omitempty"`   // that it came with
	ReplyTo  int64             `json:"reply_to,omitempty"` // the first comment of its conversation
	Path     string            `json:"path,omitempty"`
	Side     precedent.Side    `json:"side,omitempty"`
	Start    int               `json:"start_line,omitempty"`
	End      int               `json:"end_line,omitempty"`
	Commit   string            `json:"commit,omitempty"`
	Outdated bool              `json:"outdated,omitempty"`
	Hunk     string            `json:"hunk,omitempty"` // the end of the diff hunk above it, the commented line last
}

type reaction struct {
	Kind    forge.CommentKind `json:"kind"`
	ID      int64             `json:"id"`
	Who     person            `json:"who"`
	Content string            `json:"content"`
	At      time.Time         `json:"at"`
}

func (c *comment) ref() forge.CommentRef {
	return forge.CommentRef{Kind: c.Kind, ID: precedent.NumberID(c.ID)}
}

func (c *comment) edited() time.Time {
	if c.Edited.IsZero() {
		return c.At.UTC()
	}
	return c.Edited.UTC()
}

// check validates the file.
func (t *talk) check() error {
	seen := map[forge.CommentRef]bool{}
	for i := range t.Comments {
		c := &t.Comments[i]
		inline := c.Kind == forge.OnLine
		switch {
		case !inline && c.Kind != forge.OnThread && c.Kind != forge.OnReview:
			return invalidFile("comment %d: kind must be issue, review or inline", c.ID)
		case c.ID <= 0 || seen[c.ref()] || c.At.IsZero():
			return invalidFile("comment %d: it needs at, and an id that is positive and unique", c.ID)
		case inline && (c.Path == "" || c.Side != precedent.Left && c.Side != precedent.Right || !git.IsObjectID(c.Commit)):
			return invalidFile("comment %d: an inline comment needs a path, a side (LEFT or RIGHT) and a commit", c.ID)
		case c.Start < 0 || c.End < c.Start || c.Start == 0 && c.End > 0:
			return invalidFile("comment %d: lines start at 1, and the last may not come before the first", c.ID)
		}
		seen[c.ref()] = true
	}
	slices.SortStableFunc(t.Comments, func(a, b comment) int { return a.At.Compare(b.At) })
	return nil
}

// find returns a comment; nil if it does not exist.
func (t *talk) find(ref forge.CommentRef) *comment {
	i := slices.IndexFunc(t.Comments, func(c comment) bool { return c.ref() == ref })
	if i < 0 {
		return nil
	}
	return &t.Comments[i]
}

// comment converts a comment.
func (s *pullRequest) comment(pages forge.Pages, c comment) forge.Comment {
	anchors := map[forge.CommentKind]string{
		forge.OnThread: "issuecomment-", forge.OnReview: "pullrequestreview-", forge.OnLine: "discussion_r",
	}
	out := forge.Comment{
		ID: precedent.NumberID(c.ID), Kind: c.Kind, Author: c.Author.person(), At: c.At.UTC(), Edited: c.edited(),
		URL:     fmt.Sprintf("%s#%s%d", pages.PullRequest(s.id(), s.number), anchors[c.Kind], c.ID),
		ReplyTo: precedent.NumberID(c.ReplyTo), Review: precedent.NumberID(c.Review), Commit: c.Commit, Outdated: c.Outdated,
		Blocks: c.Event == forge.RequestChanges && c.Taken == "",
		Span:   precedent.Span{Path: c.Path, Side: c.Side, Start: c.Start, End: c.End},
	}
	out.Body, out.Cut = forge.CutBody(c.Body)
	if c.Kind == forge.OnLine {
		for _, r := range s.talk.Reactions {
			if r.Kind == c.Kind && r.ID == c.ID && (r.Content == "+1" || r.Content == "-1") {
				out.Votes++
			}
		}
	}
	return out
}

// Comments reads all comments, oldest first.
func (f *Forge) Comments(ctx context.Context, repo precedent.Repo, number int) ([]forge.Comment, error) {
	s, err := f.loadPull(ctx, repo, number)
	var all []forge.Comment
	for _, c := range s.talk.Comments {
		if c.Kind != forge.OnReview || c.Body != "" {
			all = append(all, s.comment(f.Pages(), c))
		}
	}
	return all, fail(fmt.Sprintf("read comments of %s#%d", repo, number), err)
}

// ReadComment reads one comment on a pull request.
func (f *Forge) ReadComment(ctx context.Context, repo precedent.Repo, number int, m forge.CommentRef) (forge.Comment,
	error,
) {
	doing := fmt.Sprintf("read comment %s on %s#%d", m.ID, repo, number)
	s, err := f.loadPull(ctx, repo, number, m.ID)
	if err != nil {
		return forge.Comment{}, fail(doing, err)
	}
	if c := s.talk.find(m); c != nil {
		return s.comment(f.Pages(), *c), nil
	}
	return forge.Comment{}, forge.NoComment(doing)
}

// Threads reads the conversations on lines, in the order of their first comments.
func (f *Forge) Threads(ctx context.Context, repo precedent.Repo, number int) ([]forge.Thread, error) {
	s, err := f.loadPull(ctx, repo, number)
	var threads []forge.Thread
	at := map[int64]int{}
	for _, c := range s.talk.Comments {
		if c.Kind != forge.OnLine {
			continue
		}
		root := cmp.Or(c.ReplyTo, c.ID)
		i, known := at[root]
		if !known {
			i, at[root] = len(threads), len(threads)
			by, closed := s.talk.Closed[root]
			t := forge.Thread{ID: precedent.NumberID(root), Closed: closed}
			if closed {
				t.ClosedBy = by.person()
			}
			threads = append(threads, t)
		}
		threads[i].Comments = append(threads[i].Comments, precedent.NumberID(c.ID))
	}
	return threads, fail(fmt.Sprintf("read conversations of %s#%d", repo, number), err)
}

// Reactions reads the reactions to a comment.
func (f *Forge) Reactions(ctx context.Context, repo precedent.Repo, number int, to forge.CommentRef) ([]forge.Reaction,
	error,
) {
	s, err := f.loadPull(ctx, repo, number, to.ID)
	var all []forge.Reaction
	for _, r := range s.talk.Reactions {
		if r.Kind == to.Kind && precedent.NumberID(r.ID) == to.ID {
			all = append(all, forge.Reaction{Who: r.Who.person(), Content: r.Content})
		}
	}
	return all, fail(fmt.Sprintf("read reactions on %s#%d", repo, number), err)
}

var errNoComment = &forge.Error{Kind: forge.KindNotFound, Msg: "comment not found"}

// change changes the comments of a pull request on which Me may comment.
func (f *Forge) change(ctx context.Context, repo precedent.Repo, number int, doing string, ids []precedent.ForgeID,
	do func(s *pullRequest, me forge.Person) error,
) error {
	doing = fmt.Sprintf("%s on %s#%d", doing, repo, number)
	me, err := f.Me(ctx)
	if err != nil {
		return err
	}
	s, err := f.loadPull(ctx, repo, number, ids...)
	switch {
	case err != nil:
		return fail(doing, err)
	case s.Locked:
		return fail(doing, &forge.Error{Kind: forge.KindClosed, Msg: "the pull request is locked"})
	}
	return fail(doing, update(f, talkFile(number), func(t *talk) error {
		s.talk = *t
		if err := forge.PassFence(ctx); err != nil {
			return err
		}
		err := do(&s, me)
		*t = s.talk
		return err
	}))
}

// perPull is the distance between the comment ids of two pull requests, so that ids are unique in the folder.
const perPull = 1_000_000

// add adds a comment, and returns its id.
func (f *Forge) add(s *pullRequest, by forge.Person, c comment) (precedent.ForgeID, error) {
	if n := utf8.RuneCountInString(c.Body); n == 0 || n > forge.MaxPost {
		return "", &forge.Error{Kind: forge.KindInvalid, Msg: fmt.Sprintf("the text has %d of 1 to %d characters", n,
			forge.MaxPost)}
	}
	t := &s.talk
	t.Last = max(t.Last, int64(s.number)*perPull)
	for i := range t.Comments {
		t.Last = max(t.Last, t.Comments[i].ID)
	}
	t.Last++
	c.ID, c.Author, c.At = t.Last, person{by.ID.Number(), by.Login, by.Bot}, f.now().UTC()
	t.Comments = append(t.Comments, c)
	return precedent.NumberID(c.ID), nil
}

// Post posts a review. A draft for another commit than the head is refused.
func (f *Forge) Post(ctx context.Context, repo precedent.Repo, number int, d forge.Draft) (forge.Posted, error) {
	posted := forge.Posted{Remarks: make([]precedent.ForgeID, len(d.Remarks))}
	p, err := f.PullRequest(ctx, repo, number)
	if err != nil {
		return posted, err
	}
	err = f.change(ctx, repo, number, "post review", nil, func(s *pullRequest, me forge.Person) (err error) {
		if d.Commit != p.Head.SHA || len(d.Remarks) > forge.MaxRemarks {
			return &forge.Error{Kind: forge.KindInvalid, Msg: fmt.Sprintf("the head is %.12s, not %.12q", p.Head.SHA, d.Commit)}
		}
		if d.Event == forge.RequestChanges && s.Author.ID == me.ID.Number() {
			d.Event = forge.Remarks
			posted.Unsupported = append(posted.Unsupported,
				"authors cannot request changes on their own pull request: the review was posted as a comment")
		}
		posted.Review, err = f.add(s, me, comment{Kind: forge.OnReview, Body: d.Body, Event: d.Event, Commit: d.Commit})
		for i, r := range d.Remarks {
			if err != nil {
				break
			}
			posted.Remarks[i], err = f.add(s, me, comment{
				Kind: forge.OnLine, Body: r.Body, Review: posted.Review.Number(), Commit: d.Commit,
				Path: r.Path, Side: r.Side, Start: r.Start, End: r.End,
			})
		}
		return err
	})
	return posted, err
}

// Comment comments on the pull request as a whole.
func (f *Forge) Comment(ctx context.Context, repo precedent.Repo, number int, body string) (said forge.Comment,
	err error,
) {
	err = f.change(ctx, repo, number, "comment", nil, func(s *pullRequest, me forge.Person) error {
		said, err = f.say(s, me, comment{Kind: forge.OnThread, Body: body})
		return err
	})
	return said, err
}

// Reply replies in the conversation that starts with the inline comment.
func (f *Forge) Reply(ctx context.Context, repo precedent.Repo, number int, to precedent.ForgeID,
	body string,
) (said forge.Comment, err error) {
	err = f.change(ctx, repo, number, "reply", []precedent.ForgeID{to}, func(s *pullRequest, me forge.Person) error {
		first := s.talk.find(forge.CommentRef{Kind: forge.OnLine, ID: to})
		if first == nil || first.ReplyTo != 0 {
			return errNoComment
		}
		c := *first
		c.ReplyTo, c.Body, c.Review, c.Hunk, c.Edited = c.ID, body, 0, "", time.Time{}
		said, err = f.say(s, me, c)
		return err
	})
	return said, err
}

// say adds a comment, and returns it.
func (f *Forge) say(s *pullRequest, me forge.Person, c comment) (forge.Comment, error) {
	if _, err := f.add(s, me, c); err != nil {
		return forge.Comment{}, err
	}
	return s.comment(f.Pages(), s.talk.Comments[len(s.talk.Comments)-1]), nil
}

// changeOwn changes a comment by Me. do gets nil if it does not exist.
func (f *Forge) changeOwn(ctx context.Context, repo precedent.Repo, number int, doing string, ref forge.CommentRef,
	do func(t *talk, c *comment) error,
) error {
	return f.change(ctx, repo, number, doing, []precedent.ForgeID{ref.ID}, func(s *pullRequest, me forge.Person) error {
		found := s.talk.find(ref)
		if found != nil && found.Author.ID != me.ID.Number() {
			return &forge.Error{Kind: forge.KindAuth, Msg: "the comment belongs to another account"}
		}
		return do(&s.talk, found)
	})
}

// Edit replaces the text of a comment by Me.
func (f *Forge) Edit(ctx context.Context, repo precedent.Repo, number int, ref forge.CommentRef, body string) error {
	return f.changeOwn(ctx, repo, number, "edit comment", ref, func(_ *talk, c *comment) error {
		if c == nil {
			return errNoComment
		}
		c.Body, c.Edited = body, f.now().UTC()
		return nil
	})
}

// Delete deletes a comment by Me. Replies to it are kept.
func (f *Forge) Delete(ctx context.Context, repo precedent.Repo, number int, ref forge.CommentRef) (forge.Unsupported,
	error,
) {
	return "", f.changeOwn(ctx, repo, number, "delete comment", ref, func(t *talk, c *comment) error {
		if c != nil {
			t.Last = max(t.Last, c.ID) // the number is not given again
			t.Comments = slices.DeleteFunc(t.Comments, func(o comment) bool { return o.ref() == ref })
		}
		return nil
	})
}

// Dismiss takes back the request for changes of a review.
func (f *Forge) Dismiss(ctx context.Context, repo precedent.Repo, number int, review precedent.ForgeID,
	why string,
) (forge.Unsupported, error) {
	ref := forge.CommentRef{Kind: forge.OnReview, ID: review}
	return "", f.changeOwn(ctx, repo, number, "take back the request for changes", ref, func(_ *talk, c *comment) error {
		if c != nil && c.Event == forge.RequestChanges {
			c.Taken = why
		}
		return nil
	})
}

// Resolve resolves a conversation, or reopens it.
func (f *Forge) Resolve(ctx context.Context, repo precedent.Repo, number int, th forge.Thread,
	closed bool,
) (forge.Unsupported, error) {
	return "", f.change(ctx, repo, number, "resolve a conversation", []precedent.ForgeID{th.ID},
		func(s *pullRequest, me forge.Person) error {
			root := th.ID.Number()
			switch {
			case s.talk.find(forge.CommentRef{Kind: forge.OnLine, ID: th.ID}) == nil:
				return &forge.Error{Kind: forge.KindNotFound, Msg: "conversation not found"}
			case !closed:
				delete(s.talk.Closed, root)
			case s.talk.Closed[root].ID == 0:
				if s.talk.Closed == nil {
					s.talk.Closed = map[int64]person{}
				}
				s.talk.Closed[root] = person{me.ID.Number(), me.Login, me.Bot}
			}
			return nil
		})
}
