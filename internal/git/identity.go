package git

import (
	"cmp"
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
	URL  string // the fetch address, aliases resolved, without user and password if it is a URL
}

// Remotes returns the remotes, sorted by name. It does not use the network.
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

// address resolves a remote's URL: the alias with the longest matching prefix
// (url.*.insteadOf) of the user's own configuration, since the repository's could lead to another one's
// memory (T16), then paths relative to the repository.
func (r *Repo) address(raw string) string {
	full, longest := raw, 0
	outside := slices.DeleteFunc(slices.Clone(r.config),
		func(s setting) bool { return slices.Contains(ownScopes, s.scope) })
	outside.sub("url", "insteadof", func(base, prefix string) {
		if len(prefix) > longest && strings.HasPrefix(raw, prefix) {
			full, longest = base+raw[len(prefix):], len(prefix)
		}
	})
	if isLocalPath(full) {
		if !filepath.IsAbs(full) {
			from := cmp.Or(r.place.mainTop, r.place.commonDir)
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

// Identity returns which repository this is a clone of: the remote "upstream", else
// "origin", else the root commit. It ignores remotes that parse refuses.
func (r *Repo) Identity(
	ctx context.Context, parse func(remote string) (precedent.Repo, error),
) (precedent.Repo, error) {
	remotes := r.Remotes()
	for _, name := range trustedRemotes {
		i := slices.IndexFunc(remotes, func(x Remote) bool { return x.Name == name })
		if i < 0 {
			continue
		}
		if id, err := parse(remotes[i].URL); err == nil {
			return id, nil
		}
	}
	root, err := r.RootCommit(ctx)
	if err != nil {
		return precedent.Repo{}, err
	}
	return precedent.LocalRepo(root), nil
}
