package git

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
)

// Remote is a remote of a repository.
type Remote struct {
	Name string
	URL  string // where it is fetched from, aliases resolved, without user and password if it is a URL
}

// Remotes returns the remotes, sorted by name. No network is used.
func (r *Repo) Remotes() []Remote {
	var remotes []Remote
	r.config.sub("remote", "url", func(name, value string) {
		if value != "" && !slices.ContainsFunc(remotes, func(x Remote) bool { return x.Name == name }) {
			remotes = append(remotes, Remote{Name: name, URL: r.address(value)})
		}
	})
	slices.SortFunc(remotes, func(a, b Remote) int { return strings.Compare(a.Name, b.Name) })
	return remotes
}

// address resolves a remote's URL: aliases of the longest matching prefix
// (url.*.insteadOf), then paths that are relative to the repository.
func (r *Repo) address(raw string) string {
	full, longest := raw, 0
	r.config.sub("url", "insteadof", func(base, prefix string) {
		if len(prefix) > longest && strings.HasPrefix(raw, prefix) {
			full, longest = base+raw[len(prefix):], len(prefix)
		}
	})
	if isLocalPath(full) {
		if !filepath.IsAbs(full) {
			from := r.place.mainTop
			if from == "" {
				from = r.place.commonDir
			}
			full = filepath.Join(from, full)
		}
		return full
	}
	if u, err := url.Parse(full); err == nil && u.Scheme != "" && u.Host != "" {
		u.User = nil
		return u.String()
	}
	return full
}

// isLocalPath is git's rule: no scheme, and no colon before the first slash.
func isLocalPath(s string) bool {
	if strings.Contains(s, "://") {
		return false
	}
	before, _, _ := strings.Cut(s, "/")
	return !strings.Contains(before, ":")
}

// Identity says which repository this is a clone of: the remote "upstream",
// else "origin", else the root commit. Remotes that only a helper program can
// reach ("ext::…") are passed over: nothing in them names a host.
func (r *Repo) Identity(ctx context.Context) (precedent.Repo, error) {
	remotes := r.Remotes()
	for _, name := range []string{"upstream", "origin"} {
		i := slices.IndexFunc(remotes, func(x Remote) bool { return x.Name == name })
		if i < 0 || strings.Contains(remotes[i].URL, "::") {
			continue
		}
		if id, err := precedent.ParseRepo(remotes[i].URL); err == nil {
			return id, nil
		}
	}
	root, err := r.RootCommit(ctx)
	if err != nil {
		return precedent.Repo{}, err
	}
	return precedent.LocalRepo(root), nil
}

// RootCommit returns the id of the first commit of HEAD's history, following
// first parents.
func (r *Repo) RootCommit(ctx context.Context) (string, error) {
	const op = "find the root commit"
	found, err := r.peel(ctx, op, "HEAD^{commit}")
	if err != nil {
		return "", err
	}
	if found[0].id == "" {
		return "", noCommits(op)
	}
	out, err := r.run(ctx, call{op: op, args: []string{"rev-list", "--first-parent", "--max-parents=0", "--end-of-options", found[0].id}}, configBytes)
	if err != nil {
		return "", err
	}
	root := strings.TrimSpace(string(out))
	switch {
	case r.shallow[root]:
		return "", &Error{
			Op: op, Msg: "the clone is shallow: its first commit is not in it",
			Hint: r.deepen("--unshallow"),
		}
	case !r.hash.valid(root):
		return "", &Error{Op: op, Msg: "git named no commit"}
	}
	return root, nil
}
