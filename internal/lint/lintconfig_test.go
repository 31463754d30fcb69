package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
)

// TestLintersExtendedConfig: "All policy … is read from the operator config or the BASE
// commit", so what the base's configuration extends is the base's, too.
func TestLintersExtendedConfig(t *testing.T) {
	for _, test := range []struct {
		linter, config, content string            // at the base
		files                   map[string]string // extended at the base, unchanged
		edit                    string            // the extended file that the change turns off; base content is "strict"
		added                   bool              // the change adds it
	}{
		{"eslint", ".eslintrc.json", `{"root": true, "extends": ["eslint:recommended", "./config/base.json"]}`, nil, "config/base.json", false},
		{"eslint", ".eslintrc", `{"overrides": [{"files": "*.js", "extends": "./config/base"}]}`, nil, "config/base.js", false},
		{"eslint", ".eslintrc", `{"extends": "./config/base"}`, map[string]string{"config/base.json": "{}"}, "config/base.js", true}, // takes precedence
		{"eslint", "eslint.config.js", "import base from './config/base.js';\nexport default [...base];\n", nil, "config/base.js", false},
		{"eslint", "eslint.config.mjs", "import base from './config/index.mjs'", map[string]string{"config/index.mjs": `export { default } from "../rules/strict.mjs"`}, "rules/strict.mjs", false},
		{"eslint", ".eslintrc.cjs", "module.exports = require(path.join(__dirname, 'config', 'base.cjs'))", nil, "config/base.cjs", false},
		{"eslint", "eslint.config.js", "const ignores = readFileSync('ignores.txt')", nil, "ignores.txt", false},
		{"eslint", "package.json", `{"eslintConfig": {"extends": "./config"}}`, nil, "config/index.js", false},
		{"eslint", ".eslintrc.yml", "extends:\n  - airbnb\n", nil, "node_modules/eslint-config-airbnb/index.js", true},
		{"ruff", "ruff.toml", "extend = \"../style/ruff-base.toml\"\n", nil, "style/ruff-base.toml", false},
		{"ruff", "pyproject.toml", "[tool.ruff]\nextend = 'style/base.toml'\n", nil, "style/base.toml", false},
		{"rubocop", ".rubocop.yml", "inherit_from:\n  - config/rubocop/*.yml\n", nil, "config/rubocop/rails.yml", false},
		{"rubocop", ".rubocop.yml", "inherit_from: config/all.yml\n", map[string]string{"config/all.yml": "inherit_from: [sub/rails.yml]\n"}, "config/sub/rails.yml", false},
		{"rubocop", ".rubocop.yml", "require: ./lib/cops.rb\n", nil, "lib/cops.rb", false},
		{"yamllint", ".yamllint", "extends: style/yaml.conf\n", nil, "style/yaml.conf", false},
		{"markdownlint", ".markdownlint.jsonc", "{\n  // ours\n  \"extends\": \"./style/md.json\" }", nil, "style/md.json", false},
		{"tsc", "tsconfig.json", `{"extends": ["./config/strict"]}`, nil, "config/strict.json", false},
		{"mypy", "mypy.ini", "[mypy]\nplugins =\n    ./tools/plugin.py, other\n", nil, "tools/plugin.py", false},
		{"pylint", ".pylintrc", "[MAIN]\nload-plugins=pylint.extensions.docparams,tools.checks\n", nil, "tools/checks.py", false},
		{"golangci-lint", ".golangci.yml", "linters:\n  settings:\n    gocritic:\n      settings:\n        ruleguard:\n          rules: '${base-path}/rules/*.go'\n", nil, "rules/own.go", false},
	} {
		t.Run(test.linter+" "+test.edit, func(t *testing.T) {
			config := test.config
			if strings.Contains(test.content, "../style") {
				config = "sub/" + config
			}
			source := map[string]string{"eslint": "a.js", "golangci-lint": "a.go", "tsc": "a.ts", "yamllint": "a.yml", "markdownlint": "a.md", "rubocop": "a.rb"}[test.linter]
			if source == "" {
				source = "a.py"
			}
			archive := fmt.Sprintf("-- %s --\n%s\n-- %s --\nBAD\n-- %s --\noff\n", config, test.content, source, test.edit)
			for name, content := range test.files {
				archive += fmt.Sprintf("-- %s --\n%s\n", name, content)
			}
			edited := file(added(test.edit, "off\n"))
			if !test.added {
				archive += "-- base/" + test.edit + " --\nstrict\n"
				edited = file(change(test.edit, "-strict", "+off"))
			}
			in, b := lintInput(t, archive, edited, file(added(source, "BAD\n")))
			l, _ := Preset(test.linter)
			l.Version, l.NeedsConfig, l.Sarif, l.Patterns, l.Stderr = nil, false, false, []string{"%f:%l: %m"}, false
			in.External.Linters = []Linter{l}
			got := "not run"
			b.run = func(j Job) (Output, error) {
				if slices.Contains(j.Argv, "./"+test.edit) {
					t.Errorf("the base's version is checked for the head's: %q", j.Argv)
				}
				got, _ = seen(j, test.edit)
				return Output{Exit: 1, Stdout: []byte(source + ":1: bad\n")}, nil
			}
			r := run(t, "linters", in)
			want := map[bool]string{true: "", false: "strict\n"}[test.added]
			if got != want || !strings.Contains(r.Error, "the change edits "+test.edit) || r.Status != precedent.StatusOK || len(r.Findings) != 1 {
				t.Errorf("the linter saw %q, want %q; %s, %q, %q", got, want, r.Status, r.Error, brief(r))
			}
		})
	}
}

// TestLintersCheckWhatConfigLists: a file that configuration lists to be checked is no
// configuration.
func TestLintersCheckWhatConfigLists(t *testing.T) {
	for config, content := range map[string]string{
		"package.json":     `{"main": "./a.js", "exports": {"require": "./a.js", "import": "./a.js"}, "files": ["a.js"], "scripts": {"lint": "eslint a.js"}}`,
		"eslint.config.js": "export default [{ files: ['a.js', 'src/**'], rules: { 'no-console': 'off' } }]",
		".eslintrc.json":   `{"extends": "airbnb", "overrides": [{"files": ["a.js", "./a.js"], "rules": {"no-console": "off"}}], "include": ["a.js"]}`,
	} {
		in, b := lintInput(t, "-- "+config+" --\n"+content+"\n-- a.js --\nBAD\n", file(change("a.js", "-good", "+BAD")))
		l := grepper()
		l.Files, l.Configs = []string{"*.js"}, []string{config}
		in.External.Linters = []Linter{l}
		r := run(t, "linters", in)
		same(t, r, "a.js:1 grep/bad medium")
		if len(b.jobs) != 1 || r.Error != "" {
			t.Errorf("%s: %d jobs, %q", config, len(b.jobs), r.Error)
		}
	}
}
