package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// MaxFile is the largest file that a review reads whole, in bytes.
const MaxFile = 8 << 20

// Prepared is a change with everything for its review. Close releases what was opened and created for it.
type Prepared struct {
	Input review.Input
	// Engine says which engine reads and where the code goes, or why none does.
	Engine string
	// Budget limits what the engine may use; nil without an engine.
	Budget *engine.Budget

	reviewer  *workspace.Env
	settings  *settings.Settings
	workspace *workspace.Workspace
	subject   Subject
	Number    *int                 // of the pull request; nil for a local change
	Before    time.Time            // when it was merged: comments that people wrote later do not count
	learnings []precedent.Learning // of the file at the base
	// Visibility of the repository; empty if it is not known.
	Visibility forge.Visibility
	answers    *engine.Keeper // nil without an engine, or if answers cannot be kept
	// Posted returns the dollars that were spent today, as the summaries on the forge say; nil
	// if they cannot.
	Posted func(ctx context.Context) (float64, error)
	// Plan returns the posts of the review on its pull request.
	Plan func(r *precedent.Review) []store.Post
	// Recheck takes citations away that do not hold any more; nil for a review that is not posted.
	Recheck func(ctx context.Context, r *precedent.Review)
	Gate    *precedent.GateResult // nil if the head was not built and tested

	mu       sync.Mutex
	cleanups []func() error // run by Close, in reverse
}

// Subject is what is reviewed, and where it is read from.
type Subject struct {
	Repo  *git.Repo // not the workspace's if the commits were fetched elsewhere
	Range git.Range
	Blobs *git.Blobs
}

// differing lists the paths that are not the same in the head and in the commit whose guide and policy apply.
func (s Subject) differing(ctx context.Context) ([]string, error) {
	there, err := s.Repo.Tree(ctx, s.Range.BaseCommit)
	if err != nil {
		return nil, err
	}
	head, err := s.Repo.Tree(ctx, s.Range.Head)
	if err != nil {
		return nil, err
	}
	entries := map[string]git.Entry{}
	for _, e := range there {
		entries[e.Path] = e
	}
	var paths []string
	for _, e := range head {
		if entries[e.Path] != e {
			paths = append(paths, e.Path)
		}
		delete(entries, e.Path)
	}
	return append(paths, slices.Sorted(maps.Keys(entries))...), nil
}

// Close releases everything except the repository.
func (p *Prepared) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, end := range slices.Backward(p.cleanups) {
		_ = end() // what stays behind is a temporary folder
	}
	p.cleanups = nil
}

// onClose adds a function for Close to call. It locks, because finders that run concurrently export trees.
func (p *Prepared) onClose(end func() error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cleanups = append(p.cleanups, end)
}

// New prepares what depends on the change only.
func New(r *workspace.Env, id precedent.Repo, s Subject, change *diff.Change, job Job) *Prepared {
	set := job.Settings
	p := &Prepared{
		reviewer: r, settings: set, subject: s, Plan: func(*precedent.Review) []store.Post { return nil },
		Input: review.Input{
			Repo: id,
			Target: precedent.Target{
				Kind: string(s.Range.Kind), Head: s.Range.HeadName, Base: s.Range.BaseName, Why: s.Range.Why,
			},
			Base:          s.Range.Base,
			Head:          s.Range.Head,
			Change:        change,
			Skipped:       s.Range.Skipped,
			Intent:        s.Range.Log,
			Threshold:     set.Threshold.Value,
			ThresholdFrom: set.Threshold.Source.String(),
			MaxInline:     set.MaxInline.Value,
			Deep:          set.Deep.Value,
			Window:        set.Context.Value,
			Concurrency:   set.Concurrency.Value,
			Timeout:       set.Timeout.Value,
			Go:            r.Go,
			Now:           r.Now,
			NewID:         r.NewID,
		},
	}
	base, head := FilesAt(s.Blobs, s.Range.Base), FilesAt(s.Blobs, s.Range.Head)
	p.Input.Read = func(side precedent.Side, path string) ([]byte, error) {
		file := head
		if side == precedent.Left {
			file = base
		}
		data, err := file(path)
		return diff.Text(data), err
	}
	p.Input.Trusted = lint.Trusted{
		Has:  func(path string) (bool, error) { return s.Blobs.Has(s.Range.BaseCommit, path) },
		Read: FilesAt(s.Blobs, s.Range.BaseCommit), Differing: s.differing, OwnModules: s.Range.Kind != git.PullRequest,
	}
	// As root, the sandbox has a user of its own, who can read it.
	p.Input.Tree = p.exporter(s.Range.Head, git.ExportLimits{Rewrite: withoutPrivate, Shared: os.Geteuid() == 0})
	shown := git.ExportLimits{Rewrite: secret.RedactFile, Leave: engine.Leave}
	p.Input.Shown = p.exporter(s.Range.Head, shown)
	p.Input.ShownBase = p.exporter(s.Range.Base, shown)
	return p
}

