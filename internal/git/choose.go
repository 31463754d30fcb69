package git

import (
	"context"
	"path/filepath"
	"strings"
)

// The revisions that choose resolves at once.
const (
	askHead = iota
	askTree
	askParent
	askUpstream
	askOriginHead
	askOriginMain
	askOriginMaster
	askMain
	askMaster
	questions
)

// choose picks the range that a user most likely means: what the branch adds to its
// upstream together with what is uncommitted, else what is uncommitted, else the last
// commit. Without an upstream, or with one in somebody else's fork, it uses the remote's
// default branch, or a local main or master. With committed it leaves out what is
// uncommitted.
func (r *Repo) choose(ctx context.Context, committed bool) (Range, error) {
	branch := r.branch(ctx)
	upstream, upstreamName := r.upstream(branch)
	ask := make([]string, questions)
	ask[askHead], ask[askTree], ask[askParent] = "HEAD^{commit}", "HEAD^{tree}", "HEAD^1^{commit}"
	refs := [...]string{
		upstream, "refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master",
		"refs/heads/main", "refs/heads/master",
	}
	for i, ref := range refs {
		if ref == "" {
			ref = "HEAD"
		}
		ask[askUpstream+i] = ref + "^{commit}"
	}
	found, err := r.peel(ctx, opRange, ask...)
	if err != nil {
		return Range{}, err
	}
	head := found[askHead].id
	if head == "" {
		return r.chooseFirst(ctx, committed)
	}
	name := branch
	if name == "" {
		name = head[:12]
	}
	against, againstName := found[askUpstream].id, upstreamName
	if upstream == "" || against == "" {
		against, againstName = defaultBase(found, branch)
	}
	if against != "" && against != head {
		base := against
		log, line := r.between(ctx, against, head)
		if !line {
			if base, err = r.mergeBase(ctx, against, head); err != nil {
				return Range{}, err
			}
		}
		if base == "" && r.Shallow() {
			return Range{}, r.unrelated(againstName, name)
		}
		if base != "" && base != head {
			rg := Range{Kind: Commits, Base: base, Head: head, BaseCommit: base, HeadCommit: head, BaseName: againstName, HeadName: name}
			rg.Why = "no range was given: what " + name + " adds to " + againstName
			if rg.Log = log; !line {
				rg.Log, err = r.log(ctx, logCommits, head, "^"+base)
			}
			if err != nil || committed {
				return rg, err
			}
			return r.withWorkTree(ctx, rg, found[askTree].id)
		}
	}
	return r.chooseUncommitted(ctx, found, name, againstName, committed)
}

// chooseFirst picks what is uncommitted in a repository without a commit.
func (r *Repo) chooseFirst(ctx context.Context, committed bool) (Range, error) {
	if committed || !r.hasWorkTree() {
		return Range{}, noCommitsError(opRange)
	}
	rg, err := r.worktree(ctx)
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
	now, err := r.snapshot(ctx, head{rg.HeadCommit, tree})
	if err != nil {
		return Range{}, err
	}
	rg.Skipped = now.Skipped
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
func (r *Repo) chooseUncommitted(ctx context.Context, found []answer, name, against string, committed bool) (Range, error) {
	why := "no range was given"
	if against != "" {
		why += " and " + name + " adds nothing to " + against
	}
	var rg Range
	if r.hasWorkTree() && !committed {
		var err error
		rg, err = r.snapshot(ctx, head{found[askHead].id, found[askTree].id})
		if err != nil {
			return Range{}, err
		}
		if rg.Head != found[askTree].id {
			rg.Why = why + ": what is not committed"
			return rg, nil
		}
		why += ", nothing is uncommitted"
	}
	last, err := r.last(ctx, found[askHead].id, found[askParent].id, name)
	last.Why, last.Skipped = why+": the last commit", rg.Skipped
	return last, err
}

// last returns the last commit against its first parent.
func (r *Repo) last(ctx context.Context, head, parent, name string) (Range, error) {
	if parent == "" && r.shallow[head] {
		return Range{}, &Error{
			Op: opRange, Msg: "the clone is shallow: it lacks the parent of the last commit",
			Hint: r.deepen("--deepen=1"),
		}
	}
	rg := Range{Kind: LastCommit, Base: parent, Head: head, BaseCommit: parent, HeadCommit: head, BaseName: head[:12] + "^", HeadName: name}
	if parent == "" {
		rg.Base, rg.BaseName = r.hash.emptyTree(), emptyTreeName
	}
	c, err := r.readCommit(ctx, head)
	if err != nil || c.encoded {
		rg.Log, err = r.log(ctx, 1, head)
	} else {
		rg.Log = messages("commit " + head + "\n" + c.message + "\n")
	}
	return rg, err
}

const emptyTreeName = "the empty tree"

// defaultBase picks the base for a branch without an upstream.
func defaultBase(found []answer, branch string) (id, name string) {
	names := [...]string{"origin/HEAD", "origin/main", "origin/master", "main", "master"}
	for i := range names {
		at := askOriginHead + i
		if at >= askMain && (branch == "main" || branch == "master") {
			break // main and master are not each other's base
		}
		if id = found[at].id; id == "" {
			continue
		}
		if at == askOriginHead { // prefer the branch's own name if it is a usual one
			for _, alias := range []int{askOriginMain, askOriginMaster} {
				if found[alias].id == id {
					return id, names[alias-askOriginHead]
				}
			}
		}
		return id, names[i]
	}
	return "", ""
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
	name, ok := strings.CutPrefix(ref, heads)
	if !ok {
		return ""
	}
	return name
}

// upstream returns the ref of the branch's configured upstream, and its short name;
// both are empty if there is none, or if it is in somebody else's fork.
func (r *Repo) upstream(branch string) (ref, name string) {
	const heads, remotes = "refs/heads/", "refs/remotes/"
	remote, merge := r.config.last("branch."+branch+".remote"), r.config.last("branch."+branch+".merge")
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
		case glob && len(merge) >= len(before)+len(after) && strings.HasPrefix(merge, before) && strings.HasSuffix(merge, after):
			ref = strings.Replace(to, "*", merge[len(before):len(merge)-len(after)], 1)
		}
	})
	return ref, strings.TrimPrefix(ref, remotes)
}
