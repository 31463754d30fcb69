package git

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
)

// choose picks the range that a user most likely means: what the branch adds to its upstream together with
// what is uncommitted, else what is uncommitted, else the last commit. Without an upstream, with one in
// somebody else's fork, or if the branch was rebased since, it uses the remote's default branch, or a local
// main or master. With committed it leaves out what is uncommitted.
func (r *Repo) choose(ctx context.Context, committed bool) (Range, error) {
	at, err := r.head(ctx)
	if err != nil {
		return Range{}, err
	}
	if at.commit == "" {
		return r.chooseFirst(ctx, committed)
	}
	branch := r.branch(ctx)
	name := cmp.Or(branch, at.commit[:12])
	upstream, short := r.upstream(branch)
	against, againstName, err := r.baseOf(ctx, branch, upstream, short)
	if err != nil {
		return Range{}, err
	}
	if against != "" && against != at.commit {
		rg, err := r.added(ctx, against, againstName, at.commit, name)
		if err == nil && againstName == short {
			rg, err = r.rebased(ctx, rg, branch)
		}
		if err != nil {
			return Range{}, err
		}
		againstName = rg.BaseName
		if rg.Base != "" && rg.Base != rg.Head {
			if committed {
				return rg, nil
			}
			return r.withWorkTree(ctx, rg, at.tree)
		}
	}
	return r.chooseUncommitted(ctx, at, name, againstName, committed)
}

// added returns what a head adds to a base: the range has no base if they have no common ancestor.
func (r *Repo) added(ctx context.Context, against, againstName, head, name string) (Range, error) {
	base, log, err := r.fork(ctx, against, head)
	if err == nil && base == "" && r.Shallow() {
		err = r.unrelated(againstName, name)
	}
	return Range{
		Kind: Commits, Base: base, Head: head, BaseCommit: base, HeadCommit: head, BaseName: againstName,
		HeadName: name,
		Why:      "no range was given: what " + name + " adds to " + againstName, Log: log,
	}, err
}

// rebased returns what a branch adds to the default branch instead of to its upstream, if that is part of it:
// after a rebase, the rest is what others did.
func (r *Repo) rebased(ctx context.Context, rg Range, branch string) (Range, error) {
	trunk, name, err := r.baseOf(ctx, branch, "", "")
	if err != nil || trunk == "" || rg.Base == "" {
		return rg, err
	}
	onto, err := r.added(ctx, trunk, name, rg.Head, rg.HeadName)
	if err != nil || onto.Base == "" || onto.Base == rg.Base {
		return rg, ctx.Err() // a shallow clone may not know
	}
	if part, err := r.Contains(ctx, onto.Base, rg.Base); err != nil || !part {
		return rg, err
	}
	return onto, nil
}

// chooseFirst picks what is uncommitted in a repository without a commit.
func (r *Repo) chooseFirst(ctx context.Context, committed bool) (Range, error) {
	if committed || !r.hasWorkTree() {
		return Range{}, noCommitsError(opRange)
	}
	rg, err := r.worktree(ctx, nil)
	if err != nil {
		return Range{}, err
	}
	if rg.Head == rg.Base && len(rg.Skipped) == 0 {
		return Range{}, noCommitsError(opRange)
	}
	rg.Why = "no range was given and there is no commit yet: what is not committed"
	return rg, nil
}

// withWorkTree adds to a range up to HEAD, whose tree is given, what is uncommitted.
func (r *Repo) withWorkTree(ctx context.Context, rg Range, tree string) (Range, error) {
	if !r.hasWorkTree() {
		return rg, nil
	}
	now, err := r.snapshot(ctx, head{rg.HeadCommit, tree}, nil)
	if err != nil {
		return Range{}, err
	}
	rg.Skipped, rg.Uncommitted = now.Skipped, new(len(now.Skipped))
	if now.Head == tree {
		return rg, nil
	}
	rg.Kind, rg.Head = Branch, now.Head
	rg.HeadName += " and working tree"
	rg.Why += ", and what is not committed"
	return rg, nil
}

// hasWorkTree reports whether there is a work tree that can be read.
func (r *Repo) hasWorkTree() bool { return r.place.top != "" && r.configuredWorkTree() == "" }

// chooseUncommitted picks what is uncommitted, else the last commit.
func (r *Repo) chooseUncommitted(ctx context.Context, at head, name, against string, committed bool) (Range, error) {
	why := "no range was given"
	if against != "" {
		why += " and " + name + " adds nothing to " + against
	}
	var rg Range
	if r.hasWorkTree() && !committed {
		var err error
		rg, err = r.snapshot(ctx, at, nil)
		if err != nil {
			return Range{}, err
		}
		if rg.Head != at.tree {
			rg.Why = why + ": what is not committed"
			return rg, nil
		}
		if rg.Uncommitted = new(len(rg.Skipped)); len(rg.Skipped) == 0 {
			why += ", nothing is uncommitted"
		} else {
			why += ", nothing that can be read is uncommitted"
		}
	}
	last, err := r.last(ctx, at.commit, name)
	last.Why, last.Skipped, last.Uncommitted = why+": the last commit", rg.Skipped, rg.Uncommitted
	return last, err
}

