package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/settings"
)

// badSettings are values that are beyond those in docs/configuration.md.
var badSettings = map[string]string{
	"engine": "gpt", "context": "3999", "concurrency": "65", "max_cost": "0", "max_tokens": "0",
	"max_cost_per_day": "nothing", "max_cost_per_pull_request": "-1", "forge": "gitlab", "repo": "app",
	"learnings": "maybe", "precedents": "maybe", "embeddings.url": "http://example.org/v1",
	"embeddings.dimensions": "0", "embeddings.timeout": "5", "threshold": "101", "max_inline": "0",
	"deep": "maybe", "fail_on": "severe", "timeout": "10", "repositories": "app", "listen": "8787",
	"dashboard_url": "http://reviews.example.org", "interval": "1s", "jobs": "1", "fixes": "maybe",
	"gates": "maybe", "reviews": "merge", "run_local": "maybe", "log_format": "xml",
}

// configurationParts returns docs/configuration.md up to the other variables, and from the policy on.
func configurationParts(t *testing.T) (operators, policy string) {
	t.Helper()
	doc := read(t, "../../docs/configuration.md")
	operators, _, found := strings.Cut(doc, "\n## Other variables\n")
	_, policy, also := strings.Cut(doc, "\n## The repository's policy\n")
	if !found || !also {
		t.Fatal("docs/configuration.md has other parts")
	}
	return operators, policy
}

// keyRows returns the cells of the rows of a table whose first cell is a key.
func keyRows(text string) (rows [][]string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| `") {
			rows = append(rows, strings.Split(strings.Trim(line, "| \n"), " | "))
		}
	}
	return rows
}

// exampleOf returns the block of YAML in a text.
func exampleOf(text string) string {
	_, rest, _ := strings.Cut(text, "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	return example
}

// TestReferenceOfSettings: the table of docs/configuration.md has the settings of the program, in their order, with
// their flags, variables, defaults and what they do. Its example has all that can be in the file, and is taken.
func TestReferenceOfSettings(t *testing.T) {
	text, _ := configurationParts(t)
	rows, defaults := keyRows(text), defaultsOf(t)
	if len(rows) != len(settings.All) {
		t.Fatalf("the reference has %d settings, and there are %d", len(rows), len(settings.All))
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	writeFile(t, path, exampleOf(text), 0o600)
	op, err := settings.Read(settings.Sources{File: path, Env: map[string]string{"HOME": "/home/dana"}})
	if err != nil {
		t.Fatalf("the example is not a configuration file: %v", err)
	}
	sources := map[string]string{}
	for _, line := range op.List() {
		sources[line.Key] = line.Source
	}
	for i, k := range settings.All {
		_, usage := flagUsage(k.Usage, "")
		want := []string{
			code("", k.Key), code("--", k.Flag), code("", k.Env), map[bool]string{true: "yes"}[k.InFile], rows[i][4],
			defaults[k.Key], usage,
		}
		if got := strings.Join(rows[i], " | "); got != strings.Join(want, " | ") || rows[i][4] == "" {
			t.Errorf("the row %s\nis not   %s", got, strings.Join(want, " | "))
		}
		if inFile := strings.HasPrefix(sources[k.Key], "file "); inFile != k.InFile {
			t.Errorf("%s is in the example: %t", k.Key, inFile)
		}
		bad, known := badSettings[k.Key]
		given := settings.Sources{Flags: pairs{k.Flag: bad}, Env: pairs{"HOME": "/", k.Env: bad}, Dir: "/"}
		if k.Flag+k.Env == "" {
			given.File = path
			writeFile(t, path, k.Key+": "+bad+"\n", 0o600)
		}
		if _, err := settings.Read(given); known && err == nil {
			t.Errorf("%s: %q is taken", k.Key, bad)
		}
	}
	for _, table := range []string{"prices.my-model", "linters.mine", "(" + strings.Join(lint.PresetNames(), ", ") + ")"} {
		if sources[table] == "" && !strings.Contains(text, table) {
			t.Errorf("the reference has no %s", table)
		}
	}
	everyVariable(t, read(t, "../../docs/configuration.md"))
}

// TestReferenceOfThePolicy: the table of the policy's keys is whole, and its
// example has all of them and is taken.
func TestReferenceOfThePolicy(t *testing.T) {
	_, text := configurationParts(t)
	example := []byte(exampleOf(text))
	p, errs := guide.ParsePolicy(example, guide.PolicyFile, review.Names())
	if len(errs) > 0 {
		t.Error(errs)
	}
	var keys []string
	for _, row := range keyRows(text) {
		keys = append(keys, strings.Trim(row[0], "`"))
	}
	slices.Sort(keys)
	needs.Equal(t, guide.Keys(), keys)
	needs.Equal(t, guide.Keys(), slices.Sorted(maps.Keys(guide.Sections(p, example, review.Names()))))
}

// defaultsOf asks the program itself, with nothing set and outside of a repository.
func defaultsOf(t *testing.T) map[string]string {
	t.Helper()
	a := &app{env: environment(os.Environ()), dir: t.TempDir()}
	for name := range a.env {
		if name != "PATH" {
			delete(a.env, name)
		}
	}
	c, _, err := a.configuration(t.Context(), nil)
	needs.NoError(t, err)
	defaults := map[string]string{}
	for _, s := range c.Settings {
		defaults[s.Key] = strings.TrimPrefix(strings.TrimPrefix(s.Source, "default: "), "default")
		if s.Value != "" {
			defaults[s.Key] = code("", s.Value)
		}
	}
	defaults["repo"] = "the remote `upstream`, else `origin`, else the first commit"
	defaults["memory_db"] = "`.precedent/memory.db` beside the main work tree"
	defaults["engine"] = "what there is a key for, else `none`"
	return defaults
}

// everyVariable: what the program reads of the environment is in the reference.
func everyVariable(t *testing.T, reference string) {
	t.Helper()
	files := needs.Value(filepath.Glob("*.go"))(t)
	variable := regexp.MustCompile(`(?:\.env\[|\.folder\()"([A-Z_]+)"`)
	for _, file := range files {
		for _, m := range variable.FindAllStringSubmatch(read(t, file), -1) {
			if !strings.Contains(reference, "`"+m[1]+"`") {
				t.Errorf("%s reads %s, which the reference does not name", file, m[1])
			}
		}
	}
}

func code(before, s string) string {
	if s == "" {
		return ""
	}
	return "`" + before + s + "`"
}
