package github

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// The lists of comments. Reviews have none of their own, and come with their pull requests.
const (
	streamPulls  forge.HistoryStream = "pulls"
	streamInline forge.HistoryStream = "inline"
)

// Streams are the pull requests with the texts of their reviews, the comments on lines, and the
// comments on pull requests as a whole.
func (c *Client) Streams() []forge.HistoryStream {
	return []forge.HistoryStream{streamPulls, streamInline, forge.StreamWhole}
}

// History reads one page of a list, the least recently updated first. Pull requests are read
// from the list of issues, because only that can begin at a time. Submitting a review updates
// its pull request; whether editing one does is not documented.
func (c *Client) History(ctx context.Context, repo precedent.Repo, q forge.HistoryQuery) (forge.HistoryPage, error) {
	do := c.Begin(ctx, repo, "list "+string(q.Stream)+" history of "+repo.String())
	switch q.Stream {
	case streamPulls:
		return c.pullHistory(do, q)
	case streamInline:
		return c.commentHistory(do, "pulls/comments?", q, c.pastOnLine)
	case forge.StreamWhole:
		return c.commentHistory(do, "issues/comments?", q, func(m *wire.Comment) forge.Comment {
			out := c.OnThread(m)
			out.Member = isMember(m.Association)
			return out
		})
	}
	return forge.HistoryPage{}, do.Refuse(forge.KindRefused, "GitHub has no such list")
}

func (c *Client) commentHistory(do wire.Call, path string, q forge.HistoryQuery,
	convert func(*wire.Comment) forge.Comment,
) (forge.HistoryPage, error) {
	listed, page, err := readByTime(do, q, path, func(m *wire.Comment) entry { return entry{m.ID, m.UpdatedAt.UTC()} })
	for _, m := range listed {
		if m.PullURL == "" && !strings.Contains(m.HTMLURL, "/pull/") { // it is on an issue
			continue
		}
		one := forge.NumberedComment{Number: m.Number(), Comment: convert(m)}
		if one.Number == 0 || forge.IsIncomplete(one.Comment) {
			return page, do.Unexpected("a comment has no id, no time or no pull request")
		}
		page.Comments = append(page.Comments, one)
	}
	return page, err
}

func (c *Client) pullHistory(do wire.Call, q forge.HistoryQuery) (forge.HistoryPage, error) {
	listed, page, err := readByTime(do, q, "issues?state=all&", func(i *wire.Pull) entry {
		return entry{int64(i.Number), i.UpdatedAt.UTC()}
	})
	if err != nil {
		return page, err
	}
	listed = slices.DeleteFunc(listed, func(i *wire.Pull) bool { return i.PullRequest == nil })
	for _, i := range listed {
		if i.Number <= 0 || i.NodeID == "" {
			return page, do.Unexpected("a pull request has no number or no id")
		}
		page.Pulls = append(page.Pulls, i.Past())
	}
	err = c.pastReviews(do, listed, &page)
	return page, err
}

// pastOnLine converts an inline comment, at the lines for which it was written.
func (c *Client) pastOnLine(m *wire.Comment) forge.Comment {
	out := c.onLine(m)
	out.Member, out.Hunk = isMember(m.Association), forge.CutHunk(m.DiffHunk)
	if m.OriginalCommit != "" {
		out.Commit = m.OriginalCommit
	}
	if m.OriginalLine > 0 && m.SubjectType != "file" {
		out.Span = lines(m, out.Span.Side, m.OriginalStartLine, m.OriginalLine)
	}
	return out
}

// entry is what orders a list, and identifies an entry of it.
type entry struct {
	id      int64
	updated time.Time
}

// place is where a list continues.
type place struct {
	since time.Time
	page  int   // from 1, of the entries since then
	last  int64 // id of the last entry of the page before; 0 on the first
}

// String returns the cursor of the place.
func (p place) String() string {
	return fmt.Sprintf("%s %d %d", p.since.UTC().Format(time.RFC3339), p.page, p.last)
}

