package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/workflow"
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
	return git.Options{TempDir: a.env["TMPDIR"], Home: a.env["HOME"], ConfigHome: a.env["XDG_CONFIG_HOME"]}
}

// identities says whose memory it is, and the operator's word is s.
func identities(ctx context.Context, repo *git.Repo, s setting) ([]precedent.Repo, error) {
	var asked precedent.Repo
	if s.Value != "" {
		var err error
		if asked, err = precedent.ParseRepo(s.Value); err != nil {
			return nil, err
		}
	}
	return workflow.Identities(ctx, repo, asked)
}

// memoryFile says where the memory of the repository is, and on whose word.
func (a *app) memoryFile(o operator, repo *git.Repo, id precedent.Repo) (setting, error) {
	file, err := a.namedMemory(o)
	if err == nil && file.Path == "" {
		file, err = workflow.DefaultMemory(repo, id, a.workflow().DataDir)
	}
	return setting{memoryKnob.key, file.Path, file.Source}, err
}

// operatorPath is a path that the operator named. In the configuration file it
// cannot be relative: to what?
func (a *app) operatorPath(s setting) (string, error) {
	path := s.Value
	if rest, ok := strings.CutPrefix(path, "~/"); ok && a.env["HOME"] != "" {
		path = filepath.Join(a.env["HOME"], rest)
	}
	if filepath.IsAbs(path) {
		return path, nil
	}
	if strings.HasPrefix(s.Source, "file ") {
		return "", hinted(fmt.Errorf("%s (%s): %q is a relative path", s.Key, s.Source, s.Value), "write an absolute path, or one that begins with ~/")
	}
	dir, err := a.workingDir()
	return filepath.Join(dir, path), err
}

// openRepository opens the repository around the working folder without its memory.
func (a *app) openRepository(ctx context.Context, op operator) (*workflow.Repository, error) {
	at, err := a.location(op)
	if err != nil {
		return nil, err
	}
	return a.workflow().OpenRepository(ctx, at)
}

// remember opens the repository around the working folder and its memory.
func (a *app) remember(ctx context.Context, flags map[string]string) (*workflow.Workspace, error) {
	op, err := a.operator(flags)
	if err != nil {
		return nil, err
	}
	at, err := a.location(op)
	if err != nil {
		return nil, err
	}
	return a.workflow().OpenWorkspace(ctx, at)
}
