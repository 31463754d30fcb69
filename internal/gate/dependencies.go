package gate

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

// dependencies are those of one language, or of one project of it.
type dependencies struct {
	language string   // such as go, or node in web
	users    []string // programs that need them
	apart    []string // programs that need them, and that may not take what was fetched
	done     string   // what was done, for people
	missing  string   // why some are missing; empty if none is
	added    bool     // what is missing is what the change adds
	env      []string
	path     string // a folder of programs in the sandbox
	prelude  string // what a shell does before a command
	mounts   []sandbox.Mount
}

// language is a language whose dependencies are recognized by their files.
type language struct {
	name  string
	files []string
	users []string // see dependencies
	apart []string
	fetch func(*session, context.Context, language) []dependencies // nil if they are not fetched
}

// languages are all that are known. A command that names none of their programs, such as make, may need
// any of them.
func languages() []language {
	words := strings.Fields
	return []language{
		{
			"go", words("go.mod go.work"), words("go gotestsum ginkgo golangci-lint staticcheck mage"), nil,
			(*session).fetchGo,
		},
		{
			"node", words("package.json package-lock.json pnpm-lock.yaml yarn.lock"),
			words("npm npx yarn pnpm pnpx node jest vitest mocha ava eslint tsc turbo biome"), words("bun bunx deno"),
			(*session).fetchNode,
		},
		{
			"python", append(words("pyproject.toml setup.py setup.cfg Pipfile uv.lock poetry.lock"), requirementFiles...),
			words("python python3 pytest py.test mypy pyright ruff flake8 pylint trial"),
			words("uv poetry tox nox pipenv pdm hatch rye"), (*session).fetchPython,
		},
		{"rust", words("Cargo.lock Cargo.toml"), words("cargo"), nil, (*session).fetchRust},
		{"ruby", words("Gemfile"), words("bundle rake rspec rubocop"), nil, nil},
		{
			"java", words("pom.xml build.gradle build.gradle.kts build.sbt"),
			words("mvn ./mvnw gradle ./gradlew sbt ant"), nil, nil,
		},
		{"php", words("composer.json"), words("composer phpunit vendor/bin/phpunit ./vendor/bin/phpunit " +
			"phpstan vendor/bin/phpstan ./vendor/bin/phpstan"), nil, nil},
		{"elixir", words("mix.lock"), words("mix"), nil, nil},
		{"dotnet", words("packages.lock.json Directory.Packages.props"), words("dotnet"), nil, nil},
		{"swift", words("Package.resolved"), words("swift"), nil, nil},
	}
}

// in is the dependencies of one folder of a language; nothing is known of them yet.
func (l language) in(dir string) dependencies {
	name := l.name
	if dir != "." {
		name += " in " + dir
	}
	return dependencies{language: name, users: l.users, apart: l.apart}
}

// fetch prepares the dependencies of the tree, before any command runs.
func (s *session) fetch(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, fetchTotal)
	defer cancel()
	for _, l := range languages() {
		found := s.find(l.files...)
		if len(found) == 0 {
			continue
		}
		if l.fetch != nil {
			s.needed = append(s.needed, l.fetch(s, ctx, l)...)
			continue
		}
		d := l.in(shortest(found))
		if !s.vendored(l.name) {
			d.missing = "not fetched: package managers of this language are not supported"
		}
		s.needed = append(s.needed, d)
	}
}

// shortest is the outermost of the folders that were found.
func shortest(found map[string][]string) string {
	best := ""
	for _, dirs := range found {
		for _, dir := range dirs {
			if best == "" || len(dir) < len(best) || len(dir) == len(best) && dir < best {
				best = dir
			}
		}
	}
	return best
}

// vendored reports whether the tree holds the dependencies of a language itself.
func (s *session) vendored(name string) bool {
	at := map[string]string{"php": "vendor/autoload.php", "ruby": "vendor/cache", "elixir": "deps"}[name]
	return at != "" && s.exists(at)
}

var errOff = errors.New("the policy turns them off")

