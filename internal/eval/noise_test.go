package eval

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// newHistory makes a repository whose commits each write one file.
func newHistory(t *testing.T, contents ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull}
		for _, who := range []string{"AUTHOR", "COMMITTER"} {
			cmd.Env = append(cmd.Env, "GIT_"+who+"_NAME=dana", "GIT_"+who+"_EMAIL=dana@example.org", "GIT_"+who+"_DATE=2026-01-05T09:00:00Z")
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	needs.NoError(t, os.Mkdir(dir, 0o755))
	run("init", "-q", "-b", "main")
	for _, content := range contents {
		needs.NoError(t, os.WriteFile(filepath.Join(dir, "notes.js"), []byte(content), 0o644))
		run("add", "-A")
		run("commit", "-q", "--allow-empty", "-m", "change")
	}
	return dir
}

func noiseRun(t *testing.T) NoiseRun {
	t.Helper()
	set, err := settings.Read(settings.Sources{Dir: t.TempDir()})
	needs.NoError(t, err)
	return NoiseRun{
		Reviewer: &workspace.Env{
			Now:   func() time.Time { return time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC) },
			NewID: func() string { return "id" }, Git: git.Options{TempDir: t.TempDir()},
		},
		Settings: set, Ranges: 10, Jobs: 2, Seed: 1, Sample: 100, Notice: t.Logf,
	}
}

// conflictOf is a change with a conflict marker in it.
func conflictOf(n int) string {
	return strings.Repeat("let line = 1\n", n) + strings.Repeat("<", 7) + " HEAD\nlet a = 1\n" + strings.Repeat("=", 7) + "\nlet a = 2\n" + strings.Repeat(">", 7) + " other\n"
}

func TestMeasureNoise(t *testing.T) {
	t.Parallel()
	dir := newHistory(t, "let line = 1\n", conflictOf(2), conflictOf(3), "let line = 1\n", conflictOf(1))
	o := noiseRun(t)
	o.Out = filepath.Join(t.TempDir(), "sample.jsonl")
	n, err := MeasureNoise(t.Context(), []string{dir}, o)
	needs.NoError(t, err)
	// The five commits are four ranges with 6, 1, 0 and 5 added lines. The second adds no marker.
	want := []RuleNoise{{Analyzer: "conflict-markers", Rule: "conflict-marker", Severity: precedent.High, Found: 2, Shown: 2, Ranges: 2, FoundRate: 1000. / 6, ShownRate: 1000. / 6}}
	if !slices.Equal(n.Rules, want) || n.Ranges != 4 || n.Added != 12 || n.Found != 2 || n.Shown != 2 || n.Serious != 2 || n.Sampled != 2 || !n.Whole() {
		t.Errorf("%s", indented(t, n))
	}
	if c := n.Coverage; c.Files != 4 || c.Hunks != 4 || c.HunksRead != 4 {
		t.Errorf("coverage %+v", c)
	}
	again := noiseRun(t)
	again.Jobs = 1
	m, err := MeasureNoise(t.Context(), []string{dir}, again)
	n.Sampled = 0
	if err != nil || indented(t, n) != indented(t, m) {
		t.Errorf("one job finds %s\nwant %s\n%v", indented(t, m), indented(t, n), err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".precedent")); err == nil {
		t.Error("a memory was made")
	}

	data, err := os.ReadFile(o.Out)
	needs.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	var one NoiseFinding
	if err := json.Unmarshal([]byte(lines[1]), &one); err != nil || len(lines) != 3 {
		t.Fatalf("%v in %s", err, data)
	}
	if one.Path != "notes.js" || one.Right != nil || one.Commit == one.Base || len(one.Code) == 0 || !slices.ContainsFunc(one.Code, func(l string) bool { return strings.HasPrefix(l, ">") && strings.Contains(l, "HEAD") }) {
		t.Errorf("finding %+v", one)
	}
	if _, err := MeasureNoise(t.Context(), []string{dir}, o); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("the sample was replaced: %v", err)
	}

	judged := strings.Replace(string(data), `"right":null`, `"right":true`, 1)
	judged = strings.Replace(judged, `"right":null`, `"right":false`, 1)
	needs.NoError(t, os.WriteFile(o.Out, []byte(judged), 0o600))
	j, err := ScoreNoise(o.Out)
	if err != nil || j.Judged != 2 || j.Right != 1 || *j.Precision.Value != 0.5 || j.SeriousWrong != 1 || *j.FalseSerious.Value != 0.5*2*20_000/12 {
		t.Errorf("%s %v", indented(t, j), err)
	}
}

// TestWilson uses the values of the R function prop.test(correct=FALSE).
func TestWilson(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		hits, n int
		want    string
	}{{80, 100, "80.0 (71–87)"}, {0, 10, "0.0 (0–28)"}, {10, 10, "100.0 (72–100)"}, {0, 0, "–"}} {
		if got := percent(wilson(test.hits, test.n)); got != test.want {
			t.Errorf("%d of %d: %s, want %s", test.hits, test.n, got, test.want)
		}
	}
}
