package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/settings"
)

func whyNoEngine(s settings.Source) string {
	if s.By == settings.Default {
		return settings.NoEngine
	}
	return settings.NoEngine + " (" + s.String() + ")"
}

// goEnv returns the Go environment, for the analyzers that need it.
func (a *app) goEnv() lint.GoEnv {
	self, err := os.Executable()
	if err != nil {
		return lint.GoEnv{} // go vet is skipped, and says why
	}
	modules := a.env["GOMODCACHE"] // its default depends on another variable
	if dirs := filepath.SplitList(a.env["GOPATH"]); modules == "" && len(dirs) > 0 && filepath.IsAbs(dirs[0]) {
		modules = filepath.Join(dirs[0], "pkg", "mod")
	}
	return lint.GoEnv{Path: a.env["PATH"], Home: a.env["HOME"], ModCache: modules, Tool: self}
}

// withheldVariables are the variables that an engine's program does not get: a
// change can contain instructions that make a model print its environment. The keys
// of models are passed on, because only the program knows which one it needs.
var withheldVariables = append([]string{"SSH_AUTH_SOCK", "SSH_ASKPASS", databaseVariable, databasePassword},
	tokenVariables...)

// tokenVariables are the variables that hold credentials for forges, their
// workflows and registries.
var tokenVariables = []string{
	"GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GITLAB_TOKEN", "GITEA_TOKEN",
	"FORGEJO_TOKEN",
	"BITBUCKET_TOKEN", "CI_JOB_TOKEN", "NPM_TOKEN", "NODE_AUTH_TOKEN",
}

// withheldPrefixes are the prefixes of variables of git, which would lead the
// program into the repository, of GitHub's runner, and of precedent.
var withheldPrefixes = []string{"GIT_", "PRECEDENT_", "ACTIONS_", "CI_REGISTRY", "CI_DEPLOY"}

// engineEnvironment returns the environment of an engine's program, sorted.
func (a *app) engineEnvironment() []string {
	var env []string
	for name, value := range a.env {
		if !slices.Contains(withheldVariables, name) && !slices.ContainsFunc(withheldPrefixes,
			func(p string) bool { return strings.HasPrefix(name, p) }) {
			env = append(env, name+"="+value)
		}
	}
	slices.Sort(env)
	return env
}
