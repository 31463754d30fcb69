package wire

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// maxList bounds one list, in bytes.
const maxList = 64 << 20

// Paging is how a forge divides lists into pages, which are requested by number.
type Paging struct {
	Size    string // the parameter for the size of a page
	PerPage int    // its usual value
	Most    int    // pages of one list that are read
	// Last reports whether a page of got entries is the last one, after which there are all.
	Last func(h http.Header, page, got, all int) bool
}

// page adds the parameters of a page to a path.
func (c Call) page(path string, number, size int) string {
	and := "?"
	if strings.Contains(path, "?") {
		and = "&"
	}
	return fmt.Sprintf("%s%spage=%d&%s=%d", path, and, number, c.t.o.Paging.Size, size)
}

// List reads all pages of a list. Of more than is read it returns the beginning and a KindTooLarge error.
func List[T any](c Call, path string, args ...any) ([]*T, error) {
	return ListIn(c, func(page []*T) []*T { return page }, path, args...)
}

// ListIn is List for pages that are objects with the entries in a field.
func ListIn[P, T any](c Call, entries func(P) []*T, path string, args ...any) ([]*T, error) {
	path = fmt.Sprintf(path, args...)
	read := func(page int, into any) (reply, error) {
		return c.send(http.MethodGet, nil, into, nil, "%s", c.page(path, page, c.t.o.Paging.PerPage))
	}
	return readList(c, read, entries)
}

// GetList reads a list that has no pages.
func GetList[T any](c Call, path string, args ...any) ([]*T, error) {
	all, _, _, err := GetPage[T](c, path, args...)
	return all, err
}

// ListPage reads one page of a list.
func ListPage[T any](c Call, number, size int, path string) ([]*T, http.Header, error) {
	all, header, _, err := GetPage[T](c, "%s", c.page(path, number, size))
	return all, header, err
}

// GetPage reads a part of a list, and returns the header of the response and the path of the address that answered, which
// differs after a redirect.
func GetPage[T any](c Call, path string, args ...any) (got []*T, header http.Header, at string, err error) {
	r, err := c.send(http.MethodGet, nil, &got, nil, path, args...)
	if err == nil && slices.Contains(got, nil) {
		err = c.Unexpected("a list entry is null")
	}
	if err != nil {
		return nil, nil, "", err
	}
	return got, r.header, r.path, nil
}

// readList reads pages until the last one.
func readList[P, T any](c Call, read func(page int, into any) (reply, error), entries func(P) []*T) ([]*T, error) {
	var all []*T
	size := 0
	for page := 1; page <= c.t.o.Paging.Most && size <= maxList; page++ {
		var got P
		r, err := read(page, &got)
		if err != nil {
			return nil, err
		}
		some := entries(got)
		if slices.Contains(some, nil) {
			return nil, c.Unexpected("a list entry is null")
		}
		all = append(all, some...)
		if c.t.o.Paging.Last(r.header, page, len(some), len(all)) {
			return all, nil
		}
		size += len(r.body)
	}
	return all, c.Refuse(forge.KindTooLarge, "only the first %d were read", len(all))
}

var errUnchanged = errors.New("the list is unchanged")

// OpenPulls reads the open pull requests, the most recently updated first, without files and bodies. If the first page is
// unchanged, so are the others: whatever is updated moves to it, and it tells the number of what is open. A list of at
// least each entries is nevertheless read again from time to time.
func (s *Site) OpenPulls(c Call, repo precedent.Repo, each int, path string,
	convert func(Call, *Pull) (forge.PullRequest, error),
) ([]forge.PullRequest, error) {
	known := s.poll(repo, each)
	tag := ""
	read := func(page int, into any) (reply, error) {
		path := c.page(path, page, c.t.o.Paging.PerPage)
		if page > 1 {
			return c.send(http.MethodGet, nil, into, nil, "%s", path)
		}
		var if304 http.Header
		if strings.Contains(known.tag, `"`) {
			if304 = http.Header{"If-None-Match": {known.tag}}
		}
		r, err := c.With(keptKey{}, true).send(http.MethodGet, nil, into, if304, "%s", path)
		if err != nil {
			return r, err
		}
		tag = pageTag(r)
		if r.status == http.StatusNotModified || tag != "" && tag == known.tag {
			return r, errUnchanged
		}
		return r, nil
	}
	listed, err := readList(c, read, func(page []*Pull) []*Pull { return page })
	switch {
	case errors.Is(err, errUnchanged):
		return slices.Clone(known.pulls), nil
	case err != nil:
		return nil, err
	}
	open, size := make([]forge.PullRequest, 0, len(listed)), overhead
	seen := map[int]bool{} // one that is updated meanwhile moves to the front, and shifts the others
	for _, p := range listed {
		read, err := convert(c, p)
		if err != nil {
			return nil, err
		}
		if !seen[read.Number] {
			seen[read.Number], read.Body = true, ""
			open, size = append(open, read), size+overhead+len(read.Title)
		}
	}
	s.polls.put(repo, poll{tag, open, s.Now()}, size)
	return slices.Clone(open), nil
}

// pageTag identifies a page and how many entries there are: by its ETag, or where a forge has none by a hash.
// It is empty if that is not known.
func pageTag(r reply) string {
	if tag := r.header.Get("ETag"); tag != "" {
		return tag
	}
	if total := r.header.Get("X-Total-Count"); total != "" {
		return fmt.Sprintf("%s %x", total, sha256.Sum256(r.body))
	}
	return ""
}
