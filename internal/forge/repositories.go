package forge

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
)

// SortRepositories sorts a list, each once. Of more than MaxRepositories it returns that many and a
// KindTooLarge error.
func SortRepositories(doing string, all []precedent.Repo) ([]precedent.Repo, error) {
	slices.SortFunc(all, func(a, b precedent.Repo) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Name, b.Name))
	})
	all = slices.Compact(all)
	if len(all) <= MaxRepositories {
		return all, nil
	}
	return all[:MaxRepositories], &Error{
		Kind: KindTooLarge, Msg: fmt.Sprintf("%s: only the first %d of %d are used", doing, MaxRepositories, len(all)),
		Hint: "list the repositories in the configuration",
	}
}
