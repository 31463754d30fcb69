package run

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/pulltest"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// TestLearningsCannotBeRead is row 40 of the faults: "DB read error on learnings: review
// without suppression (fail open for visibility), said so".
func TestLearningsCannotBeRead(t *testing.T) {
	home := t.TempDir()
	work := pulltest.Repository(t, home)
	r := newEnv(home, forgetest.NewStage(t).Clock)
	w, err := r.OpenWorkspace(t.Context(), workspace.Location{Dir: work})
	needs.NoError(t, err)
	c, err := r.Learn(t.Context(), w, memory.Proposal{Kind: precedent.LearnDo, Directive: "check errors"}, "dana")
	if err != nil || !c.Active() || !c.Private || c.From.By != precedent.FromCommand {
		t.Fatalf("%+v, %v", c, err)
	}
	w.Close()
	pulltest.Commit(t, home, work, "test", map[string]string{"a.test.js": "it.only('a', () => {});\n"})
	if got := reviewLocal(t, r, work, git.Spec{Range: "main...feature"}); len(got.Failures) > 0 {
		t.Fatalf("%+v", got.Failures)
	}
	db, err := sql.Open("sqlite", filepath.Join(work, ".precedent", "memory.db"))
	needs.NoError(t, err)
	needs.Value(db.ExecContext(t.Context(), "UPDATE learnings SET document = 'garbled'"))(t)
	got := reviewLocal(t, r, work, git.Spec{Range: "main...feature"})
	if len(got.Failures) != 1 || got.Failures[0].Step != "learnings" || !strings.Contains(got.Failures[0].Error,
		"does not use stored learnings") || got.Verdict == precedent.Failed {
		t.Errorf("%s, %+v", got.Verdict, got.Failures)
	}
	needs.NoError(t, db.Close())
}
