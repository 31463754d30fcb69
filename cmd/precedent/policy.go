package main

import (
	"context"

	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/workflow"
)

// heldPolicy is the repository's policy as far as it holds, and where it stands.
type heldPolicy = workflow.Policy

// readPolicy reads the policy that holds for a range.
func readPolicy(ctx context.Context, repo *git.Repo, blobs *git.Blobs, rg git.Range) (heldPolicy, error) {
	return workflow.ReadPolicy(ctx, repo, blobs, rg)
}

// wrong tells whether any of the errors of a policy is more than a notice.
func wrong(errs []error) bool { return workflow.HasErrors(errs) }
