package git

import (
	"context"
	"path/filepath"
	"strings"
)

// Hooks is where git looks for a repository's hooks.
type Hooks struct {
	Dir string // absolute
	// Source is who chose the folder: "default", "repository", or "user" for a
	// setting that applies to all repositories of the user.
	Source string
}

// Hooks returns where git looks for hooks. As everywhere in this package, the
// configuration is read as data, and system-wide configuration is not read.
func (r *Repo) Hooks() (Hooks, error) {
	h := Hooks{Dir: filepath.Join(r.place.commonDir, "hooks"), Source: "default"}
	for _, s := range r.config {
		if s.key != "core.hookspath" || s.scope == "command" { // this package sets it for each command
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
			Hint: "use an absolute path: git config core.hooksPath FOLDER",
		}
	case !filepath.IsAbs(h.Dir) && r.place.top != "":
		h.Dir = filepath.Join(r.place.top, h.Dir)
	case !filepath.IsAbs(h.Dir):
		h.Dir = filepath.Join(r.place.gitDir, h.Dir)
	}
	return h, nil
}

// DefaultBranch returns the commit of a remote's default branch at the last fetch;
// empty if it is unknown.
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
