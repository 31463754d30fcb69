package main

import (
	"strings"
	"testing"
)

// TestFixCommand: a dry run prints a patch and changes nothing; without a gate nothing is pushed unless the operator says
// so; then one commit is pushed.
func TestFixCommand(t *testing.T) {
	t.Parallel()
	s := newRounds(t)
	s.finds()
	for _, step := range []struct {
		args          []string
		status        int
		says          string
		pushes, notes int
	}{
		{[]string{"--dry-run", "--ungated"}, 0, "planned, 3 conversations addressed", 0, 0},
		{nil, 1, "refused: the gate was skipped", 0, 1},
		{[]string{"--ungated"}, 0, "pushed ", 1, 2},
		{[]string{"--ungated"}, 0, "an earlier round pushed it", 1, 2},
	} {
		s.editor.texts = []string{fixedTill}
		status, said := s.run(append([]string{"fix", s.door.URL + "/octo/app/pull/7"}, step.args...)...)
		if status != step.status || !strings.Contains(said, step.says) {
			t.Errorf("%q: status %d\n%s%s", step.args, status, s.out.String(), said)
		}
		if n, notes := len(s.door.git.Pushes()), len(s.notes("**")); n != step.pushes || notes != step.notes {
			t.Errorf("%q: %d pushes, %d notes\n%s", step.args, n, notes, strings.Join(s.notes("**"), "\n"))
		}
		if patch := s.out.String(); step.notes == 0 && (!strings.Contains(patch, "+"+guarded) ||
			!strings.Contains(patch, "\n ") || strings.HasSuffix(patch, "\n\n")) {
			t.Errorf("%q: no patch in\n%s", step.args, patch)
		}
	}
}
