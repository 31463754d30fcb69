package lint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
)

// TestLintersExtendedConfig: "All policy … is read from the operator config or the BASE
// commit", so what the base's configuration extends is the base's, too.
func TestLintersExtendedConfig(t *testing.T) {
	var none map[string]string
	for _, test := range []struct {
		linter, config, content string            // at the base
		files                   map[string]string // extended at the base, unchanged
		edit                    string            // the extended file that the change turns off; base content is "strict"
		added                   bool              // the change adds it
	}{
		{
			"eslint", ".eslintrc.json", `{"root": true, "extends": ["eslint:recommended", "./config/base.json"]}`,
			none, "config/base.json", false,
		},
		{
			"eslint", ".eslintrc", `{"overrides": [{"files": "*.js", "extends": "./config/base"}]}`, none, "config/base.js",
			false,
		},
		{ // takes precedence
			"eslint", ".eslintrc", `{"extends": "./config/base"}`,
			map[string]string{"config/base.json": "{}"},
			"config/base.js", true,
		},
		{
			"eslint", "eslint.config.js", "import base from './config/base.js';\nexport default [...base];\n",
			none, "config/base.js", false,
		},
		{
			"eslint", "eslint.config.mjs", "import base from './config/index.mjs'",
			map[string]string{"config/index.mjs": `export { default } from "../rules/strict.mjs"`},
			"rules/strict.mjs", false,
		},
		{
			"eslint", ".eslintrc.cjs", "module.exports = require(path.join(__dirname, 'config', 'base.cjs'))",
			none, "config/base.cjs", false,
		},
		{"eslint", "eslint.config.js", "const ignores = readFileSync('ignores.txt')", none, "ignores.txt", false},
		{"eslint", "package.json", `{"eslintConfig": {"extends": "./config"}}`, none, "config/index.js", false},
		{"eslint", ".eslintrc.yml", "extends:\n  - airbnb\n", none, "node_modules/eslint-config-airbnb/index.js", true},
		{"ruff", "ruff.toml", "extend = \"../style/ruff-base.toml\"\n", none, "style/ruff-base.toml", false},
		{"ruff", "pyproject.toml", "[tool.ruff]\nextend = 'style/base.toml'\n", none, "style/base.toml", false},
		{"rubocop", ".rubocop.yml", "inherit_from:\n  - config/rubocop/*.yml\n", none, "config/rubocop/rails.yml", false},
		{
			"rubocop", ".rubocop.yml", "inherit_from: config/all.yml\n",
			map[string]string{"config/all.yml": "inherit_from: [sub/rails.yml]\n"},
			"config/sub/rails.yml", false,
		},
		{"rubocop", ".rubocop.yml", "require: ./lib/cops.rb\n", none, "lib/cops.rb", false},
		{"yamllint", ".yamllint", "extends: style/yaml.conf\n", none, "style/yaml.conf", false},
		{
			"markdownlint", ".markdownlint.jsonc", "{\n  // ours\n  \"extends\": \"./style/md.json\" }",
			none, "style/md.json", false,
		},
		{"tsc", "tsconfig.json", `{"extends": ["./config/strict"]}`, none, "config/strict.json", false},
		{"mypy", "mypy.ini", "[mypy]\nplugins =\n    ./tools/plugin.py, other\n", none, "tools/plugin.py", false},
		{
			"pylint", ".pylintrc", "[MAIN]\nload-plugins=pylint.extensions.docparams,tools.checks\n",
			none, "tools/checks.py", false,
		},
		{
			"golangci-lint", ".golangci.yml", "linters:\n  settings:\n    gocritic:\n      settings:\n        ruleguard:\n" +
				"          rules: '${base-path}/rules/*.go'\n", none, "rules/own.go", false,
		},
	} {
		t.Run(test.linter+" "+test.edit, func(t *testing.T) {
			config := test.config
			if strings.Contains(test.content, "../style") {
				config = "sub/" + config
			}
			source := map[string]string{
				"eslint": "a.js", "golangci-lint": "a.go", "tsc": "a.ts", "yamllint": "a.yml",
				"markdownlint": "a.md", "rubocop": "a.rb",
			}[test.linter]
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
			l.NeedsConfig, l.Sarif, l.Patterns, l.Stderr = false, false, []string{"%f:%l: %m"}, false
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
			if got != want || !strings.Contains(r.Error, "the change edits "+test.edit) || r.Status != precedent.StatusOK ||
				len(r.Findings) != 1 {
				t.Errorf("the linter saw %q, want %q; %s, %q, %q", got, want, r.Status, r.Error, brief(r))
			}
		})
	}
}

// TestLintersTrustedConfig: "All policy … is read from the operator config or the BASE
// commit". A range can begin with a commit of the same author, so files that it does not
// touch can differ from the trusted ones, too. Credentials are restored to no tree.
func TestLintersTrustedConfig(t *testing.T) {
	tree := twoBad + `
-- .greprc --
extends: lax.yml
-- lax.yml --
ignore BAD
-- base/.greprc --
extends: lax.yml
-- .npmrc --
`
	in, b := lintInput(t, tree, file(change("a.txt", " one BAD", " two", "+three BAD")), file(change(".npmrc", "-x")))
	in.External.Linters[0].Configs = []string{".greprc", ".npmrc"}
	trusted := map[string]string{
		".greprc": "extends: strict.yml\n", "strict.yml": "strict\n",
		".npmrc": "//registry.npmjs.org/:_authToken=npm_trusted\n",
	}
	in.Trusted = Trusted{
		Read: func(name string) ([]byte, error) {
			if text, ok := trusted[name]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		},
		Differing: func(context.Context) ([]string, error) {
			return []string{".greprc", "lax.yml", "strict.yml", ".npmrc", "a.txt"}, nil
		},
	}
	b.run = func(j Job) (Output, error) {
		for name, want := range map[string]string{
			".greprc": "extends: strict.yml\n", "strict.yml": "strict\n", ".npmrc": "",
		} {
			if got, ok := seen(j, name); got != want || !ok {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		return Output{Exit: 1, Stdout: []byte("a.txt:1: error: x [y]\n")}, nil
	}
	r := run(t, "linters", in)
	if len(b.jobs) != 1 || r.Status != precedent.StatusEmpty || !strings.Contains(r.Error, "the change edits .npmrc:") {
		t.Errorf("%d jobs; %+v", len(b.jobs), r)
	}

	in.Trusted.Differing = func(context.Context) ([]string, error) { return nil, errors.New("no such commit") }
	if r := run(t, "linters", in); r.Status != precedent.StatusError || !strings.Contains(r.Error, "no such commit") {
		t.Errorf("%+v", r)
	}
}

// TestLintersCheckWhatConfigLists: a file that configuration lists to be checked does not count as configuration.
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
