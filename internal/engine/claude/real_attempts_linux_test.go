package claude

import (
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
)

// realAttempts: of what cannot be used, no more than three answers are asked
// for; turns in which files are read are not counted among them.
func realAttempts(t *testing.T) {
	prose, wrong, right := llmtest.Reply{Text: "All is fine."}, answer(`{"x":1}`), answer(`{"n":5}`)
	read := call("Read", map[string]any{"file_path": "a.go"})
	for _, test := range []struct {
		name     string
		turns    []llmtest.Reply // the last one again and again
		status   precedent.Status
		requests int
	}{
		{"prose", []llmtest.Reply{prose}, precedent.StatusMalformed, 3},
		{"breaks the schema", []llmtest.Reply{wrong, wrong, {Text: `{"x":1}`}}, precedent.StatusMalformed, 3},
		{"both", []llmtest.Reply{prose, wrong, prose}, precedent.StatusMalformed, 3},
		{"both, the other way", []llmtest.Reply{wrong, prose}, precedent.StatusMalformed, 3},
		{"files, wrong once", []llmtest.Reply{read, read, wrong, right}, precedent.StatusOK, 4},
		{"files, at the last chance", []llmtest.Reply{read, prose, read, prose, read, {Text: `{"n":5}`}}, precedent.StatusOK, 6},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := serve(t, test.turns...)
			e, _ := start(t, m, edits{})
			tree := t.TempDir()
			plant(t, tree, map[string]string{"a.go": "package zebra\n"})
			a, err := e.Run(t.Context(), realTask(tree))
			if err != nil || a.Status != test.status {
				t.Errorf("%+v, %v", a, err)
			}
			if n := len(m.Requests()); n != test.requests || a.Usage.Requests != n {
				t.Errorf("%d requests, %d counted, want %d", n, a.Usage.Requests, test.requests)
			}
		})
	}
}
