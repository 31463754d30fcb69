package review

import (
	"os"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestStagesAreDocumented: the documents list the stages that run.
func TestStagesAreDocumented(t *testing.T) {
	names := needs.Each(stages, func(s stage) string { return s.name })
	list := strings.Join(names, " → ")
	for _, file := range []string{"../../docs/architecture.md", "../../doc.go", "review.go"} {
		text := needs.Value(os.ReadFile(file))(t)
		if !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(string(text), "//", "")), " "), list) {
			t.Errorf("%s does not list the stages %s", file, list)
		}
	}
}
