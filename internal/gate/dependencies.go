package gate

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

// dependencies are those of one language.
type dependencies struct {
	language string   // such as go
	users    []string // programs that need them
	done     string   // what was done, for people
	missing  string   // why some are missing; empty if none is
	env      []string
	prelude  string // what a shell does before a command
	mounts   []sandbox.Mount
}

// language is a language whose dependencies are recognized by their files in the top
// folder. Only those of Go and of npm are fetched: the others' package managers run code
// of the tree, or of what they fetch, or are told by the tree where to fetch from.
type language struct {
	name  string
	files []string
	users []string
}

var languages = []language{
	{"node", []string{"package.json"}, []string{"npm", "npx", "yarn", "pnpm", "bun", "bunx", "node", "jest", "vitest", "mocha", "ava", "eslint", "tsc", "turbo", "biome"}},
	{"python", []string{"requirements.txt", "requirements-dev.txt", "pyproject.toml", "setup.py", "Pipfile"}, []string{"python", "python3", "pytest", "py.test", "tox", "nox", "mypy", "pyright", "ruff", "uv", "poetry", "pipenv", "pdm", "hatch", "flake8", "pylint", "trial"}},
	{"rust", []string{"Cargo.lock"}, []string{"cargo"}},
	{"ruby", []string{"Gemfile"}, []string{"bundle", "rake", "rspec", "rubocop"}},
	{"java", []string{"pom.xml", "build.gradle", "build.gradle.kts", "build.sbt"}, []string{"mvn", "./mvnw", "gradle", "./gradlew", "sbt", "ant"}},
	{"php", []string{"composer.json"}, []string{"composer", "phpunit", "vendor/bin/phpunit", "./vendor/bin/phpunit", "phpstan", "vendor/bin/phpstan", "./vendor/bin/phpstan"}},
	{"elixir", []string{"mix.lock"}, []string{"mix"}},
	{"dotnet", []string{"packages.lock.json", "Directory.Packages.props"}, []string{"dotnet"}},
	{"swift", []string{"Package.resolved"}, []string{"swift"}},
}

// fetch prepares the dependencies of the tree, before any command runs.
func (s *session) fetch(ctx context.Context) {
	if d, ok := s.fetchGo(ctx); ok {
		s.needed = append(s.needed, d)
	}
	for _, l := range languages {
		if !slices.ContainsFunc(l.files, s.has) {
			continue
		}
		d := dependencies{language: l.name, users: l.users, missing: "not fetched"}
		if l.name == "node" {
			var ok bool
			if d, ok = s.fetchNode(ctx, d); !ok {
				continue
			}
		}
		if s.vendored(l.name) {
			d.missing = ""
		}
		s.needed = append(s.needed, d)
	}
}

// vendored reports whether the tree holds the dependencies of a language itself.
func (s *session) vendored(name string) bool {
	dirs := map[string]string{"rust": "vendor", "php": "vendor/autoload.php", "ruby": "vendor/cache", "elixir": "deps"}
	if dirs[name] == "" {
		return false
	}
	_, err := os.Lstat(filepath.Join(s.Tree, filepath.FromSlash(dirs[name])))
	return err == nil
}

// has reports whether the tree has a regular file.
func (s *session) has(name string) bool {
	info, err := os.Lstat(filepath.Join(s.Tree, filepath.FromSlash(name)))
	return err == nil && info.Mode().IsRegular()
}

// maxManifest is how many bytes of a file about dependencies are read.
const maxManifest = 16 << 20

// head reads a regular file of the tree, nil if there is none.
func (s *session) head(name string) []byte {
	full := filepath.Join(s.Tree, filepath.FromSlash(name))
	info, err := os.Lstat(full)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxManifest {
		return nil
	}
	data, _ := os.ReadFile(full)
	return data
}

// atBase reads a file of the base, nil if there is none.
func (s *session) atBase(name string) []byte {
	if s.Read == nil {
		return nil
	}
	data, err := s.Read(name)
	if err != nil || len(data) > maxManifest {
		return nil
	}
	return data
}

// fromHead reports whether the change may choose dependencies.
func (s *session) fromHead() bool { return s.Policy.Dependencies == precedent.DependenciesHead }

// describeDependencies says what was done about dependencies.
func (s *session) describeDependencies() string {
	var all []string
	for _, d := range s.needed {
		said := d.done
		if d.missing != "" {
			said = strings.Trim(d.done+"; "+d.missing, "; ")
		}
		if said != "" {
			all = append(all, d.language+": "+said)
		}
	}
	return strings.Join(all, ". ")
}

// incomplete says which dependencies that a command may need are missing; empty if none is.
func (s *session) incomplete(c Command) string {
	var all []string
	for _, d := range s.needed {
		if d.missing != "" && mayUse(c.Line, d.users) {
			all = append(all, d.language+": "+d.missing)
		}
	}
	return strings.Join(all, "; ")
}

// mayUse reports whether a command can need one of the programs: it names one, or it names
// none that belongs to a language, as make does.
func mayUse(line string, users []string) bool {
	other := false
	for _, part := range strings.Split(line, "&&") {
		for i, w := range strings.Fields(part) {
			if slices.Contains(users, w) {
				return true
			}
			if i == 0 && w == "go" || slices.ContainsFunc(languages, func(l language) bool { return slices.Contains(l.users, w) }) {
				other = true
			}
		}
	}
	return !other
}