// noticePolicy says what about the policy should be known before the result is read.
func noticePolicy(ctx context.Context, r *workspace.Env, p Policy) {
	if p.Own {
		r.Notice(ctx, "this review uses the uncommitted %s; commit it to use it in everyone's reviews", guide.PolicyFile)
	}
	for _, err := range p.Errors {
		r.NoticeError(ctx, err, "")
	}
}

// Complete adds what runs beside the engine, what memory knows, and the engine.
func (p *Prepared) Complete(ctx context.Context, w *workspace.Workspace, job Job) error {
	in := &p.Input
	p.workspace = w
	var err error
	var unknown []precedent.Failure
	in.Linters.Linters, unknown = lint.Choose(p.settings.Linters, in.Policy.Linters)
	in.Linters.Sandbox = p.reviewer.Sandbox
	in.Failures = slices.Concat(in.Failures, unknown, w.Failures)
	if in.Recall, err = w.Memory.Recall(ctx, pathsOf(in.Change), p.subject.Range.Base, p.subject.Range.Head); err != nil {
		if ctx.Err() != nil {
			return err
		}
		p.fail("memory", err.Error())
	}
	if err := p.recallLearnings(ctx, w); err != nil {
		return err
	}
	if err := p.recallPrecedents(ctx, w, job.Engine.Enabled()); err != nil {
		return err
	}
	return p.addEngine(ctx, job)
}

func (p *Prepared) fail(step, what string) {
	p.Input.Failures = append(p.Input.Failures, precedent.Failure{Step: step, Error: what})
}

// FilesAt returns a function that reads files of a revision, up to MaxFile bytes. The
// error for a missing file wraps fs.ErrNotExist.
func FilesAt(blobs *git.Blobs, rev string) func(path string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		data, err := blobs.Read(rev, path, MaxFile)
		if errors.Is(err, git.ErrNotFound) {
			err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
		}
		return data, err
	}
}

// ReadChange reads the diff of a range, as run returns it.
func ReadChange(ctx context.Context, run func(context.Context, git.Range, func(io.Reader) error) error,
	rg git.Range,
) (*diff.Change, error) {
	var change *diff.Change
	err := run(ctx, rg, func(patch io.Reader) error {
		var err error
		change, err = diff.Parse(patch, diff.DefaultLimits)
		return err
	})
	if err != nil {
		return nil, &workspace.Error{
			Err: fmt.Errorf("read change: %w", err), Hint: workspace.HintOf(err), Status: precedent.ExitIncomplete,
		}
	}
	return change, nil
}

// withoutPrivate empties the files that hold credentials: analyzers read them as blobs, and
// no other program needs them.
func withoutPrivate(name string, content []byte) []byte {
	if secret.Private(name) {
		return nil
	}
	return content
}

// exporter returns a function that exports a tree on first use.
func (p *Prepared) exporter(rev string, limits git.ExportLimits) func(context.Context) (string, error) {
	var mu sync.Mutex
	export := ""
	return func(ctx context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if export != "" {
			return export, nil
		}
		dir, err := os.MkdirTemp(p.reviewer.Git.TempDir, "precedent-tree-")
		if err != nil {
			return "", fmt.Errorf("export tree: %w", err)
		}
		if _, err := p.subject.Repo.Export(ctx, rev, dir, limits); err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
		export = dir
		p.onClose(func() error { return os.RemoveAll(dir) })
		return dir, nil
	}
}

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
