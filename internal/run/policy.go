package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/review"
)

// maxPolicy is more than a policy may have, in bytes, so that its reader says so.
const maxPolicy = 1 << 20

// Policy is the effective policy of the repository, and its source.
type Policy struct {
	precedent.Policy
	Data   []byte // of the file
	Source string // for people; empty if there is none
	Errors []error
	Own    bool // it is the user's own, uncommitted one
}

// problems says in one line for each section with an error what is wrong with it first, and what that means.
func (p Policy) problems() []string {
	var lines []string
	seen := map[string]bool{}
	for _, err := range p.Errors {
		var e *guide.PolicyError
		if !errors.As(err, &e) {
			lines = append(lines, err.Error())
			continue
		}
		if seen[e.File+":"+e.Section] {
			continue
		}
		seen[e.File+":"+e.Section] = true
		parts := slices.DeleteFunc([]string{e.Error(), e.Hint, e.Effect()}, func(s string) bool { return s == "" })
		lines = append(lines, strings.Join(parts, "; "))
	}
	return lines
}

// ReadPolicy reads the policy for a range: the one at the base. An uncommitted policy takes precedence,
// unless the range changes the policy: then the author of the file in the work tree is unknown. If an
// uncommitted policy has any error, the committed one is used as a whole, because attributes of the reviewed
// commit can garble the file on checkout.
func ReadPolicy(ctx context.Context, repo *git.Repo, at Base, rg git.Range) (Policy, error) {
	held := Policy{}
	committed, err := at.Read(guide.PolicyFile, maxPolicy)
	switch {
	case err == nil:
		held.Source = guide.PolicyFile + " at " + rg.BaseCommit[:12]
		held.Data = committed
		held.Policy, held.Errors = guide.ParsePolicy(committed, guide.PolicyFile, review.Names())
	case errors.Is(err, errNoFile) || errors.Is(err, git.ErrTooLarge):
		held.Source = guide.PolicyFile + " at " + rg.BaseCommit[:12]
		held.Policy, held.Errors = guide.UnreadablePolicy(guide.PolicyFile, err.Error())
		return held, nil
	case !errors.Is(err, fs.ErrNotExist):
		return held, fmt.Errorf("read policy: %w", err)
	}
	own, err := uncommittedPolicy(ctx, repo, at.blobs, rg, committed)
	if own == nil || err != nil {
		return held, err
	}
	policy, errs := guide.ParsePolicy(own, "uncommitted "+guide.PolicyFile, review.Names())
	if len(errs) > 0 {
		held.Errors = append(held.Errors, errs...)
		held.Errors = append(held.Errors,
			errors.New("the uncommitted "+guide.PolicyFile+" is not used, because it has errors"))
		return held, nil
	}
	return Policy{Policy: policy, Data: own, Source: guide.PolicyFile + " (uncommitted)", Errors: errs, Own: true}, nil
}

// CurrentPolicy is the policy that holds for what is not committed. trusted is the branch
// that the operator named; empty for none.
func CurrentPolicy(ctx context.Context, repo *git.Repo, trusted string) (Policy, error) {
	blobs := repo.Blobs(ctx)
	rg := git.Range{Kind: git.Worktree}
	head, err := repo.Resolve(ctx, git.Spec{Range: "HEAD"})
	var none *git.Error
	switch {
	case err == nil:
		rg.BaseCommit, rg.HeadCommit = head.Head, head.Head
	case !errors.As(err, &none) || ctx.Err() != nil:
		return Policy{}, err // a repository without a commit has no policy in one
	}
	var unknown error
	if rg.BaseCommit, err = repo.TrustedBase(ctx, rg, trusted); errors.Is(err, git.ErrNotTrusted) {
		unknown, err = err, nil
	}
	if err != nil {
		return Policy{}, err
	}
	at, err := OpenBase(ctx, repo, blobs, rg.BaseCommit, guide.PolicyFile)
	if err != nil {
		return Policy{}, err
	}
	p, err := ReadPolicy(ctx, repo, at, rg)
	if unknown != nil {
		p.Errors = append(p.Errors, unknown)
	}
	return p, err
}

// uncommittedPolicy returns the work tree's policy if the user wrote it and has
// not committed it, else nil. A pull request is the team's: there the base's holds.
func uncommittedPolicy(ctx context.Context, repo *git.Repo, blobs *git.Blobs, rg git.Range, base []byte) ([]byte,
	error,
) {
	at := func(rev string) ([]byte, error) {
		data, err := blobs.Read(rev, guide.PolicyFile, maxPolicy)
		if errors.Is(err, git.ErrNotFound) {
			return nil, nil
		}
		return data, err
	}
	if repo.Top() == "" || rg.Kind == git.PullRequest {
		return nil, nil
	}
	own, err := repo.WorkFile(guide.PolicyFile, maxPolicy)
	if errors.Is(err, git.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	head := rg.HeadCommit // of what is not committed, HEAD
	changed, err := at(head)
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	if !bytes.Equal(changed, base) {
		return nil, nil
	}
	if rg.Kind == git.Commits || rg.Kind == git.LastCommit {
		now, err := repo.Resolve(ctx, git.Spec{Range: "HEAD"})
		if err != nil {
			return nil, err
		}
		head = now.Head
	}
	committed, err := at(head)
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	if bytes.Equal(unixLines(own), unixLines(committed)) {
		return nil, nil
	}
	return own, nil
}

// unixLines takes away what a checkout may add to the ends of lines.
func unixLines(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) }
