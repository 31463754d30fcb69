package git

import (
	"context"
	"path/filepath"
	"strings"
)

// The questions that choose asks at once.
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

// choose takes the range that a user most likely means: what the branch adds
// to its upstream, else what is not committed, else the last commit. Without
// an upstream the remote's default branch, or a local main or master, stands in.
func (r *Repo) choose(ctx context.Context) (Range, error) {
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
		return Range{}, noCommits(opRange)
	}
	name := branch
	if name == "" {
		name = head[:12]
	}
	against, againstName := found[askUpstream].id, upstreamName
	if upstream == "" || against == "" {
		against, againstName = standIn(found, branch)
	}
	if against != "" && against != head {
		base, err := r.mergeBase(ctx, against, head)
		if err != nil {
			return Range{}, err
		}
		if base == "" && r.Shallow() {
			return Range{}, r.unrelated(againstName, name)
		}
		if base != "" && base != head {
			rg := Range{Kind: Commits, Base: base, Head: head, BaseCommit: base, BaseName: againstName, HeadName: name}
			rg.Why = "no range was given: what " + name + " adds to " + againstName
			rg.Log, err = r.log(ctx, logCommits, head, "^"+base)
			return rg, err
		}
	}
	return r.chooseHere(ctx, found, name, againstName)
}

// chooseHere takes what is not committed, else the last commit.
func (r *Repo) chooseHere(ctx context.Context, found []answer, name, against string) (Range, error) {
	why := "no range was given"
	if against != "" {
		why += " and " + name + " adds nothing to " + against
	}
	var rg Range
	if r.place.top != "" && r.elsewhere() == "" {
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

// last is the last commit against its first parent.
func (r *Repo) last(ctx context.Context, head, parent, name string) (Range, error) {
	if parent == "" && r.shallow[head] {
		return Range{}, &Error{
			Op: opRange, Msg: "the clone is shallow: it does not hold what the last commit changed",
			Hint: r.deepen("--deepen=1"),
		}
	}
	rg := Range{Kind: LastCommit, Base: parent, Head: head, BaseCommit: parent, BaseName: head[:12] + "^", HeadName: name}
	if parent == "" {
		rg.Base, rg.BaseName = r.hash.emptyTree(), emptyTreeName
	}
	var err error
	rg.Log, err = r.log(ctx, 1, head)
	return rg, err
}

const emptyTreeName = "the empty tree"

// standIn picks what a branch without upstream is compared with.
func standIn(found []answer, branch string) (id, name string) {
	names := [...]string{"origin/HEAD", "origin/main", "origin/master", "main", "master"}
	for i := range names {
		at := askOriginHead + i
		if at >= askMain && (branch == "main" || branch == "master") {
			break // one of these is not the other's base
		}
		if id = found[at].id; id == "" {
			continue
		}
		if at == askOriginHead { // say its own name if it has one of the usual
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

// branch is the name of the current branch; empty if HEAD is detached.
func (r *Repo) branch(ctx context.Context) string {
	const heads = "refs/heads/"
	text, err := readRegular(filepath.Join(r.place.gitDir, "HEAD"), 1<<16)
	ref, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: ")
	if err != nil || !ok {
		return ""
	}
	if ref == heads+".invalid" { // refs that are kept in another format
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

// upstream is the ref that the configuration names as the branch's upstream,
// and its name for people; empty if there is none.
func (r *Repo) upstream(branch string) (ref, name string) {
	const heads, remotes = "refs/heads/", "refs/remotes/"
	remote, merge := r.config.last("branch."+branch+".remote"), r.config.last("branch."+branch+".merge")
	if branch == "" || remote == "" || merge == "" || strings.ContainsAny(merge, "\n\r") {
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
