package prompt

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/precedent-dev/precedent/internal/diff"
)

// platform is a guide that is built into the program: what to look for in one kind of
// file. Its text is platforms/<name>.md.
type platform struct {
	name, title string
	// patterns of the files that it is for, lower case. They match at any depth.
	patterns []string
}

// platforms lists the guides in the order in which a prompt shows them.
func platforms() []platform {
	return []platform{
		{"go", "Go", []string{"*.go"}},
		{"react", "JavaScript, TypeScript and React", []string{
			"*.ts", "*.tsx", "*.js", "*.jsx", "*.mts", "*.cts", "*.mjs",
			"*.cjs",
		}},
		{"ios", "Swift, iOS and SwiftUI", []string{"*.swift", "*.entitlements", "info.plist"}},
		{"android", "Kotlin and Android", []string{"*.kt", "*.kts", "androidmanifest.xml"}},
		{"python", "Python", []string{"*.py", "*.pyi"}},
		{"rust", "Rust", []string{"*.rs"}},
		{"java", "Java", []string{"*.java"}},
		{"sql", "SQL and migrations", []string{
			"*.sql", "db/migrate/*.rb", "alembic/versions/*.py",
			"migrations/**/*.go", "migrations/**/*.js", "migrations/**/*.php", "migrations/**/*.py", "migrations/**/*.rb",
			"migrations/**/*.ts",
		}},
		{"infrastructure", "Infrastructure: Terraform, containers, Kubernetes, CI", []string{
			"*.tf", "*.tfvars", "dockerfile", "dockerfile.*", "*.dockerfile", "containerfile",
			"compose.yml", "compose.yaml", "compose.*.yml", "compose.*.yaml", "docker-compose*.yml", "docker-compose*.yaml",
			".github/workflows/*.yml", ".github/workflows/*.yaml", "action.yml", "action.yaml", ".gitlab-ci.yml",
			"k8s/**/*.yml", "k8s/**/*.yaml", "kubernetes/**/*.yml", "kubernetes/**/*.yaml",
			"charts/**/*.yml", "charts/**/*.yaml", "helm/**/*.yml", "helm/**/*.yaml", "kustomization.yaml",
		}},
	}
}

// guide is the text for models.
func (p platform) guide() string { return strings.TrimSpace(load("platforms/" + p.name + ".md")) }

// platformGuides returns the guides for the files of a change that are shown. They
// depend on the whole change, so that the prompts for all its parts start the same.
func platformGuides(files []*diff.File) []string {
	var guides []string
	for _, p := range platforms() {
		if slices.ContainsFunc(files, func(f *diff.File) bool { return f.Skip == "" && p.covers(f.Path) }) {
			guides = append(guides, p.guide())
		}
	}
	return guides
}

// covers reports whether the guide is for a file.
func (p platform) covers(file string) bool {
	return slices.ContainsFunc(p.patterns, func(pattern string) bool {
		return doublestar.MatchUnvalidated("**/"+pattern, strings.ToLower(file))
	})
}
