package gitea

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// The lists of comments. Gitea lists reviews and the comments on lines only of one pull request.
const streamPulls forge.HistoryStream = "pulls"

// pullsPerPage bounds the pull requests of a page, because each takes a request for its reviews
// and one for each review with comments on lines.
const pullsPerPage = 10

// Streams are the pull requests with their reviews and the comments on lines, and the comments
// on pull requests as a whole.
func (c *Client) Streams() []forge.HistoryStream {
	return []forge.HistoryStream{streamPulls, forge.StreamWhole}
}

// History reads one page of a list. Writing a comment updates
// its pull request; editing one on lines does not, so that only a list of everything finds it.
func (c *Client) History(ctx context.Context, repo precedent.Repo, q forge.HistoryQuery) (forge.HistoryPage, error) {
	do := c.Begin(ctx, repo, "list "+string(q.Stream)+" history of "+repo.String())
	switch q.Stream {
	case streamPulls:
		return c.pullHistory(do, q)
	case forge.StreamWhole:
		return c.issueHistory(do, q)
	}
	return forge.HistoryPage{}, do.Refuse(forge.KindRefused, "Gitea has no such list")
}

func (c *Client) issueHistory(do wire.Call, q forge.HistoryQuery) (forge.HistoryPage, error) {
	list := byCreation[wire.Comment]{
		do, c.now, "issues/comments?", perPage, false, func(m *wire.Comment) time.Time { return m.CreatedAt },
	}
	listed, page, err := list.read(q)
	for _, m := range listed {
		if m.PullURL == "" { // it is on an issue
			continue
		}
		one := forge.NumberedComment{Number: m.Number(), Comment: c.OnThread(m)}
		if one.Number == 0 || forge.IsIncomplete(one.Comment) {
			return page, do.Unexpected("a comment has no id, no time or no pull request")
		}
		page.Comments = append(page.Comments, one)
	}
	return page, err
}

func (c *Client) pullHistory(do wire.Call, q forge.HistoryQuery) (forge.HistoryPage, error) {
	list := byCreation[wire.Pull]{
		do, c.now, "issues?state=all&type=pulls&", pullsPerPage, true, func(p *wire.Pull) time.Time { return p.CreatedAt },
	}
	listed, page, err := list.read(q)
	if err != nil {
		return page, err
	}
	for _, p := range listed {
		if p.Number <= 0 || p.UpdatedAt.IsZero() {
			return page, do.Unexpected("a pull request has no number or no time")
		}
		page.Pulls = append(page.Pulls, p.Past())
		talk, err := c.discussion(do, p.Number)
		switch {
		case wire.Status(err) == http.StatusNotFound: // deleted meanwhile
			continue
		case forge.IsPartial(err):
			page.Cut = append(page.Cut, p.Number)
		case err != nil:
			return page, err
		}
		all := talk.reviewTexts(c)
		for _, m := range talk.inline {
			m.Hunk = forge.CutHunk(m.hunk)
			all = append(all, m.Comment)
		}
		for _, m := range all {
			if forge.IsIncomplete(m) {
				return page, do.Unexpected(forge.IncompleteComment)
			}
			page.Comments = append(page.Comments, forge.NumberedComment{Number: p.Number, Comment: m})
		}
	}
	return page, nil
}

// byCreation reads a list that Gitea sorts by creation, by numbered pages. Edits do not move its entries; new and deleted
// ones do. So each page is read together with the one before, and what is not older than the entry that was listed last
// counts, also if it comes again. If the page before begins after that entry, reading goes back by a page.
type byCreation[T any] struct {
	do      wire.Call
	now     func() time.Time
	path    string
	size    int  // of a page
	newest  bool // first
	created func(*T) time.Time
}

// place is where a list continues.
type place struct {
	since time.Time
	began time.Time // when the first page was read
	page  int       // from 1
	last  int64     // when the last entry so far was created, in seconds; 0 on the first page
}

// String returns the cursor of the place.
func (p place) String() string {
	return fmt.Sprintf("%s %s %d %d", p.since.UTC().Format(time.RFC3339), p.began.UTC().Format(time.RFC3339), p.page, p.last)
}

// placeOf parses the cursor of a query. In those of earlier versions, the second field is a number; they begin again.
func placeOf(q forge.HistoryQuery) (place, error) {
	if q.Cursor == "" {
		return place{since: q.Since.UTC().Truncate(time.Second), page: 1}, nil
	}
	fields := strings.Fields(q.Cursor)
	if len(fields) == 4 {
		since, err1 := time.Parse(time.RFC3339, fields[0])
		began, _ := time.Parse(time.RFC3339, fields[1])
		page, err2 := strconv.Atoi(fields[2])
		last, err3 := strconv.ParseInt(fields[3], 10, 64)
		switch {
		case err1 != nil || err2 != nil || err3 != nil || page <= 0:
		case began.IsZero():
			return place{since: since, page: 1}, nil
		default:
			return place{since, began, page, last}, nil
		}
	}
	return place{}, &forge.Error{Kind: forge.KindRefused, Msg: "the cursor is not one of Gitea's lists"}
}

// read reads the entries of a page. Only the last one has a Through: until then, entries of any time may follow.
func (l byCreation[T]) read(q forge.HistoryQuery) ([]*T, forge.HistoryPage, error) {
	var page forge.HistoryPage
	p, err := placeOf(q)
	if err != nil {
		return nil, page, l.do.Fail(err)
	}
	listed, all, err := l.part(p, p.page)
	if err != nil {
		return nil, page, err
	}
	end := len(listed) == 0 || all // the server may have smaller pages than asked for
	if p.page == 1 {
		p.began = l.now()
	} else {
		before, _, err := l.part(p, p.page-1)
		if err != nil {
			return nil, page, err
		}
		listed = append(before, listed...)
		older := func(one *T) bool { return !l.after(one, p.last) }
		if len(listed) == 0 || !older(listed[0]) {
			p.page--
			page.Next = p.String()
			return nil, page, nil
		}
		listed = slices.DeleteFunc(listed, func(one *T) bool { return older(one) && l.created(one).Unix() != p.last })
	}
	if end {
		// What is written from the first page on is for the next time.
		page.Through = p.began
		return listed, page, nil
	}
	p.page++
	if len(listed) > 0 {
		p.last = l.created(listed[len(listed)-1]).Unix()
	}
	page.Next = p.String()
	return listed, page, nil
}

// after reports whether an entry comes after those that were created at a time.
func (l byCreation[T]) after(one *T, at int64) bool {
	if l.newest {
		return l.created(one).Unix() < at
	}
	return l.created(one).Unix() > at
}

// part reads a page, and reports whether it has all entries.
func (l byCreation[T]) part(p place, number int) ([]*T, bool, error) {
	path := l.path
	if !p.since.IsZero() {
		path += "since=" + p.since.Format(time.RFC3339)
	}
	listed, header, err := wire.ListPage[T](l.do, number, l.size, path)
	total, unknown := strconv.Atoi(header.Get("X-Total-Count"))
	return listed, number == 1 && unknown == nil && len(listed) >= total, err
}

// now returns the time of the last response by the clock of the server, or else of this machine.
func (c *Client) now() time.Time {
	at := c.Quota().At
	if at.IsZero() {
		at = c.Now()
	}
	return at.UTC().Truncate(time.Second)
}
