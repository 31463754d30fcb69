package gate

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// kind is what a command does.
type kind int

const (
	other       kind = iota // anything else: it is not run
	preparation             // what a later command of the same block needs
	install                 // it gets dependencies, or the source: done before
	check                   // it builds, tests or checks
)

var (
	// good matches the names of targets and scripts that build, test or check.
	good = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:^|[-_:./])(?:tests?|testing|unit|unittests?|spec|checks?|lint(?:er|ing)?|build|compile|vet|verify|validate|ci|all|types?|typecheck|tsc|type-check)(?:$|[-_:./])`)
	})
	// bad matches those of them that need more than the tree, wait, or change it.
	bad = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:^|[-_:./])(?:docker|image|images|container|deploy|install|uninstall|push|publish|release|e2e|integration|int|acceptance|system|bench|benchmark|fuzz|watch|dev|run|serve|server|start|clean|up|down|docs?|site|fix|update|snapshots?|coverage-html|open|debug|browser|cypress|playwright|storybook|ios|android|windows|cross|multiarch|package|dist|live|smoke|load|stress|perf|gpu|cuda|all-platforms)(?:$|[-_:./])`)
	})
	script = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\./)?(?:[\w.-]+/)*[\w-]+(?:\.sh|\.py|\.bash)?$`) })
)

// subcommands are the programs of which some commands check the tree.
var subcommands = map[string][]string{
	"go": {"build", "test", "vet"}, "cargo": {"build", "test", "check", "clippy", "nextest"}, "dotnet": {"build", "test"}, "swift": {"build", "test"},
	"mix": {"test", "compile", "credo"}, "deno": {"test", "lint", "check"}, "zig": {"build", "test"}, "stack": {"build", "test"}, "cabal": {"build", "test"}, "sbt": {"test", "compile"},
	"lein": {"test"}, "ruff": {"check"}, "bazel": {"build", "test"}, "bazelisk": {"build", "test"}, "golangci-lint": {"run"}, "hatch": {"test"}, "dart": {"test", "analyze"},
	"flutter": {"test", "analyze"}, "buf": {"lint", "build"}, "terraform": {"validate"}, "biome": {"check", "lint", "ci"}, "turbo": {"build", "test", "lint"}, "meson": {"compile", "test"},
	"biber": nil, "rebar3": {"eunit", "ct", "compile"}, "gleam": {"test", "build", "check"}, "crystal": {"spec", "build"}, "shards": {"build"}, "forge": {"build", "test"}, "moon": {"check"},
}

// checkers are programs that check by themselves, whatever their arguments.
var checkers = []string{
	"pytest", "py.test", "tox", "nox", "mypy", "pyright", "flake8", "pylint", "tsc", "jest", "vitest", "mocha", "ava", "eslint", "rspec", "rubocop", "phpunit", "vendor/bin/phpunit", "./vendor/bin/phpunit",
	"vendor/bin/phpstan", "./vendor/bin/phpstan", "phpstan", "ctest", "gotestsum", "ginkgo", "staticcheck", "shellcheck", "ninja", "busted", "luacheck", "bats", "trial", "unittest",
}

// scripted are programs that run a target or a script of the repository by its name.
var scripted = []string{"make", "gmake", "just", "task", "rake", "npm", "yarn", "pnpm", "bun", "composer", "mvn", "./mvnw", "gradle", "./gradlew", "invoke", "inv", "ant", "lake", "mage"}

// wrappers are programs that run the command after them.
var wrappers = []string{"uv run", "poetry run", "pipenv run", "pdm run", "rye run", "hatch run", "bundle exec", "npx", "pnpm exec", "yarn exec", "bunx", "python -m", "python3 -m", "opam exec --", "nix develop -c"}

// preparations begin commands that only prepare others of the same block.
var preparations = []string{"cd ", "mkdir ", "cmake ", "./configure", "./autogen.sh", "autoreconf", "meson setup ", "./bootstrap", "export ", "qmake"}

// installs begin commands that get dependencies.
var installs = []string{
	"npm install", "npm ci", "npm i", "yarn install", "pnpm install", "pnpm i", "bun install", "pip install", "pip3 install", "python -m pip install", "uv sync", "uv pip install",
	"poetry install", "pipenv install", "pdm install", "bundle install", "composer install", "go mod download", "go mod tidy", "go get", "mix deps.get", "cargo fetch", "dotnet restore",
	"git clone", "git submodule update", "corepack enable",
}

// bare is a command without assignments before it and without the program that only
// starts it, such as uv run.
func bare(line string) []string {
	words := strings.Fields(line)
	for len(words) > 0 && assignment().MatchString(words[0]) {
		words = words[1:]
	}
	line = strings.Join(words, " ")
	for _, w := range wrappers {
		rest, is := strings.CutPrefix(line, w+" ")
		if !is {
			continue
		}
		words = strings.Fields(rest)
		for len(words) > 0 && strings.HasPrefix(words[0], "-") && words[0] != "-m" {
			words = words[1:]
		}
		if len(words) > 1 && words[0] == "-m" {
			words = words[1:]
		}
		return words
	}
	return words
}

// variant is what a command has in common with others that do the same with other options.
func variant(line string) string {
	parts := strings.Split(line, " && ")
	words := bare(parts[len(parts)-1])
	if len(words) == 0 {
		return line
	}
	first := words[0]
	if !slices.Contains(checkers, first) {
		for _, w := range words[1:] {
			if !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "+") && !assignment().MatchString(w) && w != "run" && w != "clean" {
				first += " " + w
				if subcommands[words[0]] != nil {
					break
				}
			}
		}
	}
	folder := ""
	for _, p := range parts[:len(parts)-1] {
		if strings.HasPrefix(p, "cd ") {
			folder += p + " "
		}
	}
	return folder + first
}

// classify says what one command does, by its words.
func classify(line string) kind {
	if slices.ContainsFunc(installs, func(i string) bool { return line == i || strings.HasPrefix(line, i+" ") }) || line == "yarn" {
		return install
	}
	words := bare(line)
	if len(words) == 0 {
		return other
	}
	line = strings.Join(words, " ")
	first, rest := words[0], words[1:]
	if strings.HasPrefix(line, "cmake --build") {
		return check
	}
	if slices.ContainsFunc(preparations, func(p string) bool { return line == strings.TrimSpace(p) || strings.HasPrefix(line, p) }) {
		return preparation
	}
	target := firstPlain(rest)
	switch {
	case slices.Contains(checkers, first):
		return check
	case first == "cargo" && target == "fmt", first == "zig" && target == "fmt":
		return when(slices.Contains(rest, "--check"))
	case first == "ruff" && target == "format", first == "black", first == "prettier":
		return when(slices.Contains(rest, "--check"))
	case subcommands[first] != nil:
		return when(slices.Contains(subcommands[first], target))
	case slices.Contains(scripted, first):
		return classifyTargets(first, rest)
	case slices.Contains([]string{"sh", "bash", "python", "python3"}, first):
		return when(len(rest) == 1 && isScript(rest[0]) || first[0] == 'p' && len(rest) > 1 && isPythonTest(rest))
	case strings.Contains(first, "/"):
		return when(isScript(first) && (len(rest) == 0 || good().MatchString(target)))
	}
	return other
}

func when(is bool) kind {
	if is {
		return check
	}
	return other
}

// isPythonTest reports whether the arguments of python run the tests of a project.
func isPythonTest(args []string) bool {
	return (args[0] == "manage.py" || args[0] == "setup.py") && args[1] == "test"
}

// isScript reports whether a path is that of a script of the tree that checks.
func isScript(name string) bool {
	return script().MatchString(name) && !path.IsAbs(name) && !strings.Contains(name, "..") && good().MatchString(strings.TrimSuffix(path.Base(name), path.Ext(name))) && !bad().MatchString(path.Base(name))
}

// firstPlain is the first word that is neither an option nor a choice of a toolchain.
func firstPlain(words []string) string {
	for _, w := range words {
		if !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "+") {
			return w
		}
	}
	return ""
}

// classifyTargets judges a program by the targets or scripts that it shall run.
func classifyTargets(program string, words []string) kind {
	var targets []string
	for i, w := range words {
		if w == "--" {
			break
		}
		if strings.HasPrefix(w, "-") || assignment().MatchString(w) || i > 0 && slices.Contains([]string{"-C", "-f", "--filter", "--prefix"}, words[i-1]) {
			continue
		}
		targets = append(targets, w)
	}
	runs := slices.Contains([]string{"npm", "yarn", "pnpm", "bun", "composer"}, program)
	if runs && len(targets) > 0 && slices.Contains([]string{"run", "run-script", "run-s", "workspace"}, targets[0]) {
		targets = targets[1:]
	}
	java := slices.Contains([]string{"mvn", "./mvnw", "gradle", "./gradlew", "ant"}, program)
	if java {
		targets = slices.DeleteFunc(targets, func(t string) bool { return t == "clean" })
	}
	if len(targets) == 0 {
		return when(program == "make" || program == "gmake" || program == "rake" && len(words) == 0)
	}
	for _, t := range targets {
		maven := java && slices.Contains([]string{"package", "install", "assemble"}, t)
		if !maven && (!good().MatchString(t) || bad().MatchString(t)) {
			return other
		}
		if runs {
			break // the words after a script are its arguments
		}
	}
	return check
}
