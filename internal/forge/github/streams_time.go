package github

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

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
