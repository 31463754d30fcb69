package git

import (
	"context"
	"path/filepath"
	"strings"
)

// Hooks is where git looks for the hooks of a repository.
type Hooks struct {
	Dir string // absolute
	// Source says who chose the folder: "default", "repository" or "user", who
	// chose it for all their repositories.
	Source string
}

// Hooks returns where git looks for hooks. The configuration is read as data,
// like everywhere in this package, and what belongs to the whole system is not
// read at all.
func (r *Repo) Hooks() (Hooks, error) {
	h := Hooks{Dir: filepath.Join(r.place.commonDir, "hooks"), Source: "default"}
	for _, s := range r.config {
		if s.key != "core.hookspath" || s.scope == "command" { // the command's is this package's own wall
			continue
		}
		h.Dir, h.Source = s.value, "user"
		if s.scope == "local" || s.scope == "worktree" {
			h.Source = "repository"
		}
	}
	if h.Source == "default" {
		return h, nil
	}
	raw := h.Dir
	if rest, ok := strings.CutPrefix(raw, "~/"); ok && r.options.Home != "" {
		h.Dir = filepath.Join(r.options.Home, rest)
	}
	switch {
	case raw == "" || strings.HasPrefix(raw, "~") && h.Dir == raw || strings.HasPrefix(raw, "%("):
		return Hooks{}, &Error{
			Op: "find hooks", Msg: "core.hooksPath is " + printable(raw) + ", which only git can resolve",
			Hint: "git config core.hooksPath FOLDER, with a whole path",
		}
	case !filepath.IsAbs(h.Dir) && r.place.top != "":
		h.Dir = filepath.Join(r.place.top, h.Dir)
	case !filepath.IsAbs(h.Dir):
		h.Dir = filepath.Join(r.place.gitDir, h.Dir)
	}
	return h, nil
}

// DefaultBranch returns the commit that a remote's default branch had when it was
// last fetched; empty if nothing is known of it.
func (r *Repo) DefaultBranch(ctx context.Context, remote string) (string, error) {
	if strings.ContainsAny(remote, "\x00\n\r") {
		return "", nil
	}
	var ask []string
	for _, name := range []string{"HEAD", "main", "master"} {
		ask = append(ask, "refs/remotes/"+remote+"/"+name+"^{commit}")
	}
	found, err := r.peel(ctx, "find the default branch", ask...)
	if err != nil {
		return "", err
	}
	for _, f := range found {
		if f.id != "" {
			return f.id, nil
		}
	}
	return "", nil
}
