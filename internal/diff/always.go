package diff

import (
	"regexp"
	"strings"
	"sync"
)

// Files that run without being called, as alternatives of a regular expression: the pipelines of
// all usual hosts; hooks, and what editors run.
const (
	pipelines = `\.(github|gitea|forgejo)/(workflows|actions)/.*|action\.ya?ml|\.gitlab-ci[^/]*\.ya?ml|\.gitlab/.*\.ya?ml|\.circleci/.*|\.buildkite/.*|\.teamcity/.*|\.semaphore/.*|\.tekton/.*` +
		`|\.builds/.*|\.build\.ya?ml|\.travis\.yml|\.?azure-pipelines[^/]*\.ya?ml|\.azure-pipelines/.*|bitbucket-pipelines\.ya?ml|\.drone\.(ya?ml|star|jsonnet)|\.woodpecker(\.ya?ml|/.*)` +
		`|\.cirrus\.(ya?ml|star)|\.?appveyor\.ya?ml|jenkinsfile[^/]*|cloudbuild\.ya?ml|buildspec\.ya?ml|codemagic\.ya?ml|bitrise\.ya?ml|wercker\.ya?ml|netlify\.toml|vercel\.json|fly\.toml|render\.ya?ml|procfile`
	hooks = `|\.husky/.*|\.githooks/.*|lefthook\.ya?ml|\.pre-commit-(config|hooks)\.ya?ml|\.overcommit\.ya?ml|\.envrc|\.gitpod\.ya?ml|(\.devcontainer/.*|devcontainer\.json)|\.vscode/(tasks|launch|settings)\.json|\.idea/runconfigurations/.*` +
		`|(applypatch-msg|commit-msg|post-(applypatch|checkout|commit|merge|receive|rewrite|update)|pre-(applypatch|auto-gc|commit|merge-commit|push|rebase|receive)|prepare-commit-msg|reference-transaction|sendemail-validate|update)`
)

// pipeline and hook match these paths.
var (
	pipeline = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(^|/)(` + pipelines + `)$`) })
	hook     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(^|/)(` + strings.TrimPrefix(hooks, "|") + `)$`) })
)

// IsPipeline reports whether a file is, by its path, part of a pipeline of CI.
func IsPipeline(path string) bool { return pipeline().MatchString(path) }

// IsHook reports whether a file is, by its path, a hook of git or something that editors run.
func IsHook(path string) bool { return hook().MatchString(path) }

// alwaysRead matches files that run without being called: pipelines of all usual hosts,
// hooks, and what builds, installs or configures tools. No rule skips them, because a
// change in one needs no other change to do harm.
var alwaysRead = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^|/)(` + pipelines + hooks +
		// Make, C, C++ and containers
		`|(gnu)?makefile(\.[^/]*)?|[^/]*\.(mk|mak|cmake)|cmakelists\.txt|cmakepresets\.json|configure(\.ac|\.in)?|meson\.build|meson_options\.txt|scons(truct|cript)|build\.zig|(docker|container)file[^/]*|[^/]*\.(docker|container)file|(docker-)?compose[^/]*\.ya?ml` +
		`|build(\.bazel)?|workspace(\.bazel)?|module\.bazel|[^/]*\.bzl|\.bazelrc|buck|taskfile\.ya?ml|\.?justfile|tiltfile|earthfile|vagrantfile|skaffold\.ya?ml|(flake|default|shell)\.nix` +
		// JavaScript
		`|package\.json|\.npmrc|\.yarnrc(\.ya?ml)?|\.pnpmfile\.[cm]?js|bunfig\.toml|deno\.jsonc?|binding\.gyp|gulpfile\.[^/]*|gruntfile\.[^/]*|[^/]+\.config\.[cm]?[jt]s|\.[a-z]+rc\.[cm]?js` +
		// JVM, .NET, Swift
		`|[^/]*\.gradle(\.kts)?|gradle(-wrapper)?\.properties|gradlew(\.bat)?|mvnw(\.cmd)?|pom\.xml|build\.xml|\.mvn/.*|[^/]*\.sbt|build\.sc|[^/]*\.(cs|fs|vb|vcx)proj|directory\.[^/]*\.(props|targets)|[^/]*\.targets|nuget\.config|[^/]*\.cake|podfile|[^/]*\.podspec|package\.swift|fastfile` +
		// Python, Ruby, Rust, PHP and others
		`|setup\.(py|cfg)|pyproject\.toml|conftest\.py|tox\.ini|noxfile\.py|sitecustomize\.py|[^/]*\.pth|requirements[^/]*\.txt|rakefile|gemfile|[^/]*\.gemspec|extconf\.rb|build\.rs|cargo\.toml|\.cargo/config(\.toml)?|composer\.json|mix\.exs|rebar\.config|go\.mod|go\.work` +
		`)$`)
})
