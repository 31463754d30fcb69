package pull

import (
	"context"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/gate"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/run"
)

// BasePolicy reads the policy at the tip of the base branch. It fetches if the commit is not
// there. Parts with errors have no effect, which a review says.
func (p *Pull) BasePolicy(ctx context.Context) (precedent.Policy, error) {
	if policy, err := p.policyAt(ctx, p.Base.SHA); err == nil || ctx.Err() != nil {
		return policy, ctx.Err()
	}
	f, err := p.fetch(ctx)
	if err != nil {
		return precedent.Policy{}, err
	}
	if f.Patched {
		p.Env.Notice(ctx, "%v; the policy of #%d is not known", f.FetchError, p.Number)
		return precedent.Policy{}, nil
	}
	return p.policyAt(ctx, p.Base.SHA)
}

func (p *Pull) policyAt(ctx context.Context, commit string) (precedent.Policy, error) {
	repo := p.Repo.commits.Repo
	blobs := repo.Blobs(ctx)
	at, err := run.OpenBase(ctx, repo, blobs, commit, guide.PolicyFile)
	if err != nil {
		return precedent.Policy{}, err
	}
	policy, err := run.ReadPolicy(ctx, repo, at, git.Range{Kind: git.PullRequest, BaseCommit: commit})
	return policy.Policy, err
}

// RunGate exports a tree, of the head or of a change to it, and runs the commands that the base names.
func (p *Pull) RunGate(ctx context.Context, g *gate.Runner, s run.Subject, rev string,
	policy precedent.Gate,
) (gate.Result, error) {
	base := run.FilesAt(s.Blobs, s.Range.BaseCommit)
	return run.Gate(ctx, p.Env, s.Repo, g, gate.Request{
		Repo: p.Repo.Repo, Base: s.Range.BaseCommit, Read: base, Trust: gate.Pull, Policy: policy,
		Commands: gate.Discover(policy, gate.ReadDocuments(base)),
	}, rev)
}