// placeOf parses the cursor of a query.
func placeOf(do wire.Call, q forge.HistoryQuery) (place, error) {
	if q.Cursor == "" {
		return place{since: q.Since.UTC().Truncate(time.Second), page: 1}, nil
	}
	fields := strings.Fields(q.Cursor)
	if len(fields) == 3 {
		since, err1 := time.Parse(time.RFC3339, fields[0])
		page, err2 := strconv.Atoi(fields[1])
		last, err3 := strconv.ParseInt(fields[2], 10, 64)
		if err1 == nil && err2 == nil && err3 == nil && page > 0 {
			return place{since, page, last}, nil
		}
	}
	return place{}, do.Refuse(forge.KindRefused, "the cursor is not one of GitHub's lists")
}

// readByTime reads the entries at a place of a list that is sorted by the time of their last
// update. Next it continues from the time of the last entry, with page 1: an entry that is edited
// meanwhile moves to the end, so numbered pages would skip others. Only where a page has one and
// the same time, the pages are counted. Then, the page before must still end with the same entry;
// otherwise some may have been skipped, and reading begins again at that time.
func readByTime[T any](do wire.Call, q forge.HistoryQuery, path string, of func(*T) entry) ([]*T, forge.HistoryPage,
	error,
) {
	var page forge.HistoryPage
	p, err := placeOf(do, q)
	if err != nil {
		return nil, page, err
	}
	listed, last, err := readPage[T](do, p, path)
	if err != nil {
		return nil, page, err
	}
	sorted := true
	if p.page > 1 {
		before, _, err := readPage[T](do, place{p.since, p.page - 1, 0}, path)
		if err != nil {
			return nil, page, err
		}
		if len(before) == 0 || of(before[len(before)-1]).id != p.last {
			page.Next, page.Through = place{since: p.since, page: 1}.String(), p.since
			return listed, page, nil
		}
		sorted = isSorted(append(before, listed...), of)
	}
	page.Through = p.since
	sorted = sorted && isSorted(listed, of)
	if len(listed) > 0 && sorted {
		if at := of(listed[len(listed)-1]).updated; at.After(p.since) {
			page.Through = at
		}
	}
	// GitHub's text says "after the given time", so the second before it is asked for.
	from := page.Through.Add(-time.Second)
	switch {
	case last:
	case from.After(p.since):
		page.Next = place{since: from, page: 1}.String()
	default:
		page.Next = place{p.since, p.page + 1, of(listed[len(listed)-1]).id}.String()
	}
	return listed, page, nil
}

// isSorted reports whether the entries are in the order in which they were updated. A server that
// does not sort them is read by numbered pages.
func isSorted[T any](listed []*T, of func(*T) entry) bool {
	return slices.IsSortedFunc(listed, func(a, b *T) int { return of(a).updated.Compare(of(b).updated) })
}

// readPage reads one page, and reports whether it is the last one.
func readPage[T any](do wire.Call, p place, path string) ([]*T, bool, error) {
	path += "sort=updated&direction=asc&since=" + p.since.Format(time.RFC3339)
	listed, header, err := wire.ListPage[T](do, p.page, perPage, path)
	return listed, isLast(header, p.page, len(listed), 0), err
}

const (
	pullsPerQuery  = 50 // with reviewsPerPull, 2,550 nodes: GitHub allows 500,000, but also only 10 s
	reviewsPerPull = 50
)

// reviewPage is a page of the reviews of a pull request.
type reviewPage struct {
	PageInfo pageInfo
	Nodes    []reviewNode
}

// reviewNode is a review as GraphQL returns it: unlike REST, with the time of its last edit.
type reviewNode struct {
	FullDatabaseID    bigInt
	State, Body, URL  string
	SubmittedAt       *time.Time
	UpdatedAt         time.Time
	AuthorAssociation string
	Author            *struct {
		Typename   string `json:"__typename"`
		Login      string
		DatabaseID int64
	}
}

