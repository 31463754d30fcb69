package gitea

import (
	"context"
	"fmt"
	"net/http"
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

// History reads one page of a list, the least recently updated first. Writing a comment updates
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
	list := windows[wire.Comment]{do, c.now, "issues/comments", perPage, func(m *wire.Comment) int64 { return m.ID }}
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
	list := windows[wire.Pull]{
		do, c.now, "issues?state=all&type=pulls", pullsPerPage, func(p *wire.Pull) int64 { return int64(p.Number) },
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

// windows reads a list that Gitea does not sort by updates: numbered pages would skip entries when others are
// deleted or edited. A window of time that fits on one page has all that was there at one moment, and what is
// edited later is in a later window. A window with more is made smaller. Only in one of a second, pages are
// counted. Then, the page before must still end with the same entry; otherwise some may have been skipped, and
// reading begins again at the first.
type windows[T any] struct {
	do   wire.Call
	now  func() time.Time
	path string
	size int // of a page
	id   func(*T) int64
}

// window is a time of last updates, in whole seconds, both ends included.
type window struct{ from, to time.Time }

// place is where a list continues.
type place struct {
	from  time.Time
	width time.Duration // of the window to try first; 0 for all that is left
	page  int           // from 1; above 1 only in a window that is too small to be split
	last  int64         // id of the last entry of the page before; 0 on the first
}

// String returns the cursor of the place.
func (p place) String() string {
	return fmt.Sprintf("%s %d %d %d", p.from.UTC().Format(time.RFC3339), int64(p.width/time.Second), p.page, p.last)
}

// placeOf parses the cursor of a query.
func placeOf(q forge.HistoryQuery) (place, error) {
	if q.Cursor == "" {
		return place{from: q.Since.UTC().Truncate(time.Second), page: 1}, nil
	}
	fields := strings.Fields(q.Cursor)
	if len(fields) == 4 {
		from, err1 := time.Parse(time.RFC3339, fields[0])
		width, err2 := strconv.ParseInt(fields[1], 10, 32)
		page, err3 := strconv.Atoi(fields[2])
		last, err4 := strconv.ParseInt(fields[3], 10, 64)
		if err1 == nil && err2 == nil && err3 == nil && err4 == nil && width >= 0 && page > 0 {
			return place{from, time.Duration(width) * time.Second, page, last}, nil
		}
	}
	return place{}, &forge.Error{Kind: forge.KindRefused, Msg: "the cursor is not one of Gitea's lists"}
}

const (
	smallest = time.Second // of a window
	// beyond is how far the last window ends after the last response: clocks differ, and what is
	// written meanwhile may be in it, too.
	beyond = 24 * time.Hour
)

// read reads the entries of a window.
func (l windows[T]) read(q forge.HistoryQuery) ([]*T, forge.HistoryPage, error) {
	var page forge.HistoryPage
	p, err := placeOf(q)
	if err != nil {
		return nil, page, l.do.Fail(err)
	}
	for split := false; ; split = true {
		end := l.now()
		w := window{p.from, p.from.Add(p.width)}
		whole := !split && (p.width == 0 || w.to.After(end))
		if whole {
			w.to = later(end, p.from).Add(beyond)
		}
		listed, total, err := l.part(w, p.page)
		if err != nil {
			return nil, page, err
		}
		fits := p.page == 1 && len(listed) >= total
		switch {
		case fits && whole:
			// What is written from now on is for the next time.
			page.Through = later(p.from, l.now())
			return listed, page, nil
		case fits:
			page.Through = w.to
			page.Next = place{from: w.to, width: wider(p.width, len(listed), l.size), page: 1}.String()
			return listed, page, nil
		case p.page > 1 || p.width == smallest && !whole:
			return l.second(p, w, listed)
		}
		span := w.to.Sub(w.from)
		if left := end.Sub(w.from); whole && left > 0 {
			span = left
		}
		p.width = narrower(span, l.size, total)
	}
}

// second goes on with numbered pages, in a window that is too small to be split.
func (l windows[T]) second(p place, w window, listed []*T) ([]*T, forge.HistoryPage, error) {
	page := forge.HistoryPage{Through: p.from}
	if p.page > 1 {
		before, _, err := l.part(w, p.page-1)
		if err != nil {
			return nil, page, err
		}
		// The server may have smaller pages than asked for, so only an empty one is the last.
		if len(before) == 0 || l.id(before[len(before)-1]) != p.last {
			page.Next = place{from: p.from, width: p.width, page: 1}.String()
			return listed, page, nil
		}
	}
	if len(listed) == 0 {
		page.Through = w.to
		page.Next = place{from: w.to, width: p.width, page: 1}.String()
		return listed, page, nil
	}
	page.Next = place{p.from, p.width, p.page + 1, l.id(listed[len(listed)-1])}.String()
	return listed, page, nil
}

// part reads a page of a window, and returns how many entries the window has.
func (l windows[T]) part(w window, number int) ([]*T, int, error) {
	and := "?"
	if strings.Contains(l.path, "?") {
		and = "&"
	}
	path := l.path + and + "before=" + w.to.Format(time.RFC3339)
	if !w.from.IsZero() {
		path += "&since=" + w.from.Format(time.RFC3339)
	}
	listed, header, err := wire.ListPage[T](l.do, number, l.size, path)
	if err != nil {
		return nil, 0, err
	}
	total, err := strconv.Atoi(header.Get("X-Total-Count"))
	if err != nil || total < 0 {
		if total = (number-1)*l.size + len(listed); len(listed) >= l.size {
			total++ // it may be more
		}
	}
	return listed, total, nil
}

// now returns the time of the last response by the clock of the server, or else of this machine.
func (c *Client) now() time.Time {
	at := c.Quota().At
	if at.IsZero() {
		at = c.Now()
	}
	return at.UTC().Truncate(time.Second)
}

// narrower returns the width of a window that is likely to have no more than a page.
func narrower(width time.Duration, size, total int) time.Duration {
	likely := time.Duration(float64(width) * float64(size) / float64(total) * 3 / 4)
	return max(min(likely, width/2).Truncate(time.Second), smallest)
}

// wider returns the width to try after a window that had so many entries.
func wider(width time.Duration, found, size int) time.Duration {
	if found <= size/2 {
		return width * 2
	}
	return width
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
