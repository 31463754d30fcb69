package git

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent"
)

// Spec is what to review. At most one field is set beside the names; if none is, Resolve chooses.
type Spec struct {
	BaseName, HeadName string // shown in place of the revisions; empty to show those
	// Range is a user's text: "A..B", "A...B" (from their merge base to B), or "A"
	// for "A...HEAD". An empty side means HEAD.
	Range string
	// Trunks are remotes: what Range has of their default branches is left out, too.
	Trunks []string
	// Staged means the changes that the next commit would contain.
	Staged bool
	// Worktree means everything that is uncommitted: staged, unstaged and untracked.
	Worktree bool
	Paths    []string // limit Worktree to what is at and below these, relative to the top; all if empty
	Whole    string   // a revision whose whole content counts as new
	Commit   string   // a revision that is compared with its first parent
	// Committed means what Resolve chooses, without anything uncommitted.
	Committed bool
}

// Kind is what a range consists of.
type Kind string

// The kinds.
const (
	Commits    Kind = "commits"
	LastCommit Kind = "last-commit"
	Staged     Kind = "staged"
	Worktree   Kind = "worktree"
	Branch     Kind = "branch" // the commits of a branch, and everything that is uncommitted
)

// Range is a resolved change: two trees and their description.
type Range struct {
	Kind Kind
	// Base and Head are commit ids, or tree ids for the empty tree, for staged changes and for the work tree.
	Base, Head string
	// Unrelated tells that a pull request has no common ancestor with its base.
	Unrelated bool
	// BaseCommit is the commit whose guide, policy and configuration apply; empty if the
	// change starts from nothing. For a local range see TrustedBase.
	BaseCommit string
	// HeadCommit is Head, or the commit that the uncommitted changes of Head are based on;
	// empty before the first commit.
	HeadCommit         string
	BaseName, HeadName string // display names; they may contain untrusted text
	Why                string // why this range was chosen; empty if the user named it
	// Log has the messages of the range's commits, newest first, each after a line
	// "commit ID": at most 50 commits and 32 KiB.
	Log precedent.Untrusted
	// Paths limit what Diff shows to these files and folders, relative to the top; all if empty.
	Paths []string
	// Skipped lists files that are not in the snapshot of the work tree. In Head they are as staged, or
	// absent if they were not staged. It also lists files whose contents a partial clone lacks.
	Skipped []precedent.SkippedFile
	// BaseTree and HeadTree are the trees of Base and Head without the files whose
	// contents a partial clone lacks; empty if it has all.
	BaseTree, HeadTree string
	Uncommitted        *int // what Repo.Uncommitted returns, if Resolve looked at the work tree
}

const opRange = "resolve range"

// Resolve returns the two ends of a change. Errors are of type *Error.
func (r *Repo) Resolve(ctx context.Context, s Spec) (Range, error) {
	rg, err := r.resolve(ctx, s)
	rg.BaseName, rg.HeadName = cmp.Or(s.BaseName, rg.BaseName), cmp.Or(s.HeadName, rg.HeadName)
	if err == nil {
		rg, err = r.besides(ctx, rg, "", s.Trunks)
	}
	if err != nil || !r.partial() {
		return rg, err
	}
	return r.LeaveOutMissing(ctx, rg)
}

func (r *Repo) resolve(ctx context.Context, s Spec) (Range, error) {
	asked := 0
	for _, one := range []bool{s.Range != "", s.Commit != "", s.Staged, s.Worktree, s.Committed} {
		if one {
			asked++
		}
	}
	switch {
	case s.Whole != "":
		return r.resolveWhole(ctx, s.Whole)
	case asked > 1:
		return Range{}, hinted(opRange, "a range, --commit, --staged, --worktree and --committed cannot be combined",
			"use only one of them")
	case s.Range != "":
		return r.resolveText(ctx, s.Range)
	case s.Commit != "":
		return r.resolveCommit(ctx, s.Commit)
	case s.Staged:
		return r.staged(ctx)
	case s.Worktree:
		return r.worktree(ctx, s.Paths)
	default:
		return r.choose(ctx, s.Committed)
	}
}

// resolveCommit returns what a commit changes in its first parent.
func (r *Repo) resolveCommit(ctx context.Context, name string) (Range, error) {
	ids, err := r.commits(ctx, name)
	if err != nil {
		return Range{}, err
	}
	rg, err := r.last(ctx, ids[0], name)
	rg.Kind = Commits
	return rg, err
}

