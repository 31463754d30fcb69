package gate

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/markdown"
	"github.com/precedent-dev/precedent/internal/text"
)

// Documents are the files of the base that may name commands, the most authoritative first.
var Documents = []string{"AGENTS.md", "CLAUDE.md", "README.md"}

// Limits of what is read and run.
const (
	maxDocument = 256 << 10 // bytes
	maxCommands = 8
	maxLine     = 300 // bytes
)

// Document is a file of the base commit that may name commands.
type Document struct {
	Path string
	Text string
}

// ReadDocuments reads the documents of the base commit. Those that cannot be read, or that
// are not text, count as absent.
func ReadDocuments(read func(path string) ([]byte, error)) []Document {
	var docs []Document
	for _, name := range Documents {
		if data, err := read(name); err == nil && utf8.Valid(data) {
			docs = append(docs, Document{name, string(data[:min(len(data), maxDocument)])})
		}
	}
	return docs
}

const fromPolicy = "policy"

// Discover returns the commands of a gate: those of the policy, else those of the first document that has
// any. In a document, a command is a line of a fenced code block below one of the headings Build, Test, Quick
// Reference, Development and Getting Started that runs a known build tool and nothing else; see docs/gate.md.
func Discover(policy precedent.Gate, docs []Document) []Command {
	if policy.Off {
		return nil
	}
	var all []Command
	for _, c := range policy.Commands {
		all = append(all, Command{Name: c.Name, Line: c.Run, Source: fromPolicy})
	}
	for _, d := range docs {
		if len(all) > 0 {
			break
		}
		all = commandsOf(d)
	}
	return all
}

var heading = text.Pattern(`(?i)\b(?:build(?:ing)?|tests?|testing|quick reference|development|getting started)\b`)

// shells are the languages of blocks that hold commands.
var shells = []string{"", "sh", "bash", "shell", "zsh", "console", "shell-session", "shellsession", "sh-session"}

// commandsOf finds the commands of a document: of those that do the same with other options, the first.
func commandsOf(d Document) []Command {
	var all []Command
	seen := map[string]bool{}
	for _, block := range markdown.CodeBlocks(d.Text) {
		i := slices.IndexFunc(block.Headings, heading().MatchString)
		if i < 0 || !slices.Contains(shells, strings.ToLower(block.Language)) {
			continue
		}
		under := text.Cut(text.Collapse(strings.Trim(text.VisibleLine(block.Headings[i]), "*_`# ")), 60)
		for _, line := range typedLines(block.Text) {
			does, ok := checks(line)
			if !ok || seen[does] {
				continue
			}
			seen[does] = true
			all = append(all, Command{Name: text.Cut(line, 60), Line: line, Source: d.Path + ": " + under})
			if len(all) == maxCommands {
				return all
			}
		}
	}
	return all
}

// typedLines returns the lines of a block that a person would type: without prompts, comments
// and output, and only up to the first that leads to another folder.
func typedLines(block string) []string {
	block = strings.ReplaceAll(block, "\\\n", " ")
	prompts := strings.HasPrefix(block, "$ ") || strings.Contains(block, "\n$ ")
	var all []string
	for line := range strings.Lines(block) {
		line, typed := strings.CutPrefix(line, "$ ")
		line, _, _ = strings.Cut(line, " #")
		line = text.Collapse(line)
		if strings.HasPrefix(line, "cd ") || strings.HasPrefix(line, "pushd ") {
			break
		}
		if typed || !prompts {
			all = append(all, line)
		}
	}
	return all
}

// targets are the words by which projects call what builds, tests or checks them.
const targets = "build compile test tests test-unit unit check lint typecheck type-check vet verify validate ci all"

// tools are the programs that build, test or check a tree, each with the words that make it do
// so; "." means that it needs none.
var tools = map[string]string{
	"go": "build test vet", "gotestsum": ".", "golangci-lint": "run", "staticcheck": ".",
	"cargo": "build test check clippy nextest run",
	"make":  ". " + targets, "just": targets, "task": targets, "rake": ". test spec", "mage": targets,
	"npm": "run " + targets, "pnpm": "run " + targets, "yarn": "run " + targets, "bun": "test", "turbo": "run " + targets,
	"deno": "test lint check", "tsc": ".", "eslint": ".", "jest": ".", "vitest": ". run", "mocha": ".",
	"biome": "check lint ci", "pytest": ".", "unittest": ". discover", "tox": ".", "nox": ".", "mypy": ".",
	"pyright": ".", "ruff": "check", "flake8": ".", "pylint": ".", "rspec": ".", "rubocop": ".", "ctest": ".",
	"phpunit": ".", "vendor/bin/phpunit": ".", "composer": "run " + targets, "dotnet": "build test",
	"swift": "build test", "mix": "test compile", "zig": "build test",
	"gradle": "clean " + targets, "./gradlew": "clean " + targets,
	"mvn": "clean package " + targets, "./mvnw": "clean package " + targets,
	"sbt": "test compile", "bazel": "build test", "stack": "build test", "cabal": "build test",
	"flutter": "test analyze", "dart": "test analyze",
}

// onFolders are those of them that may be told which folders to look at.
const onFolders = " go golangci-lint staticcheck eslint mypy pyright ruff flake8 pylint pytest bazel "

// wrappers run the command after them.
var wrappers = []string{
	"uv run ", "poetry run ", "pipenv run ", "pdm run ", "hatch run ", "bundle exec ", "npx ", "pnpm exec ",
	"python -m ", "python3 -m ",
}

var (
	assignment = text.Pattern(`^[A-Za-z_]\w*=[\w./:,@%+-]*$`)
	// harmless matches options that neither choose some of the tests, nor wait, nor change files.
	harmless = text.Pattern(`^(?:-v+|-q|-s|-B|-D|warnings|-j\d*|-race|-short|-count=1|-cover|-timeout=\w+|--|` +
		`--(?:all|workspace|release|locked|frozen|all-features|all-targets|no-fail-fast|tests|quiet|silent|` +
		`verbose|strict|run|noEmit|no-daemon|parallel|if-present))$`)
	// scope matches all of the tree, and one of its folders.
	scope = text.Pattern(`^(?:\.|(?:\./|//)?(?:\w[\w-]*/)*(?:\w[\w-]*|\.\.\.)?)$`)
)

// bare returns the words of a command without assignments before it and without the program
// that only starts it, such as uv run.
func bare(line string) []string {
	words := strings.Fields(line)
	for len(words) > 0 && assignment().MatchString(words[0]) {
		words = words[1:]
	}
	line = strings.Join(words, " ")
	for _, w := range wrappers {
		if rest, is := strings.CutPrefix(line, w); is {
			words = strings.Fields(rest)
			for len(words) > 0 && strings.HasPrefix(words[0], "--") && harmless().MatchString(words[0]) {
				words = words[1:]
			}
			return words
		}
	}
	return words
}

// checks reports whether a line builds, tests or checks the tree and does nothing else. What it
// does is the line without its options.
func checks(line string) (does string, ok bool) {
	words := bare(line)
	if len(words) == 0 || len(line) > maxLine || tools[words[0]] == "" {
		return "", false
	}
	verbs := strings.Fields(tools[words[0]])
	ok = slices.Contains(verbs, ".")
	did := words[:1:1]
	for _, w := range words[1:] {
		switch {
		case harmless().MatchString(w):
			continue
		case w != "." && slices.Contains(verbs, w):
			ok = true
		case !strings.Contains(onFolders, " "+words[0]+" ") || !scope().MatchString(w):
			return "", false
		}
		did = append(did, w)
	}
	return strings.Join(did, " "), ok
}
