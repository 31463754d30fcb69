package child

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// A program ends with the one that runs it, also if that is killed.
func TestEndsWithParent(t *testing.T) {
	held := filepath.Join(t.TempDir(), "held")
	needs.NoError(t, syscall.Mkfifo(held, 0o600))
	parent := exec.Command(program(t, "").Path)
	parent.Env = []string{part + "=parent", hold + "=" + held}
	needs.NoError(t, parent.Start())
	f, err := os.Open(held) // waits for the program
	needs.NoError(t, err)
	defer f.Close()
	needs.NoError(t, parent.Process.Kill())
	_ = parent.Wait()                        // it was killed
	if _, err := io.ReadAll(f); err != nil { // ends with the program
		t.Error(err)
	}
}
