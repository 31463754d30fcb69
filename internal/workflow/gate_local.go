package workflow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/gate"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/guide"
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

	reviewer *Reviewer
	subject  subject
	repo     precedent.Repo
	tree     string // that is built and tested
}

// PrepareGate reads which commands build and test the work tree, and takes a snapshot of it. As in
// the review of a local change, the commands come from the trusted branch; a policy that the person
// wrote and has not committed takes precedence. With paths, only the uncommitted changes at and
// below them count. trusted is the branch that the operator named; empty for none.
func (r *Reviewer) PrepareGate(ctx context.Context, repo *Repository, trusted string, paths []string) (*WorkTreeGate, error) {
	rg, err := repo.Git.Resolve(ctx, git.Spec{Worktree: true})
	if err != nil {
		return nil, err
	}
	if rg.BaseCommit, err = repo.Git.TrustedBase(ctx, rg, trusted); errors.Is(err, git.ErrNotTrusted) {
		r.noticeError(ctx, err, "; the documents and the policy of the repository name no commands")
		err = nil
	}
	if err != nil {
		return nil, err
	}
	if rg.Paths, err = repo.fromTop(paths); err != nil {
		return nil, err
	}
	for i, s := range rg.Skipped {
		if i == maxNoticed {
			r.notice(ctx, "%d more files are left out", len(rg.Skipped)-i)
			break
		}
		r.notice(ctx, "%s is left out: %s", s.Path, s.Reason)
	}
	blobs, err := repo.Git.Blobs(ctx)
	if err != nil {
		return nil, err
	}
	g := &WorkTreeGate{Base: rg.BaseCommit, reviewer: r, subject: subject{repo.Git, rg, blobs}, repo: repo.IDs[0]}
	if err = g.readRules(ctx); err == nil {
		g.tree, err = g.selected(ctx)
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

// maxNoticed bounds how many files are named that are left out.
const maxNoticed = 10

// readRules reads the policy and the documents.
func (g *WorkTreeGate) readRules(ctx context.Context) error {
	s := g.subject
	at, err := openBase(ctx, s.repo, s.blobs, g.Base, guide.PolicyFile)
	if err != nil {
		return err
	}
	if g.Policy, err = readPolicy(ctx, s.repo, at, s.rg); err != nil {
		return err
	}
	for _, err := range g.Policy.Errors {
		g.reviewer.noticeError(ctx, err, "")
	}
	// The person's own lock files count: nobody else chose them.
	if g.Policy.Gate.Dependencies != precedent.DependenciesOff {
		g.Policy.Gate.Dependencies = precedent.DependenciesHead
	}
	var docs []gate.Document
	if g.Base != "" {
		docs = gate.ReadDocuments(FilesAt(s.blobs, g.Base))
	}
	g.Commands = gate.Discover(g.Policy.Gate, docs)
	return nil
}

// selected is the tree with the uncommitted changes of the paths; with all of them, if there are no
// paths.
func (g *WorkTreeGate) selected(ctx context.Context) (string, error) {
	s := g.subject
	if len(s.rg.Paths) == 0 {
		return s.rg.Head, nil
	}
	was, err := s.repo.Tree(ctx, s.rg.HeadCommit, "")
	if err != nil {
		return "", err
	}
	is, err := s.repo.Tree(ctx, s.rg.Head, "")
	if err != nil {
		return "", err
	}
	for _, name := range s.rg.Paths {
		under := func(e git.Entry) bool { return name == "." || guide.AtOrBelow(name, e.Path) }
		if !slices.ContainsFunc(was, under) && !slices.ContainsFunc(is, under) {
			return "", Hinted(fmt.Errorf("no file is at %s", name), "name files and folders of the repository")
		}
	}
	other := func(e git.Entry) bool {
		return !slices.ContainsFunc(s.rg.Paths, func(name string) bool { return name == "." || guide.AtOrBelow(name, e.Path) })
	}
	edits, err := g.edits(slices.DeleteFunc(was, other), slices.DeleteFunc(is, other))
	if err != nil {
		return "", err
	}
	return s.repo.EditTree(ctx, s.rg.Base, edits)
}

// edits are what makes one list of files of another.
func (g *WorkTreeGate) edits(was, is []git.Entry) ([]git.Edit, error) {
	var all []git.Edit
	before := map[string]git.Entry{}
	for _, e := range was {
		before[e.Path] = e
	}
	for _, e := range is {
		old, known := before[e.Path]
		delete(before, e.Path)
		if known && old == e {
			continue
		}
		if e.Mode != "100644" && e.Mode != "100755" {
			return nil, Hinted(fmt.Errorf("%s is a link or a submodule, and has changed", e.Path), "run it without paths")
		}
		content, err := g.subject.blobs.Read(g.subject.rg.Head, e.Path, MaxFile)
		if err != nil {
			return nil, err
		}
		all = append(all, git.Edit{Path: e.Path, Content: content, Mode: e.Mode})
	}
	for path := range before {
		all = append(all, git.Edit{Path: path, Delete: true})
	}
	return all, nil
}

// Run runs the commands on a copy of the work tree, and shows each result when it is there.
func (g *WorkTreeGate) Run(ctx context.Context, runner *gate.Runner, show func(gate.CommandResult)) (gate.Result, error) {
	q := gate.Request{
		Repo: g.repo, Base: g.Base, Trust: gate.Own, Policy: g.Policy.Gate, Commands: g.Commands, Show: show,
	}
	if g.Base != "" {
		q.Read = FilesAt(g.subject.blobs, g.Base)
	}
	return g.reviewer.runExported(ctx, g.subject.repo, runner, q, g.tree)
}

// runExported exports a tree, and runs a gate on it. The base is exported when the gate wants it.
func (r *Reviewer) runExported(ctx context.Context, repo *git.Repo, runner *gate.Runner, q gate.Request, tree string) (gate.Result, error) {
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
		report, err := repo.Export(ctx, rev, to, git.ExportLimits{FileBytes: maxGateFile, Shared: true, Links: true})
		return to, lacking(report), err
	}
	if q.Tree, q.Lacks, err = export("head", tree); err != nil {
		return gate.Result{}, err
	}
	if q.Base != "" {
		q.BaseTree = func(context.Context) (string, error) {
			to, _, err := export("base", q.Base)
			return to, err
		}
	}
	result := runner.Run(ctx, q)
	return result, ctx.Err()
}
