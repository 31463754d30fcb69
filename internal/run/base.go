package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/guide"
)

const attributesFile = ".gitattributes"

// errNoFile means that something else than a file has a name.
var errNoFile = errors.New("not a file")

// Base reads the files of the base commit that decide about a review.
type Base struct {
	blobs  *git.Blobs
	commit string
	there  map[string]git.Entry
}

// OpenBase looks up the paths in a commit; an empty one has no files.
func OpenBase(ctx context.Context, repo *git.Repo, blobs *git.Blobs, commit string, paths ...string) (Base, error) {
	there, err := repo.Lookup(ctx, commit, paths...)
	return Base{blobs, commit, there}, err
}

// Read returns a file that was looked up. The error wraps fs.ErrNotExist only if nothing has the name.
func (b Base) Read(path string, max int64) ([]byte, error) {
	e, ok := b.there[path]
	switch {
	case !ok:
		return nil, fs.ErrNotExist
	case e.Type == "tree":
		return nil, fmt.Errorf("%s: %w: a folder has the name", path, errNoFile)
	case e.Type != "blob":
		return nil, fmt.Errorf("%s: %w: a submodule has the name", path, errNoFile)
	}
	data, err := b.blobs.Read(b.commit, path, max)
	if errors.Is(err, git.ErrNotFound) {
		err = fmt.Errorf("%s: %w", path, git.ErrMissing)
	}
	return data, err
}

// headFile returns a file of the head.
func (p *Prepared) headFile(path string) ([]byte, error) { return p.Input.Read(precedent.Right, path) }

// ReadBase adds what the base commit defines: classes of files, guide and policy. If a part of that cannot be read, the
// review is incomplete; mistakes in the policy only have no effect. There tells whether the base commit was fetched.
func (p *Prepared) ReadBase(ctx context.Context, there bool) error {
	in, s := &p.Input, p.subject
	if !there {
		in.Change.Classify(diff.Trees{Head: p.headFile})
		p.failBase("guide", "the base commit was not fetched, so its guide and policy are not used")
		return nil
	}
	candidates := guide.Candidates(pathsOf(in.Change))
	at, err := OpenBase(ctx, s.Repo, s.Blobs, s.Range.BaseCommit,
		slices.Concat(candidates, []string{attributesFile, guide.PolicyFile, guide.LearningsFile})...)
	if err != nil {
		return err
	}
	attributes, err := at.Read(attributesFile, MaxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.failBase("attributes", err.Error())
	}
	in.Change.Classify(diff.Trees{
		Base: FilesAt(s.Blobs, s.Range.BaseCommit), Head: p.headFile, Attributes: attributes,
		List: func() ([]string, error) {
			entries, err := s.Repo.Tree(ctx, s.Range.BaseCommit)
			paths := make([]string, len(entries))
			for i, e := range entries {
				paths[i] = e.Path
			}
			return paths, err
		},
	})
	var failures []precedent.Failure
	in.Guide, failures = guide.Load(func(path string) ([]byte, error) { return at.Read(path, MaxFile) }, candidates)
	for _, f := range failures {
		p.failBase(f.Step, f.Error)
	}
	p.readLearnings(at)
	policy, err := ReadPolicy(ctx, s.Repo, at, s.Range)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		policy.Errors = append(policy.Errors, err)
	}
	in.Policy, in.OwnPolicy = policy.Policy, policy.Own
	noticePolicy(ctx, p.reviewer, policy)
	for _, line := range policy.problems() {
		p.fail(precedent.PolicyStep, line)
	}
	in.Incomplete = in.Incomplete || err != nil
	return nil
}

// failBase records that a part of the base cannot be read.
func (p *Prepared) failBase(step, what string) {
	p.fail(step, what)
	p.Input.Incomplete = true
}
