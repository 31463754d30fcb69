//go:build amd64 || arm64

package gate

import (
	"context"
	"os"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestMissingDependencies: a command that fails while packages of its language are missing does not reject the
// change, unless it passes on the base without them. Commands of other languages count as ever.
func TestMissingDependencies(t *testing.T) {
	t.Parallel()
	r := runner(t)
	fails, passes := "exit 3\n", "exit 0\n"
	for _, test := range []struct {
		name  string
		files []string // of the head, and of the base except for test.sh
		line  string
		base  string // test.sh of the base; none means that it cannot be exported
		want  Status
		why   string
	}{
		{"an unsupported language", []string{"Gemfile", ""}, "sh test.sh rspec", "", Skipped, "ruby: not fetched: package managers of this language are not supported"},
		{"the same, but the base passes", []string{"Gemfile", ""}, "sh test.sh rspec", passes, Failed, "exit status 3"},
		{"a command of no language", []string{"Gemfile", ""}, "sh test.sh", "", Skipped, "ruby: not fetched"},
		{"no registry", []string{"go.mod", "module x\n", "requirements.txt", "sums\n"}, "sh test.sh pytest", "", Skipped, "python: not fetched: the operator allows no registry for them"},
		{"another language's command", []string{"Gemfile", "", "requirements.txt", "# none\n"}, "sh test.sh pytest", "", Failed, "exit status 3"},
		{"no lock file", []string{"package.json", `{"dependencies":{"a":"1"}}`}, "sh test.sh npm", "", Skipped, "node: not fetched: there is no package-lock.json, pnpm-lock.yaml or yarn.lock at the base"},
		{"none is needed", []string{"package.json", `{"name":"a"}`, "Cargo.toml", "[package]\n"}, "sh test.sh npm", "", Failed, "exit status 3"},
		{"an environment of its own", []string{"pyproject.toml", ""}, "sh test.sh tox", "", Skipped, "python: the command may make an environment of its own"},
		{"a missing module", nil, "echo '/usr/bin/python3: No module named pytest'; exit 1", "", Skipped, "pytest is not installed"},
		{"a missing module of the tree", nil, "echo '/usr/bin/python3: No module named shop'; exit 1", "", Failed, "exit status 1"},
		{"a request to a registry", nil, "echo 'npm error code ENOTCACHED'; exit 1", "", Skipped, "asked for packages that were not fetched: npm error code ENOTCACHED"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			q := request(tree(t, append(test.files, "test.sh", fails)...), test.line)
			base := tree(t, append(test.files, "test.sh", test.base)...)
			q.Commands[0].Source = fromPolicy
			q.Read = filesOf(base)
			if test.base != "" {
				q.BaseTree = func(context.Context) (string, error) { return base, nil }
			}
			wantRun(t, r, q, test.want, test.why)
		})
	}
}

// TestCorepack: the programs of corepack fetch the package manager that they stand for, and do not count.
func TestCorepack(t *testing.T) {
	dir := tree(
		t, "node_modules/corepack/package.json",
		`{"name":"corepack","version":"0.30.0"}`,
		"node_modules/corepack/dist/yarn.js", "#!/bin/sh\n", "node_modules/pnpm/package.json",
		`{"name":"pnpm","version":"10.1.0"}`,
		"node_modules/pnpm/bin/pnpm.cjs", "#!/bin/sh\n", "bin/x", "",
	)
	for name, to := range map[string]string{"yarn": "corepack/dist/yarn.js", "pnpm": "pnpm/bin/pnpm.cjs"} {
		needs.NoError(t, os.Symlink("../node_modules/"+to, dir+"/bin/"+name))
	}
	got := findManagers(dir + "/bin")
	if len(got) != 1 || got[0].name != "pnpm" || got[0].version != "10.1.0" ||
		got[0].file != "/toolchain/pnpm/bin/pnpm.cjs" {
		t.Errorf("%+v", got)
	}
}

// TestNoManager: a program that is not in PATH is not looked for in the working directory, which is the reviewed tree.
func TestNoManager(t *testing.T) {
	t.Chdir(tree(t, "package.json", `{"name":"npm","version":"10.0.0"}`))
	if got := findManagers("/nonexistent"); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}
