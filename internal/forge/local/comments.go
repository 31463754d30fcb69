package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/forge"
)

// discussion is pulls/N/talk.json: all comments on a pull request.
type discussion struct {
	Comments []comment `json:"comments"`
	// Closed says who resolved a conversation, by the id of its first comment.
	Closed    map[int64]person `json:"closed,omitempty"`
	Reactions []reaction       `json:"reactions,omitempty"`
	// Last is the last id used. No id is used twice.
	Last int64 `json:"last,omitempty"`
}

// comment is a comment, or the text of a review, which may be empty.
type comment struct {
	ID       int64             `json:"id"`
	Kind     forge.CommentKind `json:"kind"`
	Author   person            `json:"author"`
	Body     string            `json:"body"`
	At       time.Time         `json:"at"`
	Edited   *time.Time        `json:"edited,omitempty"`
	Event    forge.ReviewEvent `json:"event,omitempty"`    // of a review
	Taken    string            `json:"taken,omitempty"`    // why the request for changes was taken back
	Review   int64             `json:"review,omitempty"`   // that it came with
	ReplyTo  int64             `json:"reply_to,omitempty"` // the first comment of its conversation
	Path     string            `json:"path,omitempty"`
	Side     precedent.Side    `json:"side,omitempty"`
	Start    int               `json:"start_line,omitempty"`
	End      int               `json:"end_line,omitempty"`
	Commit   string            `json:"commit,omitempty"`
	Outdated bool              `json:"outdated,omitempty"` // set permanently; for other comments, git tells
	Hunk     string            `json:"hunk,omitempty"`     // the end of the diff hunk above it, the commented line last
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

func (r reaction) ref() forge.CommentRef {
	return forge.CommentRef{Kind: r.Kind, ID: precedent.NumberID(r.ID)}
}

func (c *comment) edited() time.Time {
	if c.Edited != nil {
		return c.Edited.UTC()
	}
	return c.At.UTC()
}

// root returns the id of the first comment of the conversation.
func (c *comment) root() int64 { return cmp.Or(c.ReplyTo, c.ID) }

// check validates the file.
func (t *discussion) check() error {
	seen := map[forge.CommentRef]bool{}
	for i := range t.Comments {
		c := &t.Comments[i]
		wrong := ""
		switch {
		case c.Kind != forge.OnThread && c.Kind != forge.OnReview && c.Kind != forge.OnLine:
			wrong = "kind must be issue, review or inline"
		case c.ID <= 0 || seen[c.ref()]:
			wrong = "the id is not positive, or not unique"
		case c.At.IsZero() || c.Edited != nil && c.Edited.Before(c.At):
			wrong = "at is missing, or later than edited"
		case c.Kind == forge.OnLine && (c.Path == "" || c.Side != precedent.Left && c.Side != precedent.Right || !objectID().MatchString(c.Commit)):
			wrong = "an inline comment needs a path, a side (LEFT or RIGHT) and a commit"
		case c.Start < 0 || c.End < c.Start || c.Start == 0 && c.End > 0:
			wrong = "lines start at 1, and the last may not come before the first"
		case c.Kind != forge.OnLine && (c.Path != "" || c.Start > 0 || c.ReplyTo != 0 || c.Review != 0):
			wrong = "only an inline comment can have lines, reply_to and review"
		}
		if wrong != "" {
			return invalidFile("comment %d: %s", c.ID, wrong)
		}
		seen[c.ref()] = true
	}
	return nil
}

func (s *pullRequest) discussionFile() string { return s.folder + "/talk.json" }

// readDiscussion reads the comments. A missing file is empty.
func (f *Forge) readDiscussion(s *pullRequest) (discussion, error) {
	var t discussion
	if err := f.read(s.discussionFile(), &t); err != nil && !errors.Is(err, os.ErrNotExist) {
		return t, err
	}
	if err := t.check(); err != nil {
		return t, invalidFile("%s: %v", s.discussionFile(), err)
	}
	slices.SortStableFunc(t.Comments, func(a, b comment) int { return a.At.Compare(b.At) })
	return t, nil
}

// Comments reads all comments, oldest first.
func (f *Forge) Comments(ctx context.Context, repo precedent.Repo, number int) ([]forge.Comment, error) {
	_, all, err := f.currentDiscussion(ctx, repo, number, fmt.Sprintf("read comments of %s#%d", repo, number))
	return all, err
}

// CommentsSince reads the comments on pull requests as a whole that were written or edited
// since a time.
func (f *Forge) CommentsSince(ctx context.Context, repo precedent.Repo, since time.Time) ([]forge.NumberedComment, error) {
	doing := "read comments of " + repo.String()
	r, err := f.readRepo(ctx, repo)
	if err != nil {
		return nil, fail(doing, err)
	}
	numbers, err := f.numbers()
	if err != nil {
		return nil, fail(doing, err)
	}
	var all []forge.NumberedComment
	for _, n := range numbers[:min(len(numbers), maxPulls)] {
		s, err := f.readPull(r, n)
		if err != nil {
			return nil, fail(doing, err)
		}
		t, err := f.readDiscussion(&s)
		if err != nil {
			return nil, fail(doing, err)
		}
		for _, c := range t.Comments {
			if c.Kind == forge.OnThread && !c.edited().Before(since) {
				all = append(all, forge.NumberedComment{Number: n, Comment: f.comment(&s, c)})
			}
		}
	}
	if len(numbers) > maxPulls {
		err = &forge.Error{Kind: forge.KindTooLarge, Msg: fmt.Sprintf("only the first %d pull requests were read", maxPulls)}
	}
	return all, fail(doing, err)
}

// currentDiscussion reads the comments, and finds out which are outdated.
func (f *Forge) currentDiscussion(ctx context.Context, repo precedent.Repo, number int, doing string) (discussion, []forge.Comment, error) {
	s, err := f.loadPull(ctx, repo, number)
	if err != nil {
		return discussion{}, nil, fail(doing, err)
	}
	t, err := f.readDiscussion(&s)
	if err != nil {
		return t, nil, fail(doing, err)
	}
	inline := func(c comment) bool { return c.Kind == forge.OnLine }
	var age *outdatedFinder
	if !s.explicit() && slices.ContainsFunc(t.Comments, inline) {
		h, err := f.history(ctx, s.repository)
		if err != nil {
			return t, nil, fail(doing, err)
		}
		defer h.close()
		now, err := h.change(ctx, &s)
		if err != nil {
			return t, nil, fail(doing, err)
		}
		age = &outdatedFinder{h: h, head: s.Head.SHA, now: now, then: map[string]*diff.Change{}}
	}
	var out []forge.Comment
	for _, c := range t.Comments {
		if c.Kind == forge.OnReview && c.Body == "" {
			continue // a review that says nothing beside its remarks
		}
		if age != nil && inline(c) && !c.Outdated {
			c.Outdated = age.outdated(ctx, c)
		}
		m := f.comment(&s, c)
		for _, r := range t.Reactions {
			if inline(c) && r.ref() == c.ref() && (r.Content == "+1" || r.Content == "-1") {
				m.Votes++
			}
		}
		out = append(out, m)
	}
	return t, out, fail(doing, ctx.Err())
}

// comment converts a comment.
func (f *Forge) comment(s *pullRequest, c comment) forge.Comment {
	out := forge.Comment{
		ID: precedent.NumberID(c.ID), Kind: c.Kind, Author: c.Author.person(), At: c.At.UTC(), Edited: c.edited(),
		URL: f.Pages().PullRequest(s.id(), s.Number) + anchor(c), ReplyTo: precedent.NumberID(c.ReplyTo), Review: precedent.NumberID(c.Review), Commit: c.Commit, Outdated: c.Outdated,
		Blocks: c.Event == forge.RequestChanges && c.Taken == "",
		Span:   precedent.Span{Path: c.Path, Side: c.Side, Start: c.Start, End: c.End},
	}
	out.Body, out.Cut = truncateBody(c.Body)
	return out
}

// anchor returns the URL fragment of a comment, as on GitHub.
func anchor(c comment) string {
	kind := map[forge.CommentKind]string{forge.OnThread: "issuecomment-", forge.OnReview: "pullrequestreview-", forge.OnLine: "discussion_r"}[c.Kind]
	return "#" + kind + strconv.FormatInt(c.ID, 10)
}

// Threads reads the conversations on lines, in the order of their first comments.
func (f *Forge) Threads(ctx context.Context, repo precedent.Repo, number int) ([]forge.Thread, error) {
	t, all, err := f.currentDiscussion(ctx, repo, number, fmt.Sprintf("read conversations of %s#%d", repo, number))
	if err != nil {
		return nil, err
	}
	var threads []forge.Thread
	at := map[precedent.ForgeID]int{}
	for _, c := range all {
		if c.Kind != forge.OnLine {
			continue
		}
		root := cmp.Or(c.ReplyTo, c.ID)
		i, known := at[root]
		if !known {
			i = len(threads)
			at[root] = i
			by, closed := t.Closed[root.Number()]
			threads = append(threads, forge.Thread{ID: root, Closed: closed, Outdated: c.Outdated})
			if closed {
				threads[i].ClosedBy = by.person()
			}
		}
		threads[i].Comments = append(threads[i].Comments, c.ID)
	}
	return threads, nil
}

// Reactions reads the reactions to a comment, oldest first.
func (f *Forge) Reactions(ctx context.Context, repo precedent.Repo, number int, to forge.CommentRef) ([]forge.Reaction, error) {
	doing := fmt.Sprintf("read reactions to comment %s of %s#%d", to.ID, repo, number)
	s, err := f.loadPull(ctx, repo, number, to.ID)
	if err != nil {
		return nil, fail(doing, err)
	}
	t, err := f.readDiscussion(&s)
	if err != nil {
		return nil, fail(doing, err)
	}
	if t.find(to) == nil {
		return nil, fail(doing, errNoComment)
	}
	var out []forge.Reaction
	for _, r := range t.Reactions {
		if r.ref() == to {
			out = append(out, forge.Reaction{Who: r.Who.person(), Content: r.Content, At: r.At.UTC()})
		}
	}
	slices.SortStableFunc(out, func(a, b forge.Reaction) int { return a.At.Compare(b.At) })
	return out, nil
}

var errNoComment = &forge.Error{Kind: forge.KindNotFound, Msg: "comment not found"}

// find returns a comment; nil if it does not exist.
func (t *discussion) find(c forge.CommentRef) *comment {
	for i := range t.Comments {
		if t.Comments[i].ref() == c {
			return &t.Comments[i]
		}
	}
	return nil
}