// pastReviews adds the texts of the reviews of pull requests to a page. If the answer for several of them is too large or
// takes too long, or the query has more than GitHub's resource limits allow, it is asked for half as many.
func (c *Client) pastReviews(do wire.Call, pulls []*wire.Pull, page *forge.HistoryPage) error {
	tooMany := []forge.ErrorKind{forge.KindServer, forge.KindTooLarge, forge.KindInvalid}
	for some := range slices.Chunk(pulls, pullsPerQuery) {
		said, cut, err := c.reviewsOf(do, some)
		if half := len(some) / 2; half > 0 && slices.Contains(tooMany, forge.KindOf(err)) {
			if err = c.pastReviews(do, some[:half], page); err == nil {
				err = c.pastReviews(do, some[half:], page)
			}
		}
		if err != nil {
			return err
		}
		page.Comments, page.Cut = append(page.Comments, said...), append(page.Cut, cut...)
	}
	return nil
}

// reviewsOf asks for the reviews of at most pullsPerQuery pull requests.
func (c *Client) reviewsOf(do wire.Call, pulls []*wire.Pull) (said []forge.NumberedComment, cut []int, err error) {
	ids := make([]string, len(pulls))
	for i, p := range pulls {
		ids[i] = p.NodeID
	}
	first, err := c.askReviews(do, pulls, ids, nil)
	if err != nil {
		return nil, nil, err
	}
	for i, page := range first {
		for pages := 1; ; pages++ {
			for _, r := range page.Nodes {
				if r.SubmittedAt == nil || r.Body == "" {
					continue
				}
				if r.FullDatabaseID <= 0 {
					return nil, nil, do.Unexpected("a review has no id")
				}
				said = append(said, forge.NumberedComment{Number: pulls[i].Number, Comment: c.pastReview(r)})
			}
			if !page.PageInfo.HasNextPage {
				break
			}
			if pages == maxPages {
				cut = append(cut, pulls[i].Number)
				break
			}
			more, err := c.askReviews(do, pulls[i:i+1], ids[i:i+1], &page.PageInfo.EndCursor)
			if err != nil {
				return nil, nil, err
			}
			page = more[0]
		}
	}
	return said, cut, nil
}

// askReviews asks for a page of the reviews of each pull request.
func (c *Client) askReviews(do wire.Call, pulls []*wire.Pull, ids []string, after *string) ([]reviewPage, error) {
	var got struct {
		Nodes []*struct {
			Number  int
			Reviews reviewPage
		}
	}
	err := c.query(do, queryReviews, map[string]any{"ids": ids, "first": reviewsPerPull, "after": after}, &got)
	if err != nil {
		return nil, err
	}
	if len(got.Nodes) != len(ids) {
		return nil, do.Unexpected("it does not match the query")
	}
	out := make([]reviewPage, len(ids))
	for i, n := range got.Nodes {
		if n == nil || n.Number != pulls[i].Number {
			return nil, do.Unexpected("a pull request is missing")
		}
		out[i] = n.Reviews
	}
	return out, nil
}

// pastReview converts a review. The login of a bot lacks its suffix in GraphQL.
func (c *Client) pastReview(r reviewNode) forge.Comment {
	at, edited := r.SubmittedAt.UTC(), r.UpdatedAt.UTC()
	out := forge.Comment{
		ID: precedent.NumberID(int64(r.FullDatabaseID)), Kind: forge.OnReview, URL: c.Pages().Own(r.URL), At: at, Edited: edited,
		Author: forge.Person{Login: "ghost"}, Blocks: r.State == wire.BlocksOnGitHub, Member: isMember(r.AuthorAssociation),
	}
	if edited.Before(at) {
		out.Edited = at
	}
	if r.Author != nil && r.Author.DatabaseID > 0 {
		out.Author = forge.Person{
			ID: precedent.NumberID(r.Author.DatabaseID), Login: r.Author.Login, Bot: r.Author.Typename == "Bot",
		}
		if out.Author.Bot {
			out.Author.Login += "[bot]"
		}
	}
	out.Body, out.Cut = forge.CutBody(r.Body)
	return out
}
