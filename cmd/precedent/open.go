package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// openRepo opens the repository around the working folder.
func (a *app) openRepo(ctx context.Context) (*git.Repo, error) {
	dir, err := a.workingDir()
	if err != nil {
		return nil, err
	}
	o := a.gitOptions()
	o.Index = a.env["GIT_INDEX_FILE"]
	return git.Open(ctx, dir, o)
}

func (a *app) workingDir() (string, error) {
	if a.dir != "" {
		return a.dir, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find working folder: %w", err)
	}
	return dir, nil
}

func (a *app) gitOptions() git.Options {
	return git.Options{
		Home: a.env["HOME"], ConfigHome: a.env["XDG_CONFIG_HOME"], LazyEnv: a.lazyEnvironment(),
		Cache: a.folder("XDG_CACHE_HOME", ".cache"),
	}
}

// lazyVariables are what git needs to reach the remote of a clone as the user.
var lazyVariables = []string{
	"SSH_AUTH_SOCK", "HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "all_proxy",
	"no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
}

// lazyEnvironment returns them as NAME=VALUE, with PATH.
func (a *app) lazyEnvironment() []string {
	var env []string
	for _, name := range lazyVariables {
		if value := a.env[name]; value != "" {
			env = append(env, name+"="+value)
		}
	}
	return append(env, "PATH="+a.env["PATH"])
}

// trustPath removes relative folders from PATH, and those in the work tree, such as .venv/bin: a change can put a git,
// bwrap or claude there, which would run outside of the sandbox. A home folder that is a work tree is the user's.
func (a *app) trustPath() {
	a.allPath = a.env["PATH"]
	top := ""
	if dir, err := a.workingDir(); err == nil {
		top = git.WorkTree(dir)
	}
	if home, err := filepath.EvalSymlinks(a.env["HOME"]); err == nil && home == top {
		top = ""
	}
	dirs := slices.DeleteFunc(filepath.SplitList(a.allPath), func(dir string) bool {
		real, _ := filepath.EvalSymlinks(dir) // what is not there has no programs
		below, err := filepath.Rel(top, real)
		return !filepath.IsAbs(dir) || top != "" && err == nil && filepath.IsLocal(below)
	})
	a.env["PATH"] = strings.Join(dirs, string(filepath.ListSeparator))
	_ = os.Setenv("PATH", a.env["PATH"]) // the name is valid
}

// linterPath is where linters are found: they run in the sandbox, so also in the work tree.
func (a *app) linterPath() string { return cmp.Or(a.allPath, a.env["PATH"]) }

// location returns the working folder, and what the operator set about the
// repository and its memory.
func (a *app) location(op *settings.Settings) (workspace.Location, error) {
	dir, err := a.workingDir()
	return workspace.Location{
		Dir: dir, Index: a.env["GIT_INDEX_FILE"], Repo: op.Repo.Value, Forge: op.Forge.Value,
		Memory: op.MemoryDB, Reads: a.reads, NoLearnings: !op.Learnings.Value,
	}, err
}

// openRepository opens the repository around the working folder without its memory.
func (a *app) openRepository(ctx context.Context, op *settings.Settings) (*workspace.Repository, error) {
	at, err := a.location(op)
	if err != nil {
		return nil, err
	}
	return a.workflow().OpenRepository(ctx, at)
}

// openWorkspace opens the repository around the working folder and its memory.
func (a *app) openWorkspace(ctx context.Context, flags map[string]string) (*workspace.Workspace, error) {
	op, err := a.settings(flags)
	if err != nil {
		return nil, err
	}
	at, err := a.location(op)
	if err != nil {
		return nil, err
	}
	return a.workflow().OpenWorkspace(ctx, at)
}
