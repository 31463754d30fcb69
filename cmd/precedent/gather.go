package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/secret"
)

// maxFile is the largest file that a review reads whole, in bytes.
const maxFile = 8 << 20

// gathering is a review's input and what must be given back after the review.
type gathering struct {
	input  review.Input
	repo   *git.Repo // holds what is reviewed
	number *int      // of the pull request; nil for a local change
	blobs  *git.Blobs
	commit string // the newest commit of what is reviewed: the head, or what is not committed yet stands on
	mu     sync.Mutex
	ends   []func() error // what is to be given back
}

// give adds something to be given back. Exports are made while finders run side
// by side.
func (g *gathering) give(end func() error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ends = append(g.ends, end)
}

func (g *gathering) close() {
	g.blobs.Close()
	for _, end := range g.ends {
		_ = end() // what stays behind is a temporary folder
	}
}

// subject is what is reviewed, and where it can be read.
type subject struct {
	repo *git.Repo
	rg   git.Range
	pull *pull // nil for a local change
}

// gather fetches everything that a review of a local change needs.
func (a *app) gather(ctx context.Context, w *workspace, spec git.Spec) (*gathering, error) {
	rg, err := w.repo.Resolve(ctx, spec)
	if err != nil {
		return nil, err
	}
	return a.gatherFrom(ctx, w, subject{repo: w.repo, rg: rg})
}

// gatherFrom fetches everything that a review needs: the change, the guide and
// the policy of its base, and what memory holds about it.
func (a *app) gatherFrom(ctx context.Context, w *workspace, s subject) (*gathering, error) {
	rg := s.rg
	change, err := s.change(ctx)
	if err != nil {
		return nil, err
	}
	blobs, err := s.repo.Blobs(ctx)
	if err != nil {
		return nil, err
	}
	g := &gathering{repo: s.repo, blobs: blobs, commit: rg.Head, input: review.Input{
		Repo:    w.ids[0],
		Target:  precedent.Target{Head: rg.HeadName, Base: rg.BaseName, Why: rg.Why},
		Base:    rg.Base,
		Head:    rg.Head,
		Change:  change,
		Skipped: rg.Skipped,
		Intent:  rg.Log,
		Timeout: w.op.Timeout.Value,
		Go:      a.goEnv(),
		Now:     a.now,
		NewID:   newID,
	}}
	if rg.Kind == git.Staged || rg.Kind == git.Worktree {
		g.commit = rg.BaseCommit // their head is a tree, which has no history
	}
	g.input.Read = func(side precedent.Side, path string) ([]byte, error) {
		rev := rg.Head
		if side == precedent.Left {
			rev = rg.Base
		}
		data, err := blobs.Read(rev, path, maxFile)
		return data, notFound(err)
	}
	g.input.Tree = g.exporter(s.repo, rg.Head, nil)
	g.input.Shown = g.exporter(s.repo, rg.Head, secret.Shown)
	if s.pull != nil {
		g.number = &s.pull.Number
		s.pull.fill(&g.input)
	}
	if err := a.complete(ctx, w, g, s); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// complete adds what needs the change: its classes, guide, policy and memory.
func (a *app) complete(ctx context.Context, w *workspace, g *gathering, s subject) error {
	in, rg := &g.input, s.rg
	base := func(path string) ([]byte, error) { return in.Read(precedent.Left, path) }
	attributes, err := base(".gitattributes")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		in.Failures = append(in.Failures, precedent.Failure{Step: "attributes", Error: err.Error()})
	}
	in.Change.Classify(base, attributes)
	paths := pathsOf(in.Change)
	if err := a.baseWords(ctx, g, s, paths); err != nil {
		return err
	}
	var unknown []precedent.Failure
	in.Linters, unknown = a.external(w.op.Linters, in.Policy)
	in.Failures = append(in.Failures, unknown...)
	in.Threshold, in.ThresholdFrom = w.op.Threshold.Value, w.op.Threshold.Source.String()
	in.MaxInline, in.Window, in.Concurrency = w.op.MaxInline.Value, w.op.Context.Value, w.op.Concurrency.Value
	if w.memory == nil {
		if err := w.rememberIfPossible(ctx, a); err != nil {
			return err
		}
	}
	in.Failures = append(in.Failures, w.failures...)
	if in.Recall, err = w.memory.Recall(ctx, paths, rg.Base, rg.Head); err != nil {
		if ctx.Err() != nil {
			return err
		}
		in.Failures = append(in.Failures, precedent.Failure{Step: "memory", Error: err.Error()})
	}
	return nil
}

