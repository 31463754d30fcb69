package claude

import (
	"testing"

	"github.com/precedent-dev/precedent"
)

// realAttempts: of what cannot be used, no more than three answers are asked
// for; turns in which files are read are not counted among them.
func realAttempts(t *testing.T) {
	prose, wrong, right := turn{text: "All is fine."}, answer(`{"x":1}`), answer(`{"n":5}`)
	read := turn{tool: "Read", input: map[string]any{"file_path": "a.go"}}
	for _, test := range []struct {
		name     string
		turns    []turn // the last one again and again
		status   precedent.Status
		requests int
	}{
		{"prose", []turn{prose}, precedent.StatusMalformed, 3},
		{"breaks the schema", []turn{wrong, wrong, {text: `{"x":1}`}}, precedent.StatusMalformed, 3},
		{"both", []turn{prose, wrong, prose}, precedent.StatusMalformed, 3},
		{"both, the other way", []turn{wrong, prose}, precedent.StatusMalformed, 3},
		{"files, wrong once", []turn{read, read, wrong, right}, precedent.StatusOK, 4},
		{"files, at the last chance", []turn{read, prose, read, prose, read, {text: `{"n":5}`}}, precedent.StatusOK, 6},
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
			if n := m.requests(); n != test.requests || a.Usage.Requests != n {
				t.Errorf("%d requests, %d counted, want %d", n, a.Usage.Requests, test.requests)
			}
		})
	}
}