func (r *Repo) resolveText(ctx context.Context, text string) (Range, error) {
	from, to, symmetric := text, "HEAD", true
	if a, b, ok := strings.Cut(text, "..."); ok {
		from, to = a, b
	} else if a, b, ok := strings.Cut(text, ".."); ok {
		from, to, symmetric = a, b, false
	}
	names := []string{from, to}
	for i := range names {
		names[i] = cmp.Or(names[i], "HEAD")
	}
	ids, err := r.commits(ctx, names...)
	if err != nil {
		return Range{}, err
	}
	rg := Range{
		Kind: Commits, Base: ids[0], Head: ids[1], BaseCommit: ids[0], HeadCommit: ids[1], BaseName: names[0],
		HeadName: names[1],
	}
	if symmetric {
		rg.Base, rg.Log, err = r.fork(ctx, ids[0], ids[1], "")
		if err == nil && rg.Base == "" {
			err = r.unrelated(names[0], names[1])
		}
	} else if rg.Base != rg.Head {
		rg.Log, err = r.log(ctx, logCommits, rg.Head, "^"+rg.Base)
	}
	rg.BaseCommit = rg.Base
	return rg, err
}

// fork returns the best common ancestor of two commits, or "" if the clone has none, and the messages of the commits
// from there to head. If the work tree merges another commit, which is not committed yet, its ancestors count, too.
func (r *Repo) fork(ctx context.Context, base, head, merging string) (from string, log precedent.Untrusted, err error) {
	if log, line := r.between(ctx, base, head); line {
		return base, log, nil
	}
	from, err = r.mergeBase(ctx, base, head)
	if merging != "" && from != "" && err == nil {
		merged, err := r.mergeBase(ctx, base, merging)
		later := false
		if err == nil && merged != "" { // else it has another history
			later, err = r.Contains(ctx, merged, from)
		}
		if err != nil {
			return "", "", err
		}
		if later {
			from = merged
		}
	}
	if err == nil && from != "" && from != head {
		log, err = r.log(ctx, logCommits, head, "^"+from)
	}
	return from, log, err
}

// resolveWhole returns everything in a revision.
func (r *Repo) resolveWhole(ctx context.Context, name string) (Range, error) {
	ids, err := r.commits(ctx, name)
	if err != nil {
		return Range{}, err
	}
	rg := Range{
		Kind: Commits, Base: r.hash.emptyTree(), Head: ids[0], HeadCommit: ids[0], BaseName: emptyTreeName,
		HeadName: name,
	}
	rg.Log, err = r.log(ctx, logCommits, rg.Head)
	return rg, err
}

// commits resolves revisions from a user to commits.
func (r *Repo) commits(ctx context.Context, names ...string) ([]string, error) {
	var ids []string
	for _, name := range names {
		if len(name) > 1000 || strings.ContainsAny(name, "\x00\n\r") {
			return nil, &Error{Op: opRange, Msg: "not a revision: " + printable(strconv.Quote(name))}
		}
	}
	// In ":/text" a suffix would be part of the text, so the bare name is resolved, too.
	questions := []string{"HEAD^{commit}"}
	for _, name := range names {
		questions = append(questions, name, name+"^{commit}")
	}
	found, err := r.peel(ctx, questions...)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := r.unambiguous(ctx, name); err != nil {
			return nil, err
		}
	}
	for i, name := range names {
		plain, peeled := found[1+2*i], found[2+2*i]
		switch {
		case peeled.kind == "commit":
			ids = append(ids, peeled.id)
		case plain.kind == "commit":
			ids = append(ids, plain.id)
		case plain.id != "":
			return nil, hinted(opRange, printable(strconv.Quote(name))+" is a "+plain.kind+", not a commit",
				"use commits, branches or tags: A..B")
		case found[0].id == "" && strings.HasPrefix(name, "HEAD"):
			return nil, noCommitsError(opRange)
		default:
			return nil, r.unknownRevision(name, plain.why)
		}
	}
	return ids, nil
}

