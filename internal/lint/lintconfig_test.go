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
	const adds = "+ "
	for _, test := range []struct {
		linter, config, content string // at the base
		edit                    string // the extended file that the change turns off, or adds; at the base it is "strict"
		extended                string // another one at the base, unchanged, in txtar form
	}{
		{
			"eslint", ".eslintrc.json", `{"root": true, "extends": ["eslint:recommended", "./config/base.json"]}`,
			"config/base.json", "",
		},
		{"eslint", ".eslintrc", `{"overrides": [{"files": "*.js", "extends": "./config/base"}]}`, "config/base.js", ""},
		{ // takes precedence
			"eslint", ".eslintrc", `{"extends": "./config/base"}`, adds + "config/base.js", "-- config/base.json --\n{}\n",
		},
		{
			"eslint", "eslint.config.js", "import base from './config/base.js';\nexport default [...base];\n",
			"config/base.js", "",
		},
		{
			"eslint", "eslint.config.mjs", "import base from './config/index.mjs'", "rules/strict.mjs",
			"-- config/index.mjs --\nexport { default } from \"../rules/strict.mjs\"\n",
		},
		{
			"eslint", ".eslintrc.cjs", "module.exports = require(path.join(__dirname, 'config', 'base.cjs'))",
			"config/base.cjs", "",
		},
		{"eslint", "eslint.config.js", "const ignores = readFileSync('ignores.txt')", "ignores.txt", ""},
		{"eslint", "package.json", `{"eslintConfig": {"extends": "./config"}}`, "config/index.js", ""},
		{"eslint", ".eslintrc.yml", "extends:\n  - airbnb\n", adds + "node_modules/eslint-config-airbnb/index.js", ""},
		{"ruff", "ruff.toml", "extend = \"../style/ruff-base.toml\"\n", "style/ruff-base.toml", ""},
		{"rubocop", ".rubocop.yml", "inherit_from:\n  - config/rubocop/*.yml\n", "config/rubocop/rails.yml", ""},
		{"rubocop", ".rubocop.yml", "require: ./lib/cops.rb\n", "lib/cops.rb", ""},
		{"markdownlint", ".markdownlint.jsonc", "{\n  // ours\n  \"extends\": \"./style/md.json\" }", "style/md.json", ""},
		{"tsc", "tsconfig.json", `{"extends": ["./config/strict"]}`, "config/strict.json", ""},
		{"mypy", "mypy.ini", "[mypy]\nplugins =\n    ./tools/plugin.py, other\n", "tools/plugin.py", ""},
		{
			"pylint", ".pylintrc", "[MAIN]\nload-plugins=pylint.extensions.docparams,tools.checks\n", "tools/checks.py", "",
		},
		{
			"golangci-lint", ".golangci.yml", "linters:\n  settings:\n    gocritic:\n      settings:\n        ruleguard:\n" +
				"          rules: '${base-path}/rules/*.go'\n", "rules/own.go", "",
		},
	} {
		t.Run(test.linter+" "+test.edit, func(t *testing.T) {
			config, edit := test.config, strings.TrimPrefix(test.edit, adds)
			isNew := edit != test.edit
			if strings.Contains(test.content, "../style") {
				config = "sub/" + config
			}
			source := map[string]string{
				"eslint": "a.js", "golangci-lint": "a.go", "tsc": "a.ts", "markdownlint": "a.md", "rubocop": "a.rb",
			}[test.linter]
			if source == "" {
				source = "a.py"
			}
			archive := fmt.Sprintf("-- %s --\n%s\n-- %s --\nBAD\n-- %s --\noff\n", config, test.content, source, edit) +
				test.extended
			edited := file(added(edit, "off\n"))
			if !isNew {
				archive += "-- was/" + edit + " --\nstrict\n"
				edited = file(change(edit, "-strict", "+off"))
			}
			in, b := lintInput(t, archive, edited, file(added(source, "BAD\n")))
			l, _ := Preset(test.linter)
			l.NeedsConfig, l.Sarif, l.Patterns, l.Stderr = false, false, []string{"%f:%l: %m"}, false
			in.External.Linters = []Linter{l}
			got := "not run"
			b.run = func(j Job) (Output, error) {
				if slices.Contains(j.Argv, "./"+edit) {
					t.Errorf("the base's version is checked for the head's: %q", j.Argv)
				}
				got, _ = seen(j, edit)
				return Output{Exit: 1, Stdout: []byte(source + ":1: bad\n")}, nil
			}
			r := run(t, "linters", in)
			want := map[bool]string{true: "", false: "strict\n"}[isNew]
			if got != want || !strings.Contains(r.Error, "the change edits "+edit) || r.Status != precedent.StatusOK ||
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
-- was/.greprc --
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
