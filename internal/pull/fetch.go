package pull

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// The head is read headReads times at most, with a delay before the third and later
// reads: Gitea processes a push some seconds after git has received it.
const (
	headReads = 4
	headDelay = 2 * time.Second
)

// errNotFetched means that only the forge's diff can be read.
var errNotFetched = errors.New("git could not fetch the pull request: its files cannot be read")

type fetched struct {
	run.Subject
	Spec git.Pull
	// Patched means that git could not fetch, because of fetchError, and that only
	// patch, the forge's own diff, is available.
	Patched    bool
	patch      []byte
	FetchError error
}

// fetch fetches the commits. A head that moves meanwhile is read again, and one that
// the forge does not know yet is waited for.
func (p *Pull) fetch(ctx context.Context) (fetched, error) {
	for attempt := 0; ; attempt++ {
		f, err := p.fetchCommits(ctx)
		if errors.Is(err, git.ErrMoved) && attempt < headReads-1 {
			if attempt > 0 {
				p.Env.Notice(ctx, "git and %s report different heads of #%d: waiting", p.Conn.Host(), p.Number)
				if err := p.Env.Sleep(ctx, headDelay); err != nil {
					return f, err
				}
			}
			if err := p.read(ctx); err != nil {
				return f, err
			}
			continue
		}
		if err == nil {
			f.Blobs = f.Repo.Blobs(ctx)
		}
		return f, err
	}
}

// fetchCommits fetches with git; if git cannot, it reads the forge's diff.
func (p *Pull) fetchCommits(ctx context.Context) (fetched, error) {
	f := fetched{Subject: run.Subject{Repo: p.Repo.commits.Repo}}
	var err error
	if f.Spec, err = p.fetchSpec(ctx); err != nil {
		return f, err
	}
	if p.Repo.commits.Mirror {
		p.Env.Notice(ctx, "fetching %s#%d", p.Repo.Repo, p.Number)
	}
	f.Range, err = p.Repo.commits.Pull(ctx, f.Spec)
	if err == nil || errors.Is(err, git.ErrMoved) || ctx.Err() != nil {
		return f, err
	}
	return f, p.fetchPatch(ctx, &f, err)
}

// fetchPatch reads the forge's own diff, because git could not fetch.
func (p *Pull) fetchPatch(ctx context.Context, f *fetched, cause error) error {
	patch, unshown, err := p.Conn.Patch(ctx, p.Repo.Repo, p.Number)
	if err != nil {
		return workspace.Hinted(fmt.Errorf("%w; the forge returned no diff either: %w", cause, err), "%s",
			workspace.HintOf(cause))
	}
	// The forge's diff is that of the head as it is now.
	now, err := p.Conn.PullRequest(ctx, p.Repo.Repo, p.Number)
	switch {
	case err != nil:
		return p.Conn.Explain(err)
	case now.Head.SHA != p.Head.SHA:
		return workspace.Hinted(fmt.Errorf("pull request #%d: %w", p.Number, git.ErrMoved),
			"commits are being pushed to it: try again")
	}
	if errors.Is(cause, git.ErrFlawed) { // the base need not be flawed: its guide and policy count
		p.Repo.commits.Earlier(ctx, f.Spec, []string{p.Base.SHA})
	}
	p.Env.Notice(ctx, "%v; reviewing the forge's diff, without the files", cause)
	f.Patched, f.patch, f.FetchError = true, patch, cause
	f.Range = git.Range{
		Kind: git.PullRequest, Base: p.Base.SHA, Head: p.Head.SHA, BaseCommit: p.Base.SHA, Skipped: unshown,
	}
	return nil
}

// fetchSpec says how git fetches the pull request. The token is sent to the forge's own host only.
func (p *Pull) fetchSpec(ctx context.Context) (git.Pull, error) {
	spec := git.Pull{Ref: p.Ref, Base: p.Base.SHA, Head: p.Head.SHA, CAFile: p.Env.CAFile}
	if p.Conn.Folder != "" {
		spec.Folder = p.Conn.Folder
		return spec, nil
	}
	spec.URL = p.Base.CloneURL
	var err error
	if spec.Proxy, err = p.Env.Proxy(spec.URL); err != nil {
		return spec, err
	}
	if u, err := url.Parse(spec.URL); err != nil || u.Host != p.Conn.Host() {
		return spec, nil //nolint:nilerr // git says what is wrong with the address
	}
	spec.Token, err = p.Conn.Token(ctx, p.Repo.Repo)
	return spec, p.Conn.Explain(err)
}

// change reads the diff from git or, if git could not fetch, from the forge.
func (f *fetched) change(ctx context.Context) (*diff.Change, error) {
	if !f.Patched {
		return run.ReadChange(ctx, f.Repo.Diff, f.Range)
	}
	change, err := diff.ParsePatch(bytes.NewReader(f.patch), diff.DefaultLimits)
	if err != nil {
		return nil, &workspace.Error{Err: fmt.Errorf("read the forge's diff: %w", err), Status: precedent.ExitIncomplete}
	}
	return change, nil
}

// forgeChange reads the diff as the forge computes it, to know which lines can have comments.
func (f *fetched) forgeChange(ctx context.Context) (*diff.Change, error) {
	if f.Patched {
		return nil, nil //nolint:nilnil // the change is the forge's own
	}
	return run.ReadChange(ctx, f.Repo.ForgeDiff, f.Range)
}

// hasBase tells whether the base commit can be read.
func (f *fetched) hasBase(ctx context.Context) bool {
	if !f.Patched {
		return true
	}
	_, err := f.Repo.Lookup(ctx, f.Range.BaseCommit, ".precedent.yaml")
	return err == nil
}