// last returns the last commit against its first parent.
func (r *Repo) last(ctx context.Context, head, name string) (Range, error) {
	parent, err := r.idOf(ctx, head+"^1^{commit}")
	if err != nil {
		return Range{}, err
	}
	if parent == "" && r.shallow[head] {
		return Range{}, hinted(opRange, "the clone is shallow: it lacks the parent of the last commit",
			r.deepen("--deepen=1"))
	}
	rg := Range{
		Kind: LastCommit, Base: parent, Head: head, BaseCommit: parent, HeadCommit: head,
		BaseName: head[:12] + "^", HeadName: name,
	}
	if parent == "" {
		rg.Base, rg.BaseName = r.hash.emptyTree(), emptyTreeName
	}
	c, err := r.ReadCommit(ctx, head)
	if err == nil && !c.encoded {
		rg.Log = messages("commit " + head + "\n" + c.Message + "\n")
		return rg, nil
	}
	rg.Log, err = r.log(ctx, 1, head)
	return rg, err
}

const emptyTreeName = "the empty tree"

// baseOf returns the commit that a branch is compared with, and its name: its upstream if that is given, else
// the default branch of the remote, else the local main or master; empty if there is none.
func (r *Repo) baseOf(ctx context.Context, branch, upstream, short string) (id, name string, err error) {
	refs := [][2]string{
		{upstream, short},
		{"refs/remotes/origin/HEAD", "origin/HEAD"},
		{"refs/remotes/origin/main", "origin/main"},
		{"refs/remotes/origin/master", "origin/master"},
	}
	if branch != "main" && branch != "master" { // these are not each other's base
		refs = append(refs, [2]string{"refs/heads/main", "main"}, [2]string{"refs/heads/master", "master"})
	}
	for _, ref := range refs {
		if ref[0] == "" {
			continue
		}
		if id != "" && !strings.HasPrefix(ref[1], "origin/") {
			break
		}
		found, err := r.idOf(ctx, ref[0]+"^{commit}")
		switch {
		case err != nil:
			return "", "", err
		case found == "" || id != "" && found != id:
		case id == "" && ref[1] == "origin/HEAD": // prefer the branch's own name if it is a usual one
			id, name = found, ref[1]
		default:
			return found, ref[1], nil
		}
	}
	return id, name, nil
}

// branch returns the name of the current branch; empty if HEAD is detached.
func (r *Repo) branch(ctx context.Context) string {
	const heads = "refs/heads/"
	text, err := readRegular(filepath.Join(r.place.gitDir, "HEAD"), 1<<16)
	ref, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: ")
	if err != nil || !ok {
		return ""
	}
	if ref == heads+".invalid" { // the refs use another format
		out, err := r.run(ctx, call{op: opRange, view: real, args: []string{"symbolic-ref", "--quiet", "HEAD"}}, 1<<16)
		if err != nil {
			return ""
		}
		ref = strings.TrimSpace(string(out))
	}
	if name, ok := strings.CutPrefix(ref, heads); ok {
		return name
	}
	return ""
}

// upstream returns the ref of the branch's configured upstream, and its short name;
// both are empty if there is none, or if it is in somebody else's fork.
func (r *Repo) upstream(branch string) (ref, name string) {
	const heads, remotes = "refs/heads/", "refs/remotes/"
	remote, merge := r.config.find("branch."+branch+".remote"), r.config.find("branch."+branch+".merge")
	if branch == "" || remote == "" || merge == "" || strings.ContainsAny(merge, "\n\r") || !r.isTrustedRemote(remote) {
		return "", ""
	}
	if remote == "." {
		return merge, strings.TrimPrefix(merge, heads)
	}
	r.config.sub("remote", "fetch", func(of, spec string) {
		from, to, ok := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
		if of != remote || !ok || ref != "" || strings.ContainsAny(to, "\n\r") {
			return
		}
		before, after, glob := strings.Cut(from, "*")
		switch {
		case !glob && from == merge:
			ref = to
		case glob && len(merge) >= len(before)+len(after) &&
			strings.HasPrefix(merge, before) && strings.HasSuffix(merge, after):
			ref = strings.Replace(to, "*", merge[len(before):len(merge)-len(after)], 1)
		}
	})
	return ref, strings.TrimPrefix(ref, remotes)
}
