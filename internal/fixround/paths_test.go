package fixround

import (
	"strings"
	"testing"
)

// TestForbidden: a fix cannot change what steers reviewers or agents, what CI, hooks, editors, package managers
// or build tools run, who owns code, and git. It can change code and documents of similar names.
func TestForbidden(t *testing.T) {
	for why, paths := range map[string]string{
		"steers": ".precedent.yaml CLAUDE.md pkg/AGENTS.md AGENT.md agent.md WARP.md pkg/WARP.md .agent/rules/a.md " +
			".agents/x/SKILL.md .cursor/rules/a.mdc .mcp.json GEMINI.md lib/.claude/settings.json lib/.env .github/CODEOWNERS",
		"owners": "CODEOWNERS docs/CODEOWNERS pkg/owners pkg/owners_aliases",
		"pipeline": ".github/workflows/a.yml .gitlab-ci.yml ci/lint.yml .ci/build.yaml .gitlab-ci/a.sh amplify.yml " +
			"netlify.toml wrangler.toml firebase.json railway.toml Jenkinsfile .mergify.yml renovate.json5 .zuul.d/jobs.yaml " +
			".circleci/config.yml .azuredevops/pr.yml .gitea/workflows/x.yml tools/action.yml",
		"forge": ".github/settings.txt .gitea/x .forgejo/x .github/dependabot.yml",
		"hook": ".husky/pre-commit lefthook.yml .lefthook.yaml .vscode/tasks.json .vscode/mcp.json .envrc " +
			".githooks/pre-commit .devcontainer/devcontainer.json .devcontainer.json .lintstagedrc.json .zed/tasks.json .exrc",
		"manager": ".npmrc web/.yarnrc.yml .yarn/releases/yarn-4.cjs .pnpmfile.cjs .cargo/config.toml " +
			"crates/a/.cargo/config rust-toolchain.toml .mvn/extensions.xml mvnw gradlew gradle/wrapper/gradle-wrapper.jar " +
			"NuGet.Config lib/x.pth sitecustomize.py .tool-versions .bazelrc",
		"git":         ".gitmodules pkg/.gitattributes",
		"lock file":   "web/package-lock.json",
		"credentials": "deploy/id_rsa lib/server.pem",
		"": "src/owners.go src/agent.py docs/agent.md docs/warp.md src/ci/run.go circle.ts lib/cargo/config.rs " +
			"npmrc.go build.gradle package.json",
	} {
		for p := range strings.FieldsSeq(paths) {
			if got := forbidden(p, Limits{}); (got == "") != (why == "") || !strings.Contains(got, why) &&
				!strings.Contains(got, "steers") { // the first reason, whatever else forbids it

				t.Errorf("%s: %q, want %q", p, got, why)
			}
			if why != "" && forbidden(strings.ToUpper(p), Limits{}) == "" {
				t.Errorf("%s is allowed in upper case", p)
			}
		}
	}
}
