package needs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Child returns this test binary, for tests that start it as another program. If it has
// the race detector, Child builds one without in dir: parsing and type-checking take many
// times as long with it, and what children do concurrently is also tested in process. The
// working folder must be that of the package.
func Child(dir string) (string, error) {
	if !race {
		return os.Executable()
	}
	program := filepath.Join(dir, "child.exe")
	cmd := exec.Command("go", "test", "-c", "-o", program, ".") //nolint:noctx // it ends by itself, and is built from the package under test
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")             //nolint:forbidigo // only tests call this
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the tests without the race detector: %w: %s", err, out)
	}
	return program, nil
}

// Self returns this test binary, for tests that start it as another program. Such a test needs no
// race detector: the other program does its work.
func Self(t testing.TB) string {
	t.Helper()
	WithoutRace(t, "starts processes that do its work")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return program
}
