package git

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// ErrNotTrusted means that it is not known which branch is trusted.
var ErrNotTrusted = errors.New("the default branch is not known")

// trustedRemotes are the remotes that a clone is made from, the original first.
var trustedRemotes = []string{"upstream", "origin"}

// TrustedBase returns the commit whose guide and policy apply to a local range; empty if there is none yet.
// The author of a change must not choose it (T3), as with the parent of the last commit of a branch from a
// fork. So it is in the trusted branch: the one that the operator named, else the default branch of the
// remote upstream or origin, as the clone recorded it, else its main or master. As long as nothing was
// fetched from these remotes, it is the local branch that init.defaultBranch of the user names, or main or
// master. In a bare clone, it is HEAD.
//
// It is the commit before the range if the trusted branch contains the whole range, and
// otherwise the tip of that branch. Errors wrap ErrNotTrusted if there is no such branch.
func (r *Repo) TrustedBase(ctx context.Context, rg Range, named string) (string, error) {
	if rg.HeadCommit == "" {
		return "", nil
	}
	tip, err := r.trustedTip(ctx, named)
	if err != nil {
		return "", err
	}
	if rg.BaseCommit == tip {
		return tip, nil
	}
	if rg.HeadCommit == tip && rg.BaseCommit != "" {
		if _, line := r.between(ctx, rg.BaseCommit, tip); line {
			return rg.BaseCommit, nil
		}
	}
	c := call{op: opTrust, args: []string{"rev-list", "--max-count=1", "--end-of-options", rg.HeadCommit, "^" + tip}}
	if rg.BaseCommit != "" {
		c.args = append(c.args, rg.BaseCommit)
	}
	outside, err := r.run(ctx, c, configBytes)
	if err != nil || len(outside) > 0 {
		return tip, err
	}
	return rg.BaseCommit, nil
}

const opTrust = "find the default branch"

// trustedTip returns the newest commit of the trusted branch.
func (r *Repo) trustedTip(ctx context.Context, named string) (string, error) {
	if named != "" {
		ids, err := r.commits(ctx, named)
		if err != nil {
			return "", err
		}
		return ids[0], nil
	}
	if tip, err := r.defaultTip(ctx); tip != "" || err != nil {
		return tip, err
	}
	return "", &Error{
		Op: opTrust, Msg: ErrNotTrusted.Error(), Err: ErrNotTrusted,
		Hint: "run git remote set-head origin --auto, or name the branch with --trusted-branch",
	}
}

// defaultTip returns the newest commit of the default branch; empty if that is not known.
func (r *Repo) defaultTip(ctx context.Context) (string, error) {
	if r.place.top == "" {
		return r.firstCommit(ctx, "HEAD")
	}
	var fetched []string
	for _, remote := range trustedRemotes {
		if tip, err := r.DefaultBranch(ctx, remote); tip != "" || err != nil {
			return tip, err
		}
		fetched = append(fetched, "refs/remotes/"+remote+"/")
	}
	if r.hasTrustedRemote() {
		args := append([]string{"for-each-ref", "--count=1"}, fetched...)
		if any, err := r.run(ctx, call{op: opTrust, view: real, args: args}, configBytes); err != nil || len(any) > 0 {
			return "", err
		}
	}
	own := r.config.find("init.defaultbranch", "global")
	return r.firstCommit(ctx, "refs/heads/"+own, "refs/heads/main", "refs/heads/master")
}

// DefaultBranch returns the commit of a remote's default branch at the last fetch; empty if it is unknown.
func (r *Repo) DefaultBranch(ctx context.Context, remote string) (string, error) {
	id, _, err := r.defaultOf(ctx, remote)
	return id, err
}

// defaultOf is DefaultBranch with the name of the branch, which is REMOTE/HEAD only if that is not a usual one.
func (r *Repo) defaultOf(ctx context.Context, remote string) (id, name string, err error) {
	if strings.ContainsAny(remote, "\x00\n\r") {
		return "", "", nil
	}
	for _, branch := range []string{"HEAD", "main", "master"} {
		found, err := r.idOf(ctx, "refs/remotes/"+remote+"/"+branch+"^{commit}")
		if err != nil {
			return "", "", err
		}
		if id == "" || id == found && strings.HasSuffix(name, "/HEAD") {
			id, name = found, remote+"/"+branch
		}
	}
	return id, name, nil
}

// firstCommit returns the commit of the first of the refs that exists; empty if none does.
func (r *Repo) firstCommit(ctx context.Context, refs ...string) (string, error) {
	refs = slices.DeleteFunc(refs, func(ref string) bool { return strings.ContainsAny(ref, "\x00\n\r") })
	for _, ref := range refs {
		if id, err := r.idOf(ctx, ref+"^{commit}"); id != "" || err != nil {
			return id, err
		}
	}
	return "", nil
}

// isTrustedRemote reports whether a branch may be compared with its upstream there. Other
// remotes belong to forks if the clone has an original.
func (r *Repo) isTrustedRemote(name string) bool {
	return name == "." || slices.Contains(trustedRemotes, name) || !r.hasTrustedRemote()
}

func (r *Repo) hasTrustedRemote() bool {
	return slices.ContainsFunc(r.Remotes(), func(x Remote) bool { return slices.Contains(trustedRemotes, x.Name) })
}
