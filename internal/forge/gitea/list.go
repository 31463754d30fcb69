package gitea

import (
	"fmt"
	"slices"
	"strconv"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent/internal/forge"
)

const (
	perPage  = 50       // the default maximum of a server (MAX_RESPONSE_ITEMS)
	maxPages = 100      // of one list
	maxList  = 64 << 20 // bytes of one list
)

// listAll reads all pages of a list. A server may return fewer entries on a page than
// requested, leave out some that the account cannot see, or ignore paging and return
// everything. The total in the header tells whether there are more.
func listAll[T any](c call, read func(sdk.ListOptions) ([]*T, *sdk.Response, error)) ([]*T, error) {
	var all []*T
	size := int64(0)
	for page := 1; page <= maxPages && size <= maxList; page++ {
		got, resp, err := read(sdk.ListOptions{Page: page, PageSize: perPage})
		if err != nil {
			return nil, c.fail(err)
		}
		if slices.Contains(got, nil) {
			return nil, c.unexpected("a list entry is null")
		}
		all = append(all, got...)
		total, err := strconv.Atoi(resp.Header.Get("X-Total-Count"))
		counted := err == nil && total >= 0
		if counted && len(all) >= total || len(got) == 0 && (!counted || page*perPage >= total) {
			return all, nil
		}
		size += resp.ContentLength
	}
	return all, &forge.Error{Kind: forge.KindTooLarge, Msg: fmt.Sprintf("%s: only the first %d were read", c.doing, len(all))}
}
