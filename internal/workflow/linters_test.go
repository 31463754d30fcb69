package workflow

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/lint"
)

// TestLinters: the policy adds known linters, and changes none of the operator's.
func TestLinters(t *testing.T) {
	own := lint.Linter{Name: "eslint", Command: []string{"own", "{files}"}, Files: []string{"*.x"}, Sarif: true}
	all, failures := Linters([]lint.Linter{own}, precedent.Policy{Linters: []string{"eslint", "tsc", "bash"}})
	tsc, _ := lint.Preset("tsc")
	if diff := cmp.Diff([]lint.Linter{own, tsc}, all); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(failures) != 1 || !strings.Contains(failures[0].Error, `no linter "bash" is known`) {
		t.Errorf("%v", failures)
	}
}