// mayFetch returns why nothing may be fetched from a registry; nil if it may.
func (s *session) mayFetch(registry string) error {
	switch {
	case s.Policy.Dependencies == precedent.DependenciesOff:
		return errOff
	case s.CacheDir == "":
		return errors.New("the server has no folder for caches")
	case registry == "":
		return errors.New("the operator allows no registry for them")
	case s.Read == nil:
		return errors.New("the files of the base cannot be read")
	}
	return nil
}

func (d *dependencies) fail(err error) {
	if d.missing = "not fetched: " + err.Error(); errors.Is(err, errOff) {
		d.missing = err.Error()
	}
}

// choice is a file that decides which dependencies are fetched, of the base or of the change.
type choice struct {
	data    []byte // nil if there is none
	trust   Trust
	read    func(string) []byte // reads other files of the same commit
	differs bool                // the change has another one, which does not count
}

// choose picks a file: the base's, or the change's if that differs and the policy lets it count.
func (s *session) choose(names ...string) choice {
	differs, exists := false, false
	for _, name := range names {
		head := s.head(name)
		differs = differs || string(head) != string(s.atBase(name))
		exists = exists || head != nil
	}
	c := choice{trust: Base, read: s.atBase, differs: differs}
	if differs && exists && s.Policy.Dependencies == precedent.DependenciesHead {
		c = choice{trust: s.Trust, read: s.head}
	}
	if len(names) > 0 {
		c.data = c.read(names[0])
	}
	return c
}

func (d *dependencies) say(what string, c choice) {
	switch {
	case c.trust != Base:
		d.done = what + " as of the change"
	case c.differs:
		d.done, d.missing, d.added = what+" as of the base", "those that the change adds are not fetched", true
	default:
		d.done = what + " as of the base"
	}
}

// keepInstalled returns a kept folder with what a package manager makes, and runs it if there is none. The
// folder depends on the parts and on everything that it reads.
func (s *session) keepInstalled(ctx context.Context, trust Trust, parts []string, r managerRun) (string, error) {
	parts = slices.Concat(parts, []string{r.program, r.script}, r.env)
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		parts = append(parts, name, string(r.files[name]))
	}
	return s.keepAs(trust, parts, func(to string) error { return s.runManager(ctx, to, r) })
}

// keepAs returns the kept folder for the parts, and fills it if there is none.
func (s *session) keepAs(trust Trust, parts []string, fill func(string) error) (string, error) {
	dir := filepath.Join(s.keptDir("dependencies", s.Repo, trust), keyOf(parts...))
	if findKept(dir) {
		return dir, nil
	}
	return dir, keep(dir, keepSets, fill)
}

// describeDependencies says what was done about dependencies.
func (s *session) describeDependencies() string {
	var all []string
	for _, d := range s.needed {
		if said := strings.Trim(d.done+"; "+d.missing, "; "); said != "" {
			all = append(all, d.language+": "+said)
		}
	}
	return strings.Join(all, ". ")
}

// incomplete says which dependencies that a command may need are missing; empty if none is. added
// reports whether the change adds some of them.
func (s *session) incomplete(c Command) (why string, added bool) {
	var all []string
	for _, d := range s.needed {
		switch {
		case mayUse(c.Line, d.apart, false):
			all = append(all, d.language+": "+cmp.Or(d.missing, "the command may make an environment of its own"))
			added = added || d.added
		case d.missing != "" && mayUse(c.Line, append(slices.Clone(d.users), d.apart...), true):
			all = append(all, d.language+": "+d.missing)
			added = added || d.added
		}
	}
	return strings.Join(all, "; "), added
}

// mayUse reports whether a command can need one of the programs: it names one or, if unsure is set, it
// names none that belongs to a language, as make does.
func mayUse(line string, users []string, unsure bool) bool {
	other, all := false, languages()
	for _, w := range strings.Fields(line) {
		if slices.Contains(users, w) {
			return true
		}
		other = other || slices.ContainsFunc(all,
			func(l language) bool { return slices.Contains(l.users, w) || slices.Contains(l.apart, w) })
	}
	return unsure && !other
}
