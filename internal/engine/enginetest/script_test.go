package enginetest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent/internal/engine"
)

// playFor plays the script file for a task and returns what a program would
// have written and exited with.
func playFor(t *testing.T, path string, role engine.Role, name string) (stdout, stderr string, status int, err error) {
	t.Helper()
	input, marshalErr := json.Marshal(engine.NewRequest(engine.Task{Role: role, Name: name, Prompt: "P"}, time.Second))
	if marshalErr != nil {
		t.Fatal(marshalErr)
	}
	var out, errs strings.Builder
	status, err = play(path, strings.NewReader(string(input)), &out, &errs)
	return out.String(), errs.String(), status, err
}

func TestScript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "script.json")
	script := `{"plays": [
		{"role": "finder", "name": "bugs", "replies": [
			{"text": "Sure."},
			{"answer": {"findings": []}, "usage": {"output_tokens": 3}, "model": "m-1"}
		]},
		{"role": "finder", "replies": [{"stdout": "<html>", "stderr": "oops"}]},
		{"name": "verify", "replies": [{"refused": true}]},
		{"role": "judge", "replies": [{"exit": 7, "stderr": "out of luck"}]}
	]}`
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	type asked struct {
		role   engine.Role
		name   string
		stdout string
		stderr string
		status int
	}
	const second = `{"answer":{"findings":[]},"usage":{"output_tokens":3},"model":"m-1"}` + "\n"
	for _, want := range []asked{
		{engine.Finder, "bugs", `{"answer":"Sure."}` + "\n", "", 0},
		{engine.Finder, "tests", "<html>", "oops", 0},
		{engine.Finder, "bugs", second, "", 0},
		{engine.Verifier, "verify", `{"refused":true}` + "\n", "", 0},
		{engine.Finder, "bugs", second, "", 0},
		{engine.Judge, "judge", "", "out of luck", 7},
	} {
		got := want
		var err error
		got.stdout, got.stderr, got.status, err = playFor(t, path, want.role, want.name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(asked{})); diff != "" {
			t.Errorf("played (-want +got):\n%s", diff)
		}
	}
	if _, _, _, err := playFor(t, path, engine.Verifier, "other"); err == nil || !strings.Contains(err.Error(), `no play for role "verifier", name "other"`) {
		t.Errorf("error %v for a task that is not foreseen", err)
	}

	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(filepath.Dir(path), "script.tasks.jsonl"); s.Log != want {
		t.Errorf("log %s, want %s", s.Log, want)
	}
	sent, err := s.Sent()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range sent {
		names = append(names, r.Name)
	}
	if diff := cmp.Diff([]string{"bugs", "tests", "bugs", "verify", "bugs", "judge", "other"}, names); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

func TestPlayRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("good.json", `{"plays":[{"replies":[{}]}]}`)
	for _, test := range []struct{ name, path, input, want string }{
		{"no script", filepath.Join(dir, "missing"), "{}", "read script"},
		{"unknown field", write("typo.json", `{"plays":[{"replys":[]}]}`), "{}", `unknown field "replys"`},
		{"no task", good, "", "read task"},
		{"another schema", good, `{"schema":"precedent.task/9"}`, `its schema is "precedent.task/9"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, errs strings.Builder
			if _, err := play(test.path, strings.NewReader(test.input), &out, &errs); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}
