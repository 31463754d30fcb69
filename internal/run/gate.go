package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/gate"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// WorkTreeGate is the gate of a person's own work tree, uncommitted changes included. Close releases
// what was opened for it.
type WorkTreeGate struct {
	// Base is the commit whose documents and policy name the commands; empty if there is none yet, or
	// if the trusted branch is not known.
	Base   string
	Policy Policy
	// Commands are what would run, in this order.
	Commands []gate.Command

	reviewer *workspace.Env
	subject  Subject
	repo     precedent.Repo
}

// PrepareGate reads which commands build and test the work tree, and takes a snapshot of it. As in
// the review of a local change, the commands come from the trusted branch; a policy that the person
// wrote and has not committed takes precedence. With paths, only the uncommitted changes at and
// below them count. trusted is the branch that the operator named; empty for none.
func PrepareGate(ctx context.Context, r *workspace.Env, repo *workspace.Repository, trusted string,
	paths []string,
) (*WorkTreeGate, error) {
	named, err := repo.FromTop(paths)
	if err != nil {
		return nil, err
	}
	rg, err := repo.Git.Resolve(ctx, git.Spec{Worktree: true, Paths: named})
	if err != nil {
		return nil, err
	}
	if err := checkPaths(ctx, repo.Git, rg, rg.HeadCommit, nameFiles, named); err != nil {
		return nil, err
	}
	if rg.BaseCommit, err = repo.Git.TrustedBase(ctx, rg, trusted); errors.Is(err, git.ErrNotTrusted) {
		r.NoticeError(ctx, err, "; the documents and the policy of the repository name no commands")
		err = nil
	}
	if err != nil {
		return nil, err
	}
	for i, s := range rg.Skipped {
		if i == maxNoticed {
			r.Notice(ctx, "%d more files are left out", len(rg.Skipped)-i)
			break
		}
		r.Notice(ctx, "%s is left out: %s", s.Path, s.Reason)
	}
	blobs := repo.Git.Blobs(ctx)
	g := &WorkTreeGate{Base: rg.BaseCommit, reviewer: r, subject: Subject{repo.Git, rg, blobs}, repo: repo.IDs[0]}
	return g, g.readRules(ctx)
}

// maxNoticed bounds how many files are named that are left out.
const maxNoticed = 10

// readRules reads the policy and the documents.
func (g *WorkTreeGate) readRules(ctx context.Context) error {
	s := g.subject
	at, err := OpenBase(ctx, s.Repo, s.Blobs, g.Base, guide.PolicyFile)
	if err != nil {
		return err
	}
	if g.Policy, err = ReadPolicy(ctx, s.Repo, at, s.Range); err != nil {
		return err
	}
	for _, err := range g.Policy.Errors {
		g.reviewer.NoticeError(ctx, err, "")
	}
	// The person's own lock files count: nobody else chose them.
	if g.Policy.Gate.Dependencies != precedent.DependenciesOff {
		g.Policy.Gate.Dependencies = precedent.DependenciesHead
	}
	var docs []gate.Document
	if g.Base != "" {
		docs = gate.ReadDocuments(FilesAt(s.Blobs, g.Base))
	}
	g.Commands = gate.Discover(g.Policy.Gate, docs)
	return nil
}

// Run runs the commands on a copy of the work tree, and shows each result when it is there.
func (g *WorkTreeGate) Run(ctx context.Context, runner *gate.Runner, show func(gate.CommandResult)) (gate.Result,
	error,
) {
	q := gate.Request{
		Repo: g.repo, Base: g.Base, Trust: gate.Own, Policy: g.Policy.Gate, Commands: g.Commands, Show: show,
	}
	if g.Base != "" {
		q.Read = FilesAt(g.subject.Blobs, g.Base)
	}
	return Gate(ctx, g.reviewer, g.subject.Repo, runner, q, g.subject.Range.Head)
}

// Gate exports a tree, and runs a gate on it. The base is exported when the gate wants it.
func Gate(ctx context.Context, r *workspace.Env, repo *git.Repo, runner *gate.Runner, q gate.Request,
	tree string,
) (gate.Result, error) {
	dir, err := os.MkdirTemp(r.Git.TempDir, "precedent-gate-")
	if err != nil {
		return gate.Result{}, fmt.Errorf("make temporary folder: %w", err)
	}
	defer os.RemoveAll(dir)
	export := func(name, rev string) (to, lacks string, err error) {
		to = filepath.Join(dir, name)
		if err := os.Mkdir(to, 0o755); err != nil { //nolint:gosec // the sandbox may have a user of its own
			return "", "", fmt.Errorf("make temporary folder: %w", err)
		}
		left, err := repo.Export(ctx, rev, to, git.ExportLimits{FileBytes: maxGateFile, Shared: true, Links: true})
		return to, lacking(left), err
	}
	if q.Tree, q.Lacks, err = export("head", tree); err != nil {
		return gate.Result{}, err
	}
	if q.Base != "" {
		q.InHistory = func(ctx context.Context, commit string) bool {
			is, err := repo.Contains(ctx, q.Base, commit)
			return err == nil && is
		}
		q.BaseTree = func(context.Context) (string, error) {
			to, _, err := export("base", q.Base)
			return to, err
		}
	}
	result := runner.Run(ctx, q)
	return result, ctx.Err()
}

// maxGateFile bounds a file of a tree that is built, in bytes: forges take none that is larger.
const maxGateFile = 100 << 20

// lacking says which files an export left out, such as submodules and what a partial clone lacks.
func lacking(left []precedent.SkippedFile) string {
	if len(left) == 0 {
		return ""
	}
	return fmt.Sprintf("%s missing in the sandbox, such as %s: %s", workspace.Count(len(left), "file is", "files are"),
		text.Cut(text.VisibleLine(left[0].Path), 80), left[0].Reason)
}
