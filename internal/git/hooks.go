package git

import (
	"path/filepath"
	"slices"
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
		if slices.Contains(ownScopes, s.scope) {
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
		return Hooks{}, hinted("find hooks", "core.hooksPath is "+printable(raw)+", which only git can resolve",
			"use an absolute path: git config core.hooksPath FOLDER")
	case !filepath.IsAbs(h.Dir) && r.place.top != "":
		h.Dir = filepath.Join(r.place.top, h.Dir)
	case !filepath.IsAbs(h.Dir):
		h.Dir = filepath.Join(r.place.gitDir, h.Dir)
	}
	return h, nil
}
