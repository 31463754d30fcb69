package diff

import (
	"strings"
)

// Files that run without being called, as alternatives of a regular expression: the pipelines of
// all usual hosts, and what configures bots that merge; hooks, and what editors run.
const (
	pipelines = `\.(github|gitea|forgejo)/(workflows|actions)/.*|action\.ya?ml|\.gitlab-ci[^/]*\.ya?ml` +
		`|\.gitlab/.*\.ya?ml|\.circleci/.*|\.buildkite/.*|\.teamcity/.*|\.semaphore/.*|\.tekton/.*|\.builds/.*` +
		`|\.build\.ya?ml|\.zuul\.ya?ml|zuul\.ya?ml|\.?zuul\.d/.*|\.azuredevops/.*|\.vsts-ci\.ya?ml|\.harness/.*` +
		`|screwdriver\.ya?ml|\.?shippable\.ya?ml|\.?codefresh(\.ya?ml|/.*)|\.packit\.ya?ml|\.prow\.ya?ml` +
		`|\.ci-operator\.ya?ml|\.copr/.*|\.jenkins/.*|\.travis\.yml|\.?azure-pipelines[^/]*\.ya?ml` +
		`|\.azure-pipelines/.*|bitbucket-pipelines\.ya?ml|\.drone\.(ya?ml|star|jsonnet)|\.woodpecker(\.ya?ml|/.*)` +
		`|\.cirrus\.(ya?ml|star)|\.?appveyor\.ya?ml|jenkinsfile[^/]*|cloudbuild\.(ya?ml|json)|buildspec\.ya?ml` +
		`|codemagic\.ya?ml|bitrise\.ya?ml|wercker\.ya?ml|netlify\.toml|vercel\.json|fly\.toml|render\.ya?ml` +
		`|procfile|amplify\.ya?ml|railway\.(json|toml)|wrangler\.(toml|jsonc?)|firebase\.json|heroku\.ya?ml` +
		`|appspec\.ya?ml|\.do/.*|\.platform/.*|\.ebextensions/.*|\.gitlab-ci/.*|\.?ci/.*\.ya?ml|dagger\.json` +
		// Bots that merge, approve or update
		`|\.mergify(\.ya?ml|/.*)|\.kodiak\.toml|bors\.toml|\.bulldozer\.ya?ml|\.policy\.ya?ml|\.pullapprove\.ya?ml` +
		`|\.aviator/.*|\.trunk/.*|renovate\.json5?|\.renovaterc(\.json5?)?|\.probot\.ya?ml|\.asf\.ya?ml`
	hooks = `|\.husky/.*|\.huskyrc(\.[^/]*)?|\.?git-?hooks/.*|\.?lefthook(-local)?\.(ya?ml|toml|json)` +
		`|\.lefthook(-local)?/.*|\.?simple-git-hooks\.[^/]*|\.lintstagedrc(\.[^/]*)?|lint-staged\.config\.[^/]*` +
		`|captainhook\.json|grumphp\.ya?ml|hk\.pkl|prek\.toml|\.pre-commit-(config|hooks)\.ya?ml` +
		`|\.overcommit\.ya?ml|\.envrc(\.[^/]*)?|\.?mise(\.[^/]*)?\.toml|\.gitpod\.(ya?ml|dockerfile)` +
		`|(\.devcontainer/.*|\.?devcontainer\.json)|\.idx/.*|\.replit|\.codesandbox/.*` +
		`|\.vscode/(tasks|launch|settings|mcp|extensions)\.json|[^/]*\.code-workspace` +
		`|\.idea/(runconfigurations/.*|watchertasks\.xml)|\.zed/.*|\.fleet/.*|\.nova/.*|\.dir-locals(-2)?\.el` +
		`|\.n?vimrc|\.nvim\.lua|\.exrc|[^/]*\.sublime-(project|build)` +
		`|(applypatch-msg|commit-msg|post-(applypatch|checkout|commit|merge|receive|rewrite|update)` +
		`|pre-(applypatch|auto-gc|commit|merge-commit|push|rebase|receive)|prepare-commit-msg|proc-receive` +
		`|push-to-checkout|fsmonitor-watchman|reference-transaction|sendemail-validate|update)`
	// What makes a package manager or a build tool run a program, or take one from elsewhere.
	managers = `|\.npmrc|\.yarnrc(\.ya?ml)?|\.pnpmfile\.[cm]?js|bunfig\.toml|\.cargo/config(\.toml)?` +
		`|rust-toolchain(\.toml)?|\.bazelrc|\.bazeliskrc|\.mvn/.*|mvnw(\.cmd)?|gradlew(\.bat)?` +
		`|gradle/wrapper/.*|nuget\.config|pip\.conf|\.pypirc|\.pip/.*|\.bundle/config|sitecustomize\.py` +
		`|usercustomize\.py|[^/]*\.pth|\.tool-versions|auth\.json`
)

