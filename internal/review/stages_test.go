package review

import (
	"os"
	"strings"
	"testing"
)

// TestStagesAreDocumented: the documents list the stages that run.
func TestStagesAreDocumented(t *testing.T) {
	var names []string
	for _, s := range stages {
		names = append(names, s.name)
	}
	list := strings.Join(names, " → ")
	for _, file := range []string{"../../docs/architecture.md", "../../doc.go", "review.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(string(text), "//", "")), " "), list) {
			t.Errorf("%s does not list the stages %s", file, list)
		}
	}
}
