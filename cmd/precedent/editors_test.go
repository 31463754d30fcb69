package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestProblemMatchers: the patterns for VS Code in docs/editors.md match what is printed, and say where.
func TestProblemMatchers(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	runGit(t, home, dir, "init", "--quiet")
	runGit(t, home, dir, "commit", "--quiet", "--allow-empty", "--message", "one")
	writeFile(t, filepath.Join(dir, "a folder", "a.txt"), conflict("start\n", "x\n", "y\n"), 0o600)
	runGit(t, home, dir, "add", ".")
	_, out, _ := finished(t, precedentCmd(home, dir, "-q", "review", "--format", "agent"))
	_, code, _ := strings.Cut(read(t, filepath.Join("..", "..", "docs", "editors.md")), "```json\n")
	code, _, _ = strings.Cut(code, "```")
	tasks := parsed[struct {
		Tasks []struct {
			ProblemMatcher []struct{ Pattern struct{ Regexp string } }
		}
	}](t, code)
	var found [][]string
	for _, m := range tasks.Tasks[0].ProblemMatcher {
		pattern := regexp.MustCompile(m.Pattern.Regexp)
		for line := range strings.Lines(out + "b.go:7: low style x A title\n") {
			if match := pattern.FindStringSubmatch(strings.TrimSuffix(line, "\n")); match != nil {
				found = append(found, match[1:3])
			}
		}
	}
	if len(found) != 2 || strings.Join(found[0], ":") != "a folder/a.txt:2" || strings.Join(found[1], ":") != "b.go:7" {
		t.Errorf("%q in\n%s", found, out)
	}
}
