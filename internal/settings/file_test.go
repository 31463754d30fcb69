package settings

import (
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent/internal/lint"
)

// TestParseFileOfAnything: whatever stands in the file, it is read or refused
// with its place, and a price that is read can be meant.
func TestParseFileOfAnything(t *testing.T) {
	words := rapid.SampledFrom([]string{
		"prices", "engine", "input", "cached", "cache_write", "output", "gpt-5", "embeddings", "url", ": ", ":\n  ", "\n",
		"\n  ", "\n    ", "{", "}", ", ", "[", "]",
		"1", "2.5", "-1", ".nan", ".inf", "1e9", "&a ", "*a", "<<", "!!null", "~", `"`, "- ", "? ", "| ", "#", "\t", "é",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(words, 0, 40).Draw(t, "words"), "")
		file, err := parseFile("config.yaml", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "config.yaml:") || hintOf(err) == "" {
				t.Fatalf("%q: the error %q lacks its place or a hint", text, err)
			}
			return
		}
		if len(file.prices) != len(file.priceLines) {
			t.Fatalf("%q: %d prices, %d of them listed", text, len(file.prices), len(file.priceLines))
		}
		for model, price := range file.prices {
			if !(min(price.Input, price.Cached, price.CacheWrite, price.Output) >= 0) || model == "" {
				t.Fatalf("%q: %q: %+v", text, model, price)
			}
		}
	})
}

func TestLinters(t *testing.T) {
	ruff, _ := lint.Preset("ruff")
	moved, _ := lint.Preset("eslint")
	moved.Mounts = []string{"/opt/node"}
	own := lint.Linter{
		Name: "own", Command: []string{"own", "{files}"}, Files: []string{"*.x"}, Patterns: []string{"%f:%l: %m"},
		Configs: []string{".ownrc"}, Exits: []int{1, 3},
	}
	const text = `linters:
  - ruff
  - {name: eslint, mounts: [/opt/node]}
  - name: own
    command: [own, "{files}"]
    files: ["*.x"]
    errorformat: ["%f:%l: %m"]
    configs: [.ownrc]
    exits: [1, 3]
`
	file, err := parseFile("c.yaml", []byte(text))
	needs.NoError(t, err)
	if diff := cmp.Diff([]lint.Linter{ruff, moved, own}, file.linters); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if s := file.tables(); len(s) != 4 || s[3] != (Line{"linters.own", "own {files}", "file c.yaml:4"}) {
		t.Errorf("%+v", s)
	}
}

func TestLintersWrong(t *testing.T) {
	for text, says := range map[string]string{
		"linters: ruff":                 "c.yaml:1:10: linters wants a list",
		"linters: [rufff]":              `c.yaml:1:11: unknown linter "rufff"`,
		"linters: [ruff, {name: ruff}]": "the linter ruff is listed twice",
		"linters: [{name: a/b}]":        "a linter needs a name without spaces and slashes",
		`linters: [{name: x, command: [x], files: ["*"], format: json}]`: "want sarif, or errorformat " +
			"instead",
		`linters: [{name: x, command: [x], files: ["*"], errorformat: ["%"]}]`: "invalid errorformat",
		`linters: [{name: x, command: x, files: ["*"], format: sarif}]`: "command of x: want a list of " +
			"texts",
		`linters: [{name: x, command: [a/b], files: ["*"], format: sarif}]`:            "an absolute path",
		`linters: [{name: x, command: [x], files: ["*"], format: sarif, mounts: [a]}]`: "want absolute paths",
		`linters: [{name: x, command: [x], files: ["*"], format: sarif, exits: many}]`: "want a list of numbers",
		`linters: [{name: x, shell: "rm"}]`:                                            `unknown key "shell" in the linter x`,
	} {
		if _, err := parseFile("c.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}
