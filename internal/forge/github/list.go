package github

import (
	"fmt"
	"slices"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

const (
	perPage  = 100      // GitHub's maximum
	maxPages = 50       // of one list
	maxList  = 64 << 20 // bytes of one list
)

// listAll reads all pages of a list. Only the presence of the next link in the header
// is used, not its URL: an unchanged page comes from the cache with its old header,
// and the URL could lead anywhere. A page that is not full and has no next link is
// the last one.
func listAll[T any](c *Client, doing string, read func(gh.ListOptions) ([]*T, *gh.Response, error)) ([]*T, error) {
	var all []*T
	size := int64(0)
	for page := 1; page <= maxPages && size <= maxList; page++ {
		got, resp, err := read(gh.ListOptions{Page: page, PerPage: perPage})
		if err != nil {
			return nil, c.wire.Fail(doing, err)
		}
		if slices.Contains(got, nil) {
			return nil, wire.UnexpectedAnswer(doing, "a list entry is null")
		}
		all = append(all, got...)
		if len(got) == 0 || len(got) < perPage && resp.NextPage == 0 {
			return all, nil
		}
		size += resp.ContentLength
	}
	return all, &forge.Error{Kind: forge.KindTooLarge, Msg: fmt.Sprintf("%s: only the first %d were read", doing, len(all))}
}
