package gitea

import (
	"fmt"
	"slices"
	"strconv"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent/internal/forge"
)

const (
	perPage  = 50       // the most that a server gives as it is installed (MAX_RESPONSE_ITEMS)
	maxPages = 100      // of one list
	maxList  = 64 << 20 // bytes of one list
)

// listAll reads a list to its end. A server may give fewer entries a page than it
// is asked for, leave some out that the account may not see, or ignore pages and
// give all: the header that counts the entries tells whether there are more.
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
