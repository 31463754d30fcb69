package gate

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestKeepOnce: runs that need the same folder at the same time wait for the one that makes it, and one
// of them makes it if that one could not.
func TestKeepOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	begun, fail := make(chan struct{}), make(chan struct{})
	made := 0
	var all sync.WaitGroup
	all.Go(func() {
		broken := errors.New("the server is down")
		err := keep(dir, keepNewest, func(string) error { close(begun); <-fail; return broken })
		if !errors.Is(err, broken) {
			t.Errorf("the first: %v", err)
		}
	})
	<-begun
	for range 8 {
		all.Go(func() {
			err := keep(dir, keepNewest,
				func(to string) error { made++; return os.WriteFile(filepath.Join(to, "a"), nil, 0o600) })
			if err != nil || !findKept(dir) {
				t.Errorf("a later one: %v", err)
			}
		})
	}
	close(fail)
	all.Wait()
	needs.Equal(t, 1, made)
}
