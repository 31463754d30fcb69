package prompt

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent/internal/diff"
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
	seen := map[string]bool{}
	for _, test := range []struct{ file, want string }{
		{"main.go", "go"},
		{"internal/a b/x_test.go", "go"},
		{"X.GO", "go"},
		{"web/App.tsx", "react"},
		{"a.ts", "react"},
		{"a.js", "react"},
		{"a.jsx", "react"},
		{"next.config.mjs", "react"},
		{"a.d.cts", "react"},
		{"ios/App/View.swift", "ios"},
		{"ios/App/Info.plist", "ios"},
		{"App.entitlements", "ios"},
		{"app/src/Main.kt", "android"},
		{"build.gradle.kts", "android"},
		{"app/src/main/AndroidManifest.xml", "android"},
		{"a/b.py", "python"},
		{"a/b.pyi", "python"},
		{"src/lib.rs", "rust"},
		{"src/main/java/A.java", "java"},
		{"q.sql", "sql"},
		{"store/migrations/0001_init.sql", "sql"},
		{"db/migrate/20240101_add_users.rb", "sql"},
		{"shop/migrations/0002_price.py", "python sql"},
		{"alembic/versions/ab12.py", "python sql"},
		{"src/migrations/v1/add.ts", "react sql"},
		{"store/migrations/3.go", "go sql"},
		{"infra/main.tf", "infrastructure"},
		{"prod.tfvars", "infrastructure"},
		{"Dockerfile", "infrastructure"},
		{"web/Dockerfile.dev", "infrastructure"},
		{"api.Dockerfile", "infrastructure"},
		{"Containerfile", "infrastructure"},
		{".github/workflows/ci.yml", "infrastructure"},
		{".github/workflows/release.yaml", "infrastructure"},
		{".github/actions/setup/action.yml", "infrastructure"},
		{".gitlab-ci.yml", "infrastructure"},
		{"docker-compose.yml", "infrastructure"},
		{"docker-compose.prod.yaml", "infrastructure"},
		{"compose.yaml", "infrastructure"},
		{"deploy/k8s/overlays/prod/web.yaml", "infrastructure"},
		{"charts/web/templates/job.yaml", "infrastructure"},
		{"base/kustomization.yaml", "infrastructure"},

		{"", ""},
		{"/", ""},
		{".", ""},
		{"..", ""},
		{"go", ""},
		{"README.md", ""},
		{"migrations/README.md", ""},
		{"migrations", ""},
		{"x.go/y", ""},
		{"x.go/", ""},
		{"x.go\\y.txt", ""},
		{"x.go ", ""},
		{"x.go\n", ""},
		{"x.go.bak", ""},
		{"xgo", ""},
		{"x.\u212at", ""},
		{"x.p\u0443", ""},
		{"x.\u202eog", ""},
		{"x.go\u200b", ""},
		{"*.{go,py}", ""},
		{"[", ""},
		{"**", ""},
		{"k8s.yaml", ""},
		{"xk8s/a.yaml", ""},
		{"github/workflows/ci.yml", ""},
		{".github/workflows/x/y.yml", ""},
		{".github/dependabot.yml", ""},
		{"mydockerfile", ""},
		{"docs/compose.yml.md", ""},
		{"config/app.yaml", ""},
		{"\xff\xfe.\xff", ""},
		{"*.go", "go"},
		{"../../etc/x.py", "python"},
		{"a\nb.rs", "rust"},
	} {
		if diff := cmp.Diff(strings.Fields(test.want), platformsOf(test.file)); diff != "" && test.want+strings.Join(platformsOf(test.file), "") != "" {
			t.Errorf("%q (-want +got):\n%s", test.file, diff)
		}
		for _, name := range strings.Fields(test.want) {
			seen[name] = true
		}
	}
	for _, p := range platforms() {
		if !seen[p.name] {
			t.Errorf("no path here selects %s", p.name)
		}
	}
}

// TestPlatformPatterns: what a file's folder is called, but for the few that a
// pattern names, does not matter, and no path is too wild.
func TestPlatformPatterns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir := rapid.StringMatching(`([^/]{0,6}/){0,5}`).Draw(t, "dir")
		name := rapid.SampledFrom([]string{"a.go", "b.PY", "c.txt", "d", "Dockerfile", "e.sql", ".rs"}).Draw(t, "name")
		if diff := cmp.Diff(platformsOf(name), platformsOf(dir+name)); diff != "" {
			t.Fatalf("%q (-without +with the folder):\n%s", dir+name, diff)
		}
		platformsOf(rapid.String().Draw(t, "path"))
	})
}

func TestPlatforms(t *testing.T) {
	var names []string
	for _, p := range platforms() {
		if slices.Contains(names, p.name) || p.title == "" || len(p.patterns) == 0 {
			t.Errorf("platform %+v", p)
		}
		names = append(names, p.name)
		if n := Tokens(p.guide()); n == 0 || n > 450 {
			t.Errorf("the guide for %s has %d tokens, at most 450 are wanted", p.name, n)
		}
		if head, _, _ := strings.Cut(p.guide(), "\n"); head != "## "+p.title {
			t.Errorf("%s begins with %q, want its title %q", p.name, head, p.title)
		}
		for _, pattern := range p.patterns {
			for _, elem := range strings.Split(pattern, "/") {
				if _, err := path.Match(elem, ""); err != nil || elem != lowerASCII(elem) || strings.Count(pattern, "**") > 1 {
					t.Errorf("%s: pattern %q: %v", p.name, pattern, err)
				}
			}
		}
	}
	guides, err := files.ReadDir("platforms")
	if err != nil || len(guides) != len(names) {
		t.Errorf("%d guides for %d platforms: %v", len(guides), len(names), err)
	}
}

// TestPlatformsInPrefix: the guides stand in one order, before the team's
// documents, whatever the order of the files is; files that are not shown call
// for none; all changes with such files have the same.
func TestPlatformsInPrefix(t *testing.T) {
	in := sample()
	in.Files = nil
	for _, name := range []string{"x.sql", "b.go", "a.tsx", "a.go", "Main.java"} {
		in.Files = append(in.Files, &diff.File{Path: name, Status: diff.Modified})
	}
	in.Files[4].Skip = "generated"
	first := build(in, finder("bugs"))
	last := -1
	for _, p := range platforms() {
		at := strings.Index(first.Common, p.guide())
		if want := slices.Contains([]string{"go", "react", "sql"}, p.name); want != (at >= 0) {
			t.Errorf("%s: in the prefix: %t", p.name, !want)
		} else if want && at < last {
			t.Errorf("%s is out of order", p.name)
		} else if want {
			last = at
		}
	}
	if team := strings.Index(first.Common, "# What the team wrote down"); last > team {
		t.Error("a guide stands behind the team's documents")
	}
	head := func(p Prompt) string {
		s, _, _ := strings.Cut(p.Common, "# What the team wrote down")
		_, s, _ = strings.Cut(s, "\n") // the number differs
		return s
	}
	slices.Reverse(in.Files)
	in.Shards[0] = "=== b.go (modified)\n@@ -1 +1 @@\n1 +x\n"
	if diff := cmp.Diff(head(first), head(build(in, finder("bugs")))); diff != "" {
		t.Errorf("another change begins differently (-first +second):\n%s", diff)
	}
}