// unambiguous refuses a revision whose name means two commits. git takes the tag, with a warning, and one who fetches
// from a fork gets the fork's tags: one of them could pass for a branch, also for the trusted one (T12).
func (r *Repo) unambiguous(ctx context.Context, name string) error {
	name, _, _ = strings.Cut(name, "@{")
	if i := strings.IndexAny(name, "~^:"); i >= 0 {
		name = name[:i]
	}
	if name == "" {
		return nil
	}
	// Git reads what follows "-g" as an abbreviated id, and as nothing else.
	found, err := r.peel(ctx, "refs/tags/"+name+"^{commit}", "refs/heads/"+name+"^{commit}",
		"refs/remotes/"+name+"^{commit}", "precedent-g"+name+"^{commit}")
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(o object) bool { return o.id == "" })
	if len(slices.CompactFunc(found, func(a, b object) bool { return a.id == b.id })) < 2 {
		return nil
	}
	return hinted(opRange, printable(strconv.Quote(name))+" names different commits, as git show-ref "+printable(name)+" shows",
		"name the branch as refs/heads/NAME or refs/remotes/REMOTE/NAME, and the tag as refs/tags/NAME")
}

// peel asks git to resolve revisions. They are passed on standard input, where they
// cannot be options. Revisions that do not resolve have no id.
func (r *Repo) peel(ctx context.Context, revisions ...string) ([]object, error) {
	found := make([]object, len(revisions))
	for i, revision := range revisions {
		o, err := r.real.find(ctx, opRange, revision)
		// Some revisions end git at once ("@{upstream}" without one). They do not resolve.
		var e *Error
		switch {
		case err != nil && exitCode(err) < 0:
			return nil, err
		case errors.As(err, &e):
			o = object{why: e.Msg}
		}
		found[i] = o
	}
	return found, nil
}

// idOf resolves a ref or a revision to an id; empty if it does not resolve.
func (r *Repo) idOf(ctx context.Context, revision string) (string, error) {
	found, err := r.peel(ctx, revision)
	if err != nil {
		return "", err
	}
	return found[0].id, nil
}

// mergeBase returns the best common ancestor of two commits, or "" if the clone has none.
func (r *Repo) mergeBase(ctx context.Context, a, b string) (string, error) {
	if a == b {
		return a, nil
	}
	base, err := r.line(ctx, "find merge base", "merge-base", "--end-of-options", a, b)
	if err != nil && exitCode(err) != 1 {
		return "", err
	}
	return base, nil
}

const (
	logCommits = 50
	logBytes   = 32 << 10
)

// log returns the messages of at most n commits reachable from the revisions, up to a size limit.
func (r *Repo) log(ctx context.Context, n int, revisions ...string) (precedent.Untrusted, error) {
	c := call{op: "read commit messages", args: append([]string{
		"log", "--format=commit %H%n%B", "--no-color", "--no-decorate", "--no-notes", "--no-mailmap",
		"--no-show-signature", "--max-count=" + strconv.Itoa(n), "--end-of-options",
	}, revisions...)}
	text, err := r.start(ctx, c, logBytes)
	return messages(text), err
}

// messages limits the messages of commits.
func messages(text string) precedent.Untrusted {
	return precedent.Untrusted(strings.ToValidUTF8(text[:min(len(text), logBytes)], "\uFFFD"))
}

func noCommitsError(op string) *Error {
	return &Error{
		Op: op, Msg: "the repository has no commits yet", Err: ErrNoCommits,
		Hint: "commit something first, or review what is staged (--staged) or uncommitted (--worktree)",
	}
}

// unknownRevision is the error for a revision that does not exist.
func (r *Repo) unknownRevision(name, why string) *Error {
	if why == "ambiguous" {
		return hinted(opRange, printable(strconv.Quote(name))+" is an ambiguous id", "add more digits")
	}
	e := hinted(opRange, "unknown revision "+printable(strconv.Quote(name)),
		"list the names with: git branch --all; git tag")
	if why != "" {
		e.Msg += ": " + why
	}
	if r.Shallow() {
		e.Hint = "the clone is shallow; " + r.deepen("--unshallow")
	}
	return e
}

// unrelated is the error for two commits without a common ancestor in this clone.
func (r *Repo) unrelated(a, b string) *Error {
	e := hinted(opRange, printable(a)+" and "+printable(b)+" have no common ancestor",
		"compare them directly with two dots: "+printable(a)+".."+printable(b))
	if r.Shallow() {
		e.Msg += " in this shallow clone"
		e.Hint = r.deepen("--unshallow") + " (or, to fetch less: " + r.deepenCommand("--deepen=200") + ")"
	}
	return e
}

// deepen is a hint with the command that completes a shallow clone.
func (r *Repo) deepen(how string) string { return "fetch the missing history: " + r.deepenCommand(how) }

func (r *Repo) deepenCommand(how string) string {
	name := ""
	for _, remote := range r.Remotes() {
		if name == "" || remote.Name == "origin" {
			name = remote.Name
		}
	}
	return strings.TrimSpace("git fetch " + how + " " + printable(name))
}