// baseWords reads the guide and the policy.
func (a *app) baseWords(ctx context.Context, g *gathering, s subject, paths []string) error {
	in := &g.input
	if s.pull.lacksBase(ctx, s) {
		in.Failures = append(in.Failures, precedent.Failure{Step: "guide", Error: "the base commit was not fetched: its guide and its policy are not known"})
		return nil
	}
	var failures []precedent.Failure
	in.Guide, failures = guide.Load(func(path string) ([]byte, error) {
		data, err := g.blobs.Read(s.rg.BaseCommit, path, maxFile)
		return data, notFound(err)
	}, guide.Candidates(paths))
	in.Failures = append(in.Failures, failures...)
	policy, err := readPolicy(ctx, s.repo, g.blobs, s.rg)
	if err != nil {
		return err
	}
	in.Policy = policy.Policy
	a.tellPolicy(policy)
	for _, err := range policy.Errors {
		in.Failures = append(in.Failures, precedent.Failure{Step: "policy", Error: err.Error()})
	}
	return nil
}

// tellPolicy says on standard error what about the policy should be known
// before the result is read.
func (a *app) tellPolicy(p heldPolicy) {
	if p.Own {
		a.notice("the uncommitted %s holds for this review; commit it, and it holds for everybody's", guide.PolicyFile)
	}
	for _, err := range p.Errors {
		a.notice("%v", err)
		if hint := hintOf(err); hint != "" && !a.quiet {
			a.hint(hint)
		}
	}
}

// change reads the difference, or the forge's where git has none.
func (s subject) change(ctx context.Context) (*diff.Change, error) {
	if s.pull != nil && s.pull.patch != nil {
		return s.pull.change()
	}
	return readChange(ctx, s.repo, s.rg)
}

// readChange reads the difference of a range.
func readChange(ctx context.Context, repo *git.Repo, rg git.Range) (*diff.Change, error) {
	var change *diff.Change
	err := repo.Diff(ctx, rg, func(patch io.Reader) error {
		var err error
		change, err = diff.Parse(patch, diff.DefaultLimits)
		return err
	})
	if err != nil {
		return nil, &fault{err: fmt.Errorf("read change: %w", err), hint: hintOf(err), status: precedent.ExitIncomplete}
	}
	return change, nil
}

// exporter returns a function that exports the head on first use, with other
// contents in the place of those of its files if rewrite is not nil.
func (g *gathering) exporter(repo *git.Repo, head string, rewrite func(string, []byte) []byte) func(context.Context) (string, error) {
	var mu sync.Mutex
	export := ""
	return func(ctx context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if export != "" {
			return export, nil
		}
		dir, err := os.MkdirTemp("", "precedent-tree-")
		if err != nil {
			return "", fmt.Errorf("export tree: %w", err)
		}
		if _, err := repo.Export(ctx, head, dir, git.ExportLimits{Rewrite: rewrite}); err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
		export = dir
		g.give(func() error { return os.RemoveAll(dir) })
		return dir, nil
	}
}

// newID makes the id of a review: a UUIDv7, which sorts by time.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// pathsOf lists the paths of a change, those before a rename included.
func pathsOf(c *diff.Change) []string {
	var paths []string
	for i := range c.Files {
		paths = append(paths, c.Files[i].Path)
		if old := c.Files[i].OldPath; old != c.Files[i].Path {
			paths = append(paths, old)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
