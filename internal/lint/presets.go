package lint

import "github.com/precedent-dev/precedent"

// Presets returns the built-in linters, sorted by name. Their options are documented,
// and their output formats are stable; exit statuses are from their manuals.
func Presets() []Linter { //nolint:funlen // a table
	python := []string{"pyproject.toml", "setup.cfg", "tox.ini"}
	return []Linter{
		{
			Name: "actionlint", Files: []string{".github/workflows/*.{yml,yaml}"}, Category: precedent.Bugs,
			// shellcheck and pyflakes are separate linters here.
			Command:  []string{"actionlint", "-no-color", "-oneline", "-shellcheck=", "-pyflakes=", "{files}"},
			Patterns: []string{"%f:%l:%c: %m"},
			Configs:  []string{".github/actionlint.{yml,yaml}"}, Exits: []int{1},
		},
		{
			Name: "eslint", Files: []string{"*.{js,jsx,mjs,cjs,ts,tsx,mts,cts}"}, Category: precedent.Bugs,
			Command:  []string{"eslint", "--no-color", "--format=stylish", "--", "{files}"},
			Patterns: []string{`%-P/%f`, `%\s%#%l:%c%\s%#%trror%\s%#%m`, `%\s%#%l:%c%\s%#%tarning%\s%#%m`, `%-G%.%#`},
			Configs: []string{
				"eslint.config.{js,mjs,cjs,ts,mts,cts}", ".eslintrc", ".eslintrc.{js,cjs,json,yml,yaml}",
				".eslintignore", "package.json",
			},
			Exits: []int{1}, NeedsConfig: true,
		},
		{
			Name: "golangci-lint", Files: []string{"*.go"}, Category: precedent.Bugs, Go: true, // version 2 and later
			Command: []string{
				"golangci-lint", "run", "--output.text.path=", "--output.sarif.path=stdout", "--show-stats=false",
				"--allow-parallel-runners", "{dirs}",
			},
			Sarif:   true,
			Configs: []string{".golangci.{yml,yaml,toml,json}"}, Exits: []int{1},
		},
		{
			Name: "hadolint", Files: []string{
				"{Dockerfile,Containerfile}", "{Dockerfile,Containerfile}.*",
				"*.{Dockerfile,dockerfile}",
			}, Category: precedent.Bugs,
			Command: []string{"hadolint", "--format=sarif", "--", "{files}"}, Sarif: true,
			Configs: []string{".hadolint.{yml,yaml}", "hadolint.{yml,yaml}"}, Exits: []int{1},
		},
		{
			Name: "markdownlint", Files: []string{"*.{md,markdown}"}, Category: precedent.Style,
			Command: []string{"markdownlint", "--dot", "--", "{files}"},
			Patterns: []string{
				"%f:%l:%c %trror %m", "%f:%l:%c %tarning %m", "%f:%l %trror %m", "%f:%l %tarning %m",
				"%f:%l:%c %m", "%f:%l %m",
			}, Stderr: true,
			Configs: []string{".markdownlint.{json,jsonc,yml,yaml}", ".markdownlintrc", ".markdownlintignore"},
			Exits:   []int{1},
		},
		{
			Name: "mypy", Files: []string{"*.{py,pyi}"}, Category: precedent.Types,
			Command: []string{
				"mypy", "--no-color-output", "--no-error-summary", "--no-pretty", "--show-column-numbers", "--show-error-codes",
				"--hide-error-context",
				"--cache-dir=/dev/null", "--", "{files}",
			},
			Patterns: []string{"%f:%l:%c: %trror: %m", "%f:%l: %trror: %m"}, // notes are parts of errors
			Configs:  append([]string{"mypy.ini", ".mypy.ini"}, python...), Exits: []int{1},
		},
		{
			Name: "pylint", Files: []string{"*.py"}, Category: precedent.Bugs,
			Command: []string{
				"pylint", "--output-format=text", "--msg-template={path}:{line}:{column}: {C}: {msg} [{msg_id}]",
				"--score=no", "--persistent=no", "--", "{files}",
			},
			Patterns: []string{"%f:%l:%c: %t: %m"},
			Configs:  append([]string{".pylintrc", "pylintrc", ".pylintrc.toml", "pylintrc.toml"}, python...),
			Exits:    exitBits(31), // 32 is a usage error
		},
		{
			Name: "rubocop", Files: []string{"*.{rb,rake,gemspec,ru}", "{Gemfile,Rakefile}"}, Category: precedent.Style,
			Command:  []string{"rubocop", "--format=emacs", "--no-color", "--cache=false", "--force-exclusion", "--", "{files}"},
			Patterns: []string{"%f:%l:%c: %t: [Correctable] %m", "%f:%l:%c: %t: %m"},
			Configs:  []string{".rubocop.yml", ".rubocop_todo.yml", ".rubocop"}, Exits: []int{1},
		},
		{
			Name: "ruff", Files: []string{"*.{py,pyi}"}, Category: precedent.Bugs,
			Command: []string{
				"ruff", "check", "--output-format=sarif", "--no-cache", "--no-fix", "--force-exclude", "--",
				"{files}",
			}, Sarif: true,
			Configs: []string{"ruff.toml", ".ruff.toml", "pyproject.toml"}, Exits: []int{1},
		},
		{
			Name: "shellcheck", Files: []string{"*.{sh,bash,ksh,dash}"}, Category: precedent.Bugs,
			Command:  []string{"shellcheck", "--format=gcc", "--color=never", "--", "{files}"},
			Patterns: []string{"%f:%l:%c: %trror: %m", "%f:%l:%c: %tarning: %m", "%f:%l:%c: %tote: %m"},
			Configs:  []string{".shellcheckrc", "shellcheckrc"}, Exits: []int{1},
		},
		{
			Name: "staticcheck", Files: []string{"*.go"}, Category: precedent.Bugs, Go: true,
			// The other groups of checks are about style, or need the whole program.
			Command: []string{"staticcheck", "-f=sarif", "-checks=SA*", "{dirs}"}, Sarif: true,
			Configs: []string{"staticcheck.conf"}, Exits: []int{1},
		},
		{
			Name: "tsc", Files: []string{"*.{ts,tsx,mts,cts}"}, Category: precedent.Types,
			Command:  []string{"tsc", "--noEmit", "--pretty", "false", "--incremental", "false", "--project", "."},
			Patterns: []string{`%f(%l\,%c): %trror %m`},
			Configs:  []string{"tsconfig.json", "tsconfig.*.json"}, Exits: []int{1, 2},
			NeedsConfig: true,
		},
		{
			Name: "yamllint", Files: []string{"*.{yml,yaml}"}, Category: precedent.Style,
			Command:  []string{"yamllint", "--format=parsable", "--", "{files}"},
			Patterns: []string{"%f:%l:%c: [%trror] %m", "%f:%l:%c: [%tarning] %m"},
			Configs:  []string{".yamllint", ".yamllint.{yml,yaml}"}, Exits: []int{1, 2},
		},
	}
}

// Preset returns the built-in linter with a name.
func Preset(name string) (Linter, bool) {
	for _, l := range Presets() {
		if l.Name == name {
			return l, true
		}
	}
	return Linter{}, false
}

// exitBits returns the numbers from 1 to most: exit statuses that are bit sets.
func exitBits(most int) []int {
	all := make([]int, most)
	for i := range all {
		all[i] = i + 1
	}
	return all
}

// PresetNames returns the names of the built-in linters.
func PresetNames() []string {
	var names []string
	for _, l := range Presets() {
		names = append(names, l.Name)
	}
	return names
}
