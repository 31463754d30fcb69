package gitea

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxReviews bounds the reviews whose inline comments are read, because each takes a request.
const maxReviews = 500

// Comments reads the comments on the pull request, the texts of its reviews and the comments on its lines,
// oldest first. Gitea does not tell when the text of a review was edited, nor which comment another replies
// to: those on one line of one commit count as replies to the first. Pending reviews are left out.
func (c *Client) Comments(ctx context.Context, repo precedent.Repo, number int) ([]forge.Comment, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("read comments of %s#%d", repo, number))
	issue, err := wire.List[wire.Comment](do, "issues/%d/comments", number)
	if err != nil && !forge.IsPartial(err) {
		return nil, err
	}
	talk, err2 := c.discussion(do, number)
	if err2 != nil && !forge.IsPartial(err2) {
		return nil, err2
	}
	var all []forge.Comment
	for _, m := range issue {
		all = append(all, c.OnThread(m))
	}
	all = append(all, talk.reviewTexts(c)...)
	for _, m := range talk.inline {
		all = append(all, m.Comment)
	}
	if slices.ContainsFunc(all, forge.IsIncomplete) {
		return nil, do.Unexpected(forge.IncompleteComment)
	}
	return forge.SortComments(all), cmp.Or(err, err2)
}

// ReadComment reads one comment on a pull request. For one on lines it reads the reviews of the pull request:
// Gitea returns no other comment by its id than those on the pull request as a whole.
func (c *Client) ReadComment(ctx context.Context, repo precedent.Repo, number int, m forge.CommentRef) (forge.Comment,
	error,
) {
	do := c.Begin(ctx, repo, fmt.Sprintf("read comment %s on %s#%d", m.ID, repo, number), m.ID)
	found, err := c.find(do, number, m)
	if err == nil && found == nil {
		err = forge.NoComment(do.Doing())
	}
	if err != nil {
		return forge.Comment{}, err
	}
	return found.Comment, nil
}

// find returns a comment on a pull request; nil if it does not exist.
func (c *Client) find(do wire.Call, number int, m forge.CommentRef) (*inline, error) {
	var found inline
	var err error
	switch m.Kind {
	case forge.OnThread:
		var one wire.Comment
		err = do.Get(&one, "issues/comments/%d", m.ID.Number())
		if err == nil && (one.ID == 0 || one.Number() != number) { // 204: a comment of another kind
			return nil, nil
		}
		found.Comment = c.OnThread(&one)
	case forge.OnReview:
		var one wire.Review
		err = do.Get(&one, "pulls/%d/reviews/%d", number, m.ID.Number())
		if one.State == statePending {
			return nil, nil
		}
		found.Comment = c.OnReview(&one)
	case forge.OnLine:
		talk, wrong := c.discussion(do, number)
		i := slices.IndexFunc(talk.inline, func(at inline) bool { return at.ID == m.ID })
		if i >= 0 {
			return &talk.inline[i], nil
		}
		if err = wrong; err == nil {
			return nil, nil
		}
	default:
		err = do.Refuse(forge.KindRefused, "unknown kind of comment %q", m.Kind)
	}
	if wire.Status(err) == http.StatusNotFound {
		return nil, nil
	}
	return &found, err
}

// discussion is the reviews of a pull request and their inline comments.
type discussion struct {
	reviews []*wire.Review // without pending ones
	inline  []inline       // oldest first
}

// inline is an inline comment with its place in Gitea.
type inline struct {
	forge.Comment
	at     spot
	closed *wire.User // who resolved it
	hunk   string
}

// discussion reads the reviews and their inline comments.
func (c *Client) discussion(do wire.Call, number int) (discussion, error) {
	var t discussion
	listed, more := wire.List[wire.Review](do, "pulls/%d/reviews", number)
	if more != nil && !forge.IsPartial(more) {
		return t, more
	}
	seen := map[int64]bool{}
	asked := 0
	for _, r := range listed {
		if r.State == statePending || seen[r.ID] { // the account's own pending reviews are listed
			continue
		}
		seen[r.ID] = true
		t.reviews = append(t.reviews, r)
		if r.Comments == 0 {
			continue
		}
		if asked++; asked > maxReviews {
			more = do.Refuse(forge.KindTooLarge, "only the first %d reviews with comments on lines were read", maxReviews)
			break
		}
		remarks, err := c.remarks(do, number, r)
		if err != nil && wire.Status(err) != http.StatusNotFound { // 404: deleted meanwhile
			return t, err
		}
		t.inline = append(t.inline, remarks...)
	}
	linkReplies(t.inline)
	return t, more
}

