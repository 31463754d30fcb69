package gate

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

func lines(commands []Command) []string {
	all := needs.Each(commands, func(c Command) string { return c.Line })
	return all
}

// fence is a document with one code block under a heading.
func fence(heading, language, code string) string {
	return "# Project\n\nWords.\n\n## " + heading + "\n\nMore words:\n\n```" + language + "\n" + code + "\n```\n"
}

// TestDiscoverForms: lines that build, test or check are found, and nothing else is.
func TestDiscoverForms(t *testing.T) {
	for _, test := range []struct {
		name, heading, language, code string
		want                          []string
	}{
		{"prompts and output", "Testing", "console", "$ go test ./...\nok  \texample.com/m\t0.1s\n$ make lint\nmake test", []string{"go test ./...", "make lint"}},
		{"comments", "Development", "bash", "# Build it\nmake build   # fast\n\nmake test # with \"quotes\"", []string{"make build", "make test"}},
		{"continuation", "Build", "bash", "cargo build \\\n  --release \\\n  --locked\ndocker run \\\n  make test", []string{"cargo build --release --locked"}},
		{"variables", "Test", "sh", "CGO_ENABLED=0 GOOS=linux go build ./...", []string{"CGO_ENABLED=0 GOOS=linux go build ./..."}},
		{"installs", "Getting Started", "sh", "git clone https://example.com/x/app.git\nnpm install\nnpm ci && npm test\nnpm run build\npip install -e .\npytest", []string{"npm run build", "pytest"}},
		{"another folder", "Build", "sh", "make\ncd server\ngo test ./...", []string{"make"}},
		{"runners", "Tests", "sh", "uv run --frozen pytest\npoetry run mypy src\nbundle exec rspec\npython3 -m unittest discover\nnpx vitest run", []string{"uv run --frozen pytest", "poetry run mypy src", "bundle exec rspec", "python3 -m unittest discover", "npx vitest run"}},
		{"variants", "Test", "sh", "go test ./...\ngo test -race ./...\ngo test -v ./...", []string{"go test ./..."}},
		{"CRLF", "Test", "sh", "make test\r\nmake lint\r", []string{"make test", "make lint"}},

		{"other headings", "Usage", "sh", "make test", nil},
		{"servers", "Development", "sh", "npm run dev\nnpm start\nmake run\ngo run ./cmd/server\ndocker compose up\npython manage.py runserver\nyarn dev\ncargo run --example x\nmake dev", nil},
		{"machine", "Getting Started", "sh", "sudo make test\ncurl https://x.example/i.sh | sh\nbrew install app\napt-get install make\nrm -rf /\nmake install\nmake deploy\ngit push\ndocker run x make test\n./scripts/test.sh", nil},
		{"placeholders", "Test", "sh", "go test ./<package>/...\nmake test PKG=[name]\npytest path/to/test.py\nmake test-${NAME}\nnpm test -- {file}", nil},
		{"single tests", "Test", "sh", "go test -run TestX ./...\ngo test -c -o tests\npytest -k name\npytest tests/test_a.py::test_b\nnpm test -- -t name\ncargo test --test one\nnpx jest src/a.test.ts\n./gradlew test --tests A", nil},
		{"watching and fixing", "Test", "sh", "npm run test:watch\nnpx vitest --watch\neslint --fix .\nmake lint-fix\nruff check --fix\ngo test -bench=. ./...\ngo test -tags=integration ./...\njest -u", nil},
		{"shell", "Test", "sh", "make test | tee log\nmake test; rm x\nmake test > log\nmake `x`\nmake $(x)\nmake test &\nmake test && rm x", nil},
		{"words", "Build", "", "Then you should build it.\nmake sure that it works\nThe tests are in tests/", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Discover(precedent.Gate{}, []Document{{"README.md", fence(test.heading, test.language, test.code)}})
			needs.Equal(t, test.want, lines(got))
		})
	}
}

func TestDiscoverOrder(t *testing.T) {
	docs := []Document{
		{"AGENTS.md", "# Agents\n\nNo commands.\n\n```sh\nmake ignored\n```\n"},
		{
			"CLAUDE.md",
			"# Guide\n\n## Development\n\n### Setup\n\n    make build\n\n### Checks\n\n- in a list:\n\n  ```sh\n  make lint\n  ```\n",
		},
		{"README.md", fence("Test", "sh", "make test")},
	}
	want := []Command{
		{Name: "make build", Line: "make build", Source: "CLAUDE.md: Development"},
		{Name: "make lint", Line: "make lint", Source: "CLAUDE.md: Development"},
	}
	needs.Equal(t, want, Discover(precedent.Gate{}, docs))
	policy := precedent.Gate{Commands: []precedent.GateCommand{{Name: "all", Run: "make everything | tee log"}}}
	needs.Equal(t, []Command{{Name: "all", Line: "make everything | tee log", Source: "policy"}}, Discover(policy, docs))
	policy.Off = true
	if got := Discover(policy, docs); got != nil {
		t.Errorf("turned off: %v", got)
	}
}

// TestDiscoverHostile: no document takes long, or leads to more than bounded, plain lines.
func TestDiscoverHostile(t *testing.T) {
	for name, page := range map[string]string{
		"quotes":    strings.Repeat(">", maxDocument),
		"lists":     strings.Repeat("- ", maxDocument/2),
		"fences":    "## Test\n" + strings.Repeat("```\n", maxDocument/4),
		"headings":  strings.Repeat("# Test\n", maxDocument/7),
		"many":      fence("Test", "sh", "make "+strings.ReplaceAll(targets, " ", "\nmake ")),
		"one line":  fence("Test", "sh", "make test "+strings.Repeat("x ", maxDocument/2)),
		"ands":      fence("Test", "sh", strings.Repeat("make test && ", maxDocument/13)),
		"continued": fence("Test", "sh", strings.Repeat("make \\\n", maxDocument/7)),
		"assigned":  fence("Test", "sh", strings.Repeat("A=b ", maxDocument/4)),
		"wrapped":   fence("Test", "sh", strings.Repeat("uv run ", 50)+"pytest"),
		"hidden":    fence("Test", "sh", "make te\u202est\nmake te\u200bst\nmake test\x00x\nmake test\x1b[31m"),
	} {
		var got []Command
		busy := needs.Busy(func() { got = Discover(precedent.Gate{}, []Document{{"README.md", page}}) })
		if busy > 10*time.Second {
			t.Errorf("%s: %v", name, busy)
		}
		checkPlain(t, got)
	}
}

func checkPlain(t interface{ Errorf(string, ...any) }, got []Command) {
	if len(got) > maxCommands {
		t.Errorf("%d commands", len(got))
	}
	for _, c := range got {
		if len(c.Line) > maxLine || strings.ContainsAny(c.Line, "|;&<>`$'\"\\\n\x00\x1b\u202e\u200b") {
			t.Errorf("%q", c.Line)
		}
	}
}

func TestDiscoverRandom(t *testing.T) {
	needsRounds := needs.Rounds(300, 50)
	pieces := []string{
		"make", "test", "go", "./...", " ", " ", "&&", "|", "$(nproc)", "$(",
		"`",
		"cd ", "\\\n", "\n", "# x", "<a>", "A=b", "uv run", "pytest", "'", "\"", "-p", "sudo", "\u202e",
	}
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		if n++; n > needsRounds {
			return
		}
		code := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), "")
		checkPlain(t, Discover(precedent.Gate{}, []Document{{"README.md", fence("Test", "sh", code)}}))
	})
}
