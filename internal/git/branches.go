package git

import (
	"context"
	"strings"
)

// maxBranches limits what Branches returns.
const maxBranches = "1000"

// Branches returns the short names of branches, those of remotes, and tags, the newest
// first, at most 1,000.
func (r *Repo) Branches(ctx context.Context) ([]string, error) {
	out, err := r.run(ctx, call{op: "list branches", view: real, args: []string{
		"for-each-ref", "--count=" + maxBranches, "--sort=-creatordate", "--format=%(refname:short)", "refs/heads",
		"refs/remotes", "refs/tags",
	}}, configBytes)
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(out)), nil
}
