package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestNotes: the notes of this repository make a section.
func TestNotes(t *testing.T) {
	if _, _, err := section(filepath.Join("..", "..", "changes")); err != nil {
		t.Error(err)
	}
}

func TestRelease(t *testing.T) {
	top := t.TempDir()
	day := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	notes := func(all map[string]string) {
		t.Helper()
		for name, text := range all {
			file := filepath.Join(top, "changes", name)
			needs.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			needs.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		}
	}
	fails := func(version, says string) {
		t.Helper()
		if err := release(top, version, day); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", version, err, says)
		}
	}
	fails("v1.0.0", "no notes")
	notes(map[string]string{"added-b.md": "B is\nnew.\n", "added-a.md": "A is new.\n", "security-x.md": "X is closed.\n"})
	fails("1.0", "not a version")
	needs.NoError(t, release(top, "v1.0.0", day))
	notes(map[string]string{"fixed-c.md": "C works.\n"})
	fails("v1.0.0", "has a section of v1.0.0 already")
	needs.NoError(t, release(top, "v1.0.1", day))
	got, err := os.ReadFile(filepath.Join(top, "CHANGELOG.md"))
	want := title + "\n## v1.0.1 (2026-03-04)\n\n### Fixed\n\n- C works.\n" +
		"\n## v1.0.0 (2026-03-04)\n\n### Security\n\n- X is closed.\n\n### Added\n\n- A is new.\n- B is new.\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	if left, _ := filepath.Glob(filepath.Join(top, "changes", "*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	notes(map[string]string{"new-d.md": "D."})
	fails("v1.0.2", "does not begin with")
	needs.NoError(t, os.Remove(filepath.Join(top, "changes", "new-d.md")))
	notes(map[string]string{"fixed-d.md": "fix D"})
	fails("v1.0.2", "not one or more sentences")
}
