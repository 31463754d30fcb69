package gate

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// TestKeepOnce: runs that need the same folder at the same time wait for the one that makes it, and one
// of them makes it if that one could not.
func TestKeepOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	var made, failed atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if keep(dir, keepNewest, func(to string) error {
				if made.Add(1) == 1 {
					return errors.New("the server is down")
				}
				return os.WriteFile(filepath.Join(to, "a"), nil, 0o600)
			}) != nil {
				failed.Add(1)
			}
		})
	}
	all.Wait()
	if made.Load() != 2 || failed.Load() != 1 || !findKept(dir) {
		t.Errorf("made %d times, %d failed", made.Load(), failed.Load())
	}
}
