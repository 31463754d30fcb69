package needs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRounds: make test also runs without the race detector the packages in which it skips tests
// or runs few rounds.
func TestRounds(t *testing.T) {
	root := filepath.Join("..", "..")
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	var without []string // packages that are tested without the race detector
	for _, list := range regexp.MustCompile(`(?m)^(?:PURE|ROUNDS) := \$\(addprefix \./internal/,([^)]+)\)$`).FindAllSubmatch(makefile, -1) {
		without = append(without, strings.Fields(string(list[1]))...)
	}
	if len(without) < 10 {
		t.Fatalf("the Makefile names %q", without)
	}
	asks := regexp.MustCompile(`\bneeds\.(?:Rounds|WithoutRace|Self)\(`)
	err = filepath.WalkDir(filepath.Join(root, "internal"), func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(file), filepath.Join(root, "internal")+string(filepath.Separator)))
		if at := asks.Find(text); at != nil && !slices.Contains(without, name) {
			t.Errorf("%s calls %s), and ROUNDS in the Makefile does not name %s", file, at, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
