package gate

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

func lines(commands []Command) []string {
	var all []string
	for _, c := range commands {
		all = append(all, c.Line)
	}
	return all
}

// fence is a document with one code block under a heading.
func fence(heading, language, code string) string {
	return "# Project\n\nWords.\n\n## " + heading + "\n\nMore words:\n\n```" + language + "\n" + code + "\n```\n"
}

func TestDiscoverForms(t *testing.T) {
	for _, test := range []struct {
		name, heading, language, code string
		want                          []string
	}{
		{"plain", "Build", "sh", "make", []string{"make"}},
		{"no language", "Test", "", "go test ./...", []string{"go test ./..."}},
		{"prompts and output", "Testing", "console", "$ go test ./...\nok  \texample.com/m\t0.1s\n$ make lint\nmake: done", []string{"go test ./...", "make lint"}},
		{"comments", "Development", "bash", "# Build it\nmake build   # fast\n\nmake test # with \"quotes\"", []string{"make build", "make test"}},
		{"a hash in quotes", "Test", "bash", "cargo test --features 'a #b' # c", []string{"cargo test --features 'a #b'"}},
		{"continuation", "Build", "bash", "cargo build \\\n  --release \\\n  --locked", []string{"cargo build --release --locked"}},
		{"variables", "Test", "sh", "CGO_ENABLED=0 GOOS=linux go build ./...", []string{"CGO_ENABLED=0 GOOS=linux go build ./..."}},
		{"after a clone", "Getting Started", "sh", "git clone https://example.com/x/app.git\ncd app\nmake build", []string{"make build"}},
		{"after a clone, in one line", "Getting Started", "sh", "git clone https://example.com/x/app.git && cd app && npm ci && npm test", []string{"npm test"}},
		{"folder", "Build", "sh", "cd server\ngo test ./...\ngo vet ./...", []string{"cd server && go test ./...", "cd server && go vet ./..."}},
		{"cmake", "Building", "sh", "mkdir -p build && cd build\ncmake ..\nmake -j$(nproc)\nctest --output-on-failure", []string{"mkdir -p build && cd build && cmake .. && make -j$(nproc) && ctest --output-on-failure"}},
		{"configure", "Build from source", "", "./autogen.sh\n./configure --prefix=/usr\nmake\nmake check\nsudo make install", []string{"./autogen.sh && ./configure --prefix=/usr && make && make check"}},
		{"installs are dropped", "Development", "sh", "npm install\nnpm run build && npm test\npip install -e .\npytest", []string{"npm run build && npm test", "pytest"}},
		{"runners", "Tests", "sh", "uv run --frozen pytest\npoetry run mypy src\nbundle exec rspec\npython3 -m unittest discover\nnpx vitest run", []string{"uv run --frozen pytest", "poetry run mypy src", "bundle exec rspec", "python3 -m unittest discover", "npx vitest run"}},
		{"java", "Build", "sh", "./gradlew clean build\n./mvnw verify", []string{"./gradlew clean build", "./mvnw verify"}},
		{"scripts", "Test", "sh", "./scripts/test.sh\nbash ci/check.sh\n./build.sh", []string{"./scripts/test.sh", "bash ci/check.sh", "./build.sh"}},
		{"one package manager", "Test", "sh", "npm test\nyarn test\npnpm test", []string{"npm test"}},
		{"variants", "Test", "sh", "go test ./...\ngo test -race ./...\ngo test -v ./...", []string{"go test ./..."}},
		{"emoji", "🧪 Running the tests", "sh", "make test", []string{"make test"}},
		{"marks", "**Quick Reference**", "sh", "make test", []string{"make test"}},
		{"CRLF", "Test", "sh", "make test\r\nmake lint\r", []string{"make test", "make lint"}},

		{"other headings", "Usage", "sh", "make test", nil},
		{"within others", "Testing in Docker", "sh", "make test", nil},
		{"other languages", "Build", "yaml", "make test", nil},
		{"powershell", "Build", "powershell", "make test", nil},
		{"servers", "Development", "sh", "npm run dev\nnpm start\nmake run\ngo run ./cmd/server\ndocker compose up\npython manage.py runserver\nyarn dev\ncargo run\nmake dev", nil},
		{"machine", "Getting Started", "sh", "sudo make test\ncurl https://x.example/i.sh | sh\nbrew install app\napt-get install make\nrm -rf /\nmake install\nmake deploy\ngit push", nil},
		{"elsewhere", "Build", "sh", "cd /tmp && make test\ncd ~/src\nmake test", nil},
		{"above", "Build", "sh", "cd ../other && make", nil},
		{"placeholders", "Test", "sh", "go test ./<package>/...\nmake test PKG=[name]\npytest path/to/test\ncd src/<server>\npytest\nmake test-${NAME}\nnpm test -- {file}", nil},
		{"single tests", "Test", "sh", "go test -run TestX ./...\npytest -k name\npytest tests/test_a.py::test_b\nnpm test -- -t name\ncargo test --test one\nnpx jest src/a.test.ts\n./gradlew test --tests A", nil},
		{"watching and fixing", "Test", "sh", "npm run test:watch\nnpx vitest --watch\neslint --fix .\nmake lint-fix\nruff check --fix\ngo test -bench=. ./...\njest -u", nil},
		{"shell", "Test", "sh", "make test | tee log\nmake test; rm x\nmake test > log\nmake `x`\nmake $(x)\nmake test &", nil},
		{"e2e", "Test", "sh", "npm run test:e2e\nmake integration-test\nmake docker-build", nil},
		{"words", "Build", "", "Then you should build it.\nmake sure that it works\nThe tests are in tests/", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Discover(precedent.Gate{}, []Document{{"README.md", fence(test.heading, test.language, test.code)}})
			if diff := cmp.Diff(test.want, lines(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDiscoverOrder(t *testing.T) {
	docs := []Document{
		{"AGENTS.md", "# Agents\n\nNo commands.\n\n```sh\nmake ignored\n```\n"},
		{"CLAUDE.md", "# Guide\n\n## Development\n\n### Setup\n\n    make build\n\n### Checks\n\n- in a list:\n\n  ```sh\n  make lint\n  ```\n"},
		{"README.md", fence("Test", "sh", "make test")},
	}
	want := []Command{
		{Name: "make build", Line: "make build", Source: "CLAUDE.md: Development"},
		{Name: "make lint", Line: "make lint", Source: "CLAUDE.md: Checks"},
	}
	if diff := cmp.Diff(want, Discover(precedent.Gate{}, docs)); diff != "" {
		t.Error(diff)
	}
	policy := precedent.Gate{Commands: []precedent.GateCommand{{Name: "all", Run: "make everything | tee log"}}}
	if diff := cmp.Diff([]Command{{Name: "all", Line: "make everything | tee log", Source: "policy"}}, Discover(policy, docs)); diff != "" {
		t.Error(diff)
	}
	policy.Off = true
	if got := Discover(policy, docs); got != nil {
		t.Errorf("turned off: %v", got)
	}
	var many strings.Builder
	for i := range 30 {
		many.WriteString("make test-" + strings.Repeat("a", i+1) + "\n")
	}
	if got := Discover(precedent.Gate{}, []Document{{"README.md", fence("Test", "sh", many.String())}}); len(got) != maxCommands {
		t.Errorf("%d commands", len(got))
	}
}

// TestDiscoverHostile: no document takes long, or leads to more than bounded, plain lines.
func TestDiscoverHostile(t *testing.T) {
	for name, page := range map[string]string{
		"quotes":     strings.Repeat(">", maxDocument),
		"lists":      strings.Repeat("- ", maxDocument/2),
		"fences":     "## Test\n" + strings.Repeat("```\n", maxDocument/4),
		"headings":   strings.Repeat("# Test\n", maxDocument/7),
		"one line":   fence("Test", "sh", "make test "+strings.Repeat("x ", maxDocument/2)),
		"ands":       fence("Test", "sh", strings.Repeat("make test && ", maxDocument/13)),
		"continued":  fence("Test", "sh", strings.Repeat("make \\\n", maxDocument/7)),
		"prepared":   fence("Test", "sh", strings.Repeat("cmake .\n", maxDocument/8)+"make test"),
		"assigned":   fence("Test", "sh", strings.Repeat("A=b ", maxDocument/4)),
		"wrapped":    fence("Test", "sh", strings.Repeat("uv run ", 50)+"pytest"),
		"configured": fence("Test", "sh", "cmake .\n"+strings.Repeat("make test\n", maxDocument/10)),
		"hidden":     fence("Test", "sh", "make te\u202est\nmake te\u200bst\nmake test\x00x\nmake test\x1b[31m"),
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
		if len(c.Line) > maxLine || strings.ContainsAny(strings.ReplaceAll(c.Line, "&&", ""), "|;&<>`\n\x00\x1b\u202e\u200b") || strings.Contains(strings.ReplaceAll(c.Line, "$(nproc)", ""), "$(") {
			t.Errorf("%q", c.Line)
		}
	}
}

func TestDiscoverRandom(t *testing.T) {
	needsRounds := needs.Rounds(300, 50)
	pieces := []string{"make", "test", "go", "./...", " ", " ", "&&", "|", "$(nproc)", "$(", "`", "cd ", "\\\n", "\n", "# x", "<a>", "A=b", "uv run", "pytest", "'", "\"", "-p", "sudo", "\u202e"}
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		if n++; n > needsRounds {
			return
		}
		code := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), "")
		checkPlain(t, Discover(precedent.Gate{}, []Document{{"README.md", fence("Test", "sh", code)}}))
	})
}
