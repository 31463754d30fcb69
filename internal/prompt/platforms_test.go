package prompt

import (
	"strings"
	"testing"
)

// names of the platforms that a file belongs to.
func platformsOf(file string) []string {
	names := []string{}
	for _, p := range platforms() {
		if p.covers(file) {
			names = append(names, p.name)
		}
	}
	return names
}

func TestPlatformOfFile(t *testing.T) {
	for platform, list := range map[string]string{
		"go":      "main.go internal/x_test.go X.GO *.go",
		"react":   "web/App.tsx a.ts a.js a.jsx next.config.mjs a.d.cts",
		"ios":     "ios/App/View.swift ios/App/Info.plist App.entitlements",
		"android": "app/src/Main.kt build.gradle.kts app/src/main/AndroidManifest.xml",
		"python":  "a/b.py a/b.pyi ../../etc/x.py", "rust": "src/lib.rs", "java": "src/main/java/A.java",
		"sql":        "q.sql store/migrations/0001_init.sql db/migrate/20240101_add_users.rb",
		"python sql": "shop/migrations/0002_price.py alembic/versions/ab12.py", "react sql": "src/migrations/v1/add.ts",
		"go sql": "store/migrations/3.go",
		"infrastructure": "infra/main.tf prod.tfvars Dockerfile web/Dockerfile.dev api.Dockerfile Containerfile " +
			".github/workflows/ci.yml .github/actions/setup/action.yml .gitlab-ci.yml docker-compose.prod.yaml compose.yaml " +
			"deploy/k8s/overlays/prod/web.yaml charts/web/templates/job.yaml base/kustomization.yaml",
		"": "/ . .. go README.md migrations/README.md migrations x.go/y x.go/ x.go.bak xgo x.p\u0443 x.go\u200b " +
			"*.{go,py} [ ** k8s.yaml xk8s/a.yaml github/workflows/ci.yml .github/workflows/x/y.yml .github/dependabot.yml " +
			"mydockerfile docs/compose.yml.md config/app.yaml",
	} {
		for file := range strings.FieldsSeq(list) {
			if got := strings.Join(platformsOf(file), " "); got != platform {
				t.Errorf("%q: %q, want %q", file, got, platform)
			}
		}
	}
}
