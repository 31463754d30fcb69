package git

import (
	"context"
	"os"
	"strings"
)

// UserName is the user's name in git's configuration; empty if there is none.
func (r *Repo) UserName() string { return strings.TrimSpace(r.config.last("user.name")) }

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
	return strings.TrimSpace(cfg.last("user.name"))
}
