package lint

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/analyzers.md")

// TestDocs: docs/analyzers.md says what All says.
func TestDocs(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "analyzers.md")
	var b strings.Builder
	b.WriteString(`# Analyzers

<!-- Made from the table in internal/lint by "go test ./internal/lint -run TestDocs -update"; edit that. -->

An analyzer finds problems without a model. It reports on lines that the change adds. Comments for linters (` + "`//nolint`, `//lint:ignore`" + `)
silence ` + "`govet` and `staticcheck`" + `; no comment silences the others. All analyzers run unless the policy turns them off by name, like [finders](finders.md).

| analyzer | what it finds |
|---|---|
`)
	for _, a := range All() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", a.Name, a.Doc)
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("run go test ./internal/lint -run TestDocs -update (-want +got):\n%s", d)
	}
}
