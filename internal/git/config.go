package git

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// config is the configuration of the repository and the user, as data.
type config []setting

// setting is one line of it. Sections and names are in lower case, and subsections
// are unchanged. A key without a value has the value "true".
type setting struct{ scope, key, value string }

// configBytes is the size limit of the configuration: 1 MiB, a thousand times the usual size.
const configBytes = 1 << 20

// probeKey is set and listed only if git accepts settings from the environment, which the protections of this
// package depend on.
const probeKey = "precedent.obeyed"

// readConfig reads the whole configuration. Listing it runs no other program.
func (r *Repo) readConfig(ctx context.Context) (config, error) {
	c := call{
		op: "open repository", view: real, set: []string{probeKey + "=true"},
		args: []string{"config", "--list", "-z", "--show-scope", "--includes"},
	}
	if r.options.Home != "" {
		c.userConfig = true
		c.env = []string{"HOME=" + r.options.Home, "XDG_CONFIG_HOME=" + r.configHome()}
		old := filepath.Join(r.options.Home, ".gitconfig")
		for _, name := range []string{old, filepath.Join(r.configHome(), "git", "config")} {
			if fi, err := os.Stat(name); err == nil && !fi.Mode().IsRegular() {
				return nil, &Error{Op: c.op, Msg: printable(name) + " is not a regular file"}
			}
		}
	}
	out, err := r.run(ctx, c, configBytes)
	if err != nil {
		return nil, err
	}
	cfg := parseConfig(out)
	if cfg.find(probeKey) != "true" {
		return nil, hinted(c.op, "this git ignores settings from the environment", tooOld)
	}
	return cfg, nil
}

func (r *Repo) configHome() string {
	if r.options.ConfigHome == "" && r.options.Home != "" {
		return filepath.Join(r.options.Home, ".config")
	}
	return r.options.ConfigHome
}

// parseConfig reads pairs of a scope and "key\nvalue", each ended by NUL.
func parseConfig(out []byte) config {
	var cfg config
	fields := bytes.Split(out, []byte{0})
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, ok := strings.Cut(string(fields[i+1]), "\n")
		if !ok {
			value = "true"
		}
		cfg = append(cfg, setting{string(fields[i]), key, value})
	}
	return cfg
}

// find returns the value of a key that counts, the last one of the settings of some scopes; empty if there is none.
func (c config) find(key string, scopes ...string) string {
	for _, s := range slices.Backward(c) {
		if s.key == key && (len(scopes) == 0 || slices.Contains(scopes, s.scope)) {
			return s.value
		}
	}
	return ""
}

// ownScopes are those of the repository's own settings, which may be hostile.
var ownScopes = []string{"local", "worktree"}

// repository returns the value of a key in the repository's own settings.
func (c config) repository(key string) string { return c.find(key, ownScopes...) }

func isTruthy(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

// sub yields the subsection and the value of each key with this section and name, in
// the order of the configuration.
func (c config) sub(section, name string, yield func(middle, value string)) {
	for _, s := range c {
		if rest, ok := strings.CutPrefix(s.key, section+"."); ok {
			if middle, ok := strings.CutSuffix(rest, "."+name); ok {
				yield(middle, s.value)
			}
		}
	}
}

// UserName is the user's name in git's configuration; empty if there is none.
func (r *Repo) UserName() string { return strings.TrimSpace(r.config.find("user.name")) }

// UserName is the user's name in the user's own configuration of git, for use outside of a
// repository; empty if there is none, or if it cannot be read.
func UserName(ctx context.Context, o Options) string {
	o = o.completed()
	program, err := locate("read configuration", o.Exec)
	if err != nil {
		return ""
	}
	empty, err := os.MkdirTemp(o.TempDir, "precedent-git-")
	if err != nil {
		return ""
	}
	defer os.RemoveAll(empty)
	r := &Repo{exec: program, options: o, place: place{gitDir: empty, commonDir: empty}, shadow: empty}
	cfg, err := r.readConfig(ctx)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(cfg.find("user.name"))
}

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
