package github

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// Comments reads the comments on the pull request, the texts of its reviews and the comments on its lines,
// oldest first. GitHub does not tell when the text of a review was edited. Pending reviews are left out. A comment
// of a review is dated when the review was submitted.
func (c *Client) Comments(ctx context.Context, repo precedent.Repo, number int) ([]forge.Comment, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("read comments of %s#%d", repo, number))
	issue, err1 := wire.List[wire.Comment](do, "issues/%d/comments", number)
	if err1 != nil && !forge.IsPartial(err1) {
		return nil, err1
	}
	reviews, err2 := wire.List[wire.Review](do, "pulls/%d/reviews", number)
	if err2 != nil && !forge.IsPartial(err2) {
		return nil, err2
	}
	inline, err3 := wire.List[wire.Comment](do, "pulls/%d/comments", number)
	if err3 != nil && !forge.IsPartial(err3) {
		return nil, err3
	}
	var all []forge.Comment
	for _, m := range issue {
		all = append(all, c.OnThread(m))
	}
	submitted := map[int64]time.Time{}
	for _, r := range reviews {
		submitted[r.ID] = r.SubmittedAt.UTC()
		if r.Body != "" && !r.SubmittedAt.IsZero() {
			all = append(all, c.OnReview(r))
		}
	}
	for _, m := range inline {
		one := c.onLine(m)
		if at := submitted[m.Review]; at.After(one.At) { // until then, only its author saw and edited it
			one.At = at
			if at.After(one.Edited) {
				one.Edited = at
			}
		}
		all = append(all, one)
	}
	if slices.ContainsFunc(all, forge.IsIncomplete) {
		return nil, do.Unexpected(forge.IncompleteComment)
	}
	return forge.SortComments(all), cmp.Or(err3, err2, err1)
}

// ReadComment reads one comment on a pull request, with one request.
func (c *Client) ReadComment(ctx context.Context, repo precedent.Repo, number int, m forge.CommentRef) (forge.Comment,
	error,
) {
	do := c.Begin(ctx, repo, fmt.Sprintf("read comment %s on %s#%d", m.ID, repo, number), m.ID)
	var found forge.Comment
	var one wire.Comment
	var err error
	on := number // the pull request that it is on
	switch m.Kind {
	case forge.OnThread:
		err = do.Get(&one, "issues/comments/%d", m.ID.Number())
		found, on = c.OnThread(&one), one.Number()
	case forge.OnReview:
		var r wire.Review
		if err = do.Get(&r, "pulls/%d/reviews/%d", number, m.ID.Number()); !r.SubmittedAt.IsZero() {
			found = c.OnReview(&r)
		}
	case forge.OnLine:
		err = do.Get(&one, "pulls/comments/%d", m.ID.Number())
		found, on = c.onLine(&one), one.Number()
	default:
		err = noSuchKind(do, m.Kind)
	}
	switch {
	case wire.Gone(err), err == nil && on != number:
		return forge.Comment{}, forge.NoComment(do.Doing())
	case err != nil:
		return forge.Comment{}, err
	case found.ID != m.ID:
		return forge.Comment{}, do.Unexpected("it describes another comment")
	}
	return found, nil
}

func noSuchKind(do wire.Call, k forge.CommentKind) error {
	return do.Refuse(forge.KindRefused, "unknown kind of comment %q", k)
}

func (c *Client) onLine(m *wire.Comment) forge.Comment {
	out := c.OnThread(m)
	out.Kind, out.ReplyTo, out.Review = forge.OnLine, precedent.NumberID(m.InReplyTo), precedent.NumberID(m.Review)
	out.Span, out.Commit, out.Outdated = position(m)
	out.Votes = -1
	if m.Reactions != nil {
		out.Votes = m.Reactions.PlusOne + m.Reactions.MinusOne
	}
	return out
}

// position returns the lines of an inline comment. GitHub returns no line once the
// code has changed; then it is the line at the original commit.
func position(m *wire.Comment) (span precedent.Span, commit string, outdated bool) {
	side := precedent.Side(cmp.Or(m.Side, string(precedent.Right)))
	if m.SubjectType == "file" {
		return precedent.Span{Path: m.Path, Side: side}, m.Commit, false
	}
	if m.Line == nil {
		return lines(m, side, m.OriginalStartLine, m.OriginalLine), m.OriginalCommit, true
	}
	return lines(m, side, m.StartLine, *m.Line), m.Commit, false
}

// lines returns lines of a side, and ignores the start of a range on the other side.
func lines(m *wire.Comment, side precedent.Side, first *int, last int) precedent.Span {
	out := precedent.Span{Path: m.Path, Side: side, Start: last, End: last}
	if first != nil && *first > 0 && *first < last && cmp.Or(m.StartSide, string(side)) == string(side) {
		out.Start = *first
	}
	return out
}