// reviewTexts are the texts of the reviews.
func (t *discussion) reviewTexts(c *Client) []forge.Comment {
	var all []forge.Comment
	for _, r := range t.reviews {
		if r.Body != "" {
			all = append(all, c.OnReview(r))
		}
	}
	return all
}

// remarks reads the inline comments of one review, oldest first.
func (c *Client) remarks(do wire.Call, number int, r *wire.Review) ([]inline, error) {
	listed, err := wire.GetList[wire.Comment](do, "pulls/%d/reviews/%d/comments", number, r.ID)
	var all []inline
	for _, m := range listed {
		all = append(all, c.onLine(m, r))
	}
	slices.SortFunc(all, func(a, b inline) int { return a.ID.Compare(b.ID) }) // Gitea returns them in no particular order
	return all, err
}

// reviewWindow is how long Gitea may take to create the comments of one review: it
// creates them one by one, each with its hunk.
const reviewWindow = 10 * time.Second

// linkReplies sorts comments by time and makes those on one spot replies to the
// first. Comments of the same review as the first are not replies, although Gitea
// shows them in one conversation: a review can have two remarks on a line.
func linkReplies(all []inline) {
	slices.SortStableFunc(all, func(a, b inline) int { return cmp.Or(a.At.Compare(b.At), a.ID.Compare(b.ID)) })
	first, begun := map[spot]*inline{}, map[spot]bool{}
	for i := range all {
		m := &all[i]
		root := first[m.at]
		switch {
		case root == nil:
			first[m.at] = m
		case !begun[m.at] && m.Author.ID == root.Author.ID && m.Review == root.Review && m.At.Sub(root.At) <= reviewWindow:
			if m.closed == nil {
				m.closed = root.closed // Gitea shows them as one conversation
			}
		default:
			begun[m.at], m.ReplyTo = true, root.ID
		}
	}
}

// onLine converts an inline comment. Its lines refer to the commit of the review. Gitea knows which comments
// are outdated, but only tells whether the diff has changed since the review.
func (c *Client) onLine(m *wire.Comment, r *wire.Review) inline {
	out := inline{Comment: c.OnThread(m), closed: m.Resolver, hunk: m.DiffHunk}
	out.Kind, out.Review, out.Outdated, out.Votes = forge.OnLine, precedent.NumberID(m.Review), r.Stale, -1
	out.Commit = cmp.Or(r.CommitID, m.Commit)
	out.Span, out.at = position(m, out.Commit)
	return out
}

// spot is the place of an inline comment in Gitea. Comments on one spot form a conversation.
type spot struct {
	path     string
	new, old int // the line, on one of the sides
	commit   string
}

// lineNumber converts a line number; 0 if it is not plausible.
func lineNumber(n uint64) int {
	if n > math.MaxInt32 {
		return 0
	}
	return int(n)
}

// position returns the lines of an inline comment, and its spot. In Gitea the position is the line in the
// commit of the review; in Forgejo it is the line in the commit that last changed it. Both return a hunk that
// ends with the line, which has the number in the commit of the review.
func position(m *wire.Comment, commit string) (precedent.Span, spot) {
	at := spot{path: m.Path, new: lineNumber(m.NewLine), old: lineNumber(m.OldLine), commit: commit}
	side, line := precedent.Right, at.new
	if at.old > 0 {
		side, line = precedent.Left, at.old
	}
	if shown := lastLine(m.DiffHunk, side); shown > 0 {
		line = shown
	}
	return precedent.Span{Path: m.Path, Side: side, Start: line, End: line}, at
}

var hunkHeader = text.Pattern(`^@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@`)

// lastLine returns the number of the last line of a hunk on a side; 0 if it is not on that side.
func lastLine(hunk string, side precedent.Side) int {
	header, body, _ := strings.Cut(strings.TrimRight(hunk, "\n"), "\n")
	found := hunkHeader().FindStringSubmatch(header)
	if found == nil || body == "" {
		return 0
	}
	before, _ := strconv.Atoi(found[1]) // nine digits are a number
	after, _ := strconv.Atoi(found[2])
	last := 0
	for line := range strings.SplitSeq(body, "\n") {
		old, added := 0, 0
		switch {
		case strings.HasPrefix(line, "\\"):
			continue // "No newline at end of file"
		case strings.HasPrefix(line, "-"):
			old = before
			before++
		case strings.HasPrefix(line, "+"):
			added = after
			after++
		default:
			old, added = before, after
			before++
			after++
		}
		if last = added; side == precedent.Left {
			last = old
		}
	}
	return last
}