// pipeline, hook and manager match these paths.
var (
	manager  = pattern(`(?i)(^|/)(` + strings.TrimPrefix(managers, "|") + `|\.yarn/(releases|plugins)/.*)$`)
	pipeline = pattern(`(?i)(^|/)(` + pipelines + `)$`)
	hook     = pattern(`(?i)(^|/)(` + strings.TrimPrefix(hooks, "|") + `)$`)
)

// IsPipeline reports whether a file is, by its path, part of a pipeline of CI, or configures a bot that
// merges, approves or updates.
func IsPipeline(path string) bool { return pipeline().MatchString(path) }

// IsHook reports whether a file is, by its path, a hook of git or something that editors run.
func IsHook(path string) bool { return hook().MatchString(path) }

// IsManager reports whether a file, by its path, makes a package manager or a build tool run a program,
// or take one from elsewhere.
func IsManager(path string) bool { return manager().MatchString(path) }

// alwaysRead matches files that run without being called: pipelines of all usual hosts,
// hooks, and what builds, installs or configures tools. No rule skips them, because a
// change in one needs no other change to do harm (T1, T5).
var alwaysRead = pattern(`(?i)(^|/)(` + pipelines + hooks + managers +
	// Make, C, C++ and containers
	`|(gnu)?makefile(\.[^/]*)?|[^/]*\.(mk|mak|cmake)|cmakelists\.txt|cmakepresets\.json|configure(\.ac|\.in)?` +
	`|meson\.build|meson_options\.txt|scons(truct|cript)|build\.zig|(docker|container)file[^/]*|[^/]*\.(docker` +
	`|container)file|(docker-)?compose[^/]*\.ya?ml` +
	`|build(\.bazel)?|workspace(\.bazel)?|module\.bazel|[^/]*\.bzl|buck|taskfile\.ya?ml|\.?justfile|tiltfile` +
	`|earthfile|vagrantfile|skaffold\.ya?ml|(flake|default|shell)\.nix` +
	// JavaScript
	`|package\.json|deno\.jsonc?|binding\.gyp|gulpfile\.[^/]*|gruntfile\.[^/]*|[^/]+\.config\.[cm]?[jt]s` +
	`|\.[a-z]+rc\.[cm]?js` +
	// JVM, .NET, Swift
	`|[^/]*\.gradle(\.kts)?|gradle(-wrapper)?\.properties|pom\.xml|build\.xml|[^/]*\.sbt|build\.sc|[^/]*\.(cs|fs` +
	`|vb|vcx)proj|directory\.[^/]*\.(props|targets)|[^/]*\.targets|[^/]*\.cake|podfile|[^/]*\.podspec` +
	`|package\.swift|fastfile` +
	// Python, Ruby, Rust, PHP and others
	`|setup\.(py|cfg)|pyproject\.toml|conftest\.py|tox\.ini|noxfile\.py|requirements[^/]*\.txt|rakefile|gemfile` +
	`|[^/]*\.gemspec|extconf\.rb|build\.rs|cargo\.toml|composer\.json|mix\.exs|rebar\.config|go\.mod|go\.work)$`)
