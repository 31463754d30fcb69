package git

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	merging := "" // what is merged and not committed
	if against != "" && !committed && r.hasWorkTree() {
		if _, none := os.Lstat(filepath.Join(r.place.gitDir, "MERGE_HEAD")); none == nil { // a tag may have that name
			if merging, err = r.idOf(ctx, "MERGE_HEAD^{commit}"); err != nil {
				return Range{}, err
			}
		}
	}
	if against != "" && (against != at.commit || merging != "") {
		rg, err := r.added(ctx, against, againstName, at.commit, name, merging)
		if err == nil {
			remotes := slices.Clone(trustedRemotes)
			if of := r.config.find("branch." + branch + ".remote"); r.isTrustedRemote(of) {
				remotes = append(remotes, of)
			}
			rg, err = r.besides(ctx, rg, merging, remotes)
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
func (r *Repo) added(ctx context.Context, against, againstName, head, name, merging string) (Range, error) {
	base, log, err := r.fork(ctx, against, head, merging)
	if err == nil && base == "" && r.Shallow() {
		err = r.unrelated(againstName, name)
	}
	return Range{
		Kind: Commits, Base: base, Head: head, BaseCommit: base, HeadCommit: head, BaseName: againstName,
		HeadName: name,
		Why:      "no range was given: what " + name + " adds to " + againstName, Log: log,
	}, err
}

// besides returns what a range adds to the default branches of remotes, too.
func (r *Repo) besides(ctx context.Context, rg Range, merging string, remotes []string) (Range, error) {
	for i, remote := range remotes {
		if slices.Contains(remotes[:i], remote) {
			continue
		}
		trunk, name, err := r.defaultOf(ctx, remote)
		if err == nil && trunk != "" && name != rg.BaseName && rg.Base != "" && rg.Base == rg.BaseCommit {
			rg, err = r.beside(ctx, rg, trunk, name, merging)
		}
		if err != nil {
			return rg, err
		}
	}
	return rg, nil
}

// beside leaves out of a range what others did to the trunk, whether the branch was rebased onto that or merged it.
// After a merge, the base is the tree that git itself would merge, with the branch's own version of files in conflict,
// so that all that people changed in the merge counts. What the clone cannot tell stays in the range.
func (r *Repo) beside(ctx context.Context, rg Range, trunk, name, merging string) (Range, error) {
	base, log, err := r.fork(ctx, trunk, rg.Head, merging)
	if err != nil || base == "" || base == rg.Base {
		return rg, ctx.Err()
	}
	if rebased, err := r.Contains(ctx, base, rg.Base); err != nil {
		return rg, err
	} else if rebased {
		if why, ok := strings.CutSuffix(rg.Why, rg.BaseName); ok && why != "" {
			rg.Why = why + name
		}
		rg.Base, rg.BaseCommit, rg.BaseName, rg.Log = base, base, name, log
		return rg, nil
	}
	if known, err := r.Contains(ctx, rg.Base, base); known || err != nil {
		return rg, err
	}
	m, err := r.MergeCommits(ctx, rg.Base, base)
	if err != nil {
		return rg, ctx.Err()
	}
	tree, err := r.build(ctx, head{}, func(w *builder) error {
		fmt.Fprintf(w.to, "M 040000 %s \"\"\n", m.Tree)
		for _, s := range m.Conflicts {
			w.remove(s.Path)
		}
		for _, s := range m.Conflicts {
			if s.Stage == ours {
				w.put(s.Mode, s.ID, s.Path)
			}
		}
		return nil
	})
	if err != nil {
		return rg, err
	}
	rg.Log, err = r.log(ctx, logCommits, rg.Head, "^"+rg.Base, "^"+base)
	rg.Base = tree
	rg.BaseName += " and " + name
	if rg.Why != "" {
		rg.Why += " and " + name
	}
	return rg, err
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
	if upstream != "" {
		if id, err = r.idOf(ctx, upstream+"^{commit}"); id != "" || err != nil {
			return id, short, err
		}
	}
	id, name, err = r.defaultOf(ctx, "origin")
	for _, own := range []string{"main", "master"} {
		if id == "" && err == nil && branch != "main" && branch != "master" { // these are not each other's base
			name = own
			id, err = r.idOf(ctx, "refs/heads/"+own+"^{commit}")
		}
	}
	if id == "" {
		name = ""
	}
	return id, name, err
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
