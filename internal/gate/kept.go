package gate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
)

// A kept folder is a result that later runs read: dependencies, or a build cache. No run may put
// something into it that another one trusts (threat T28). So it is written once, by this program
// and never by a command, from what comes out of a sandbox in which nothing of the repository ran; its
// content is hashed, and a sandbox sees it read-only.

// Limits of what is kept of a repository, for each kind.
const (
	keepNewest = 5  // build caches
	keepSets   = 15 // sets of dependencies, of which a tree can have several
	keepFor    = 7 * 24 * time.Hour
	inUse      = 2 * time.Hour // a run that began before has ended
	sumSuffix  = ".sha256"
)

// making has a lock for each kept folder that this process has made: a *sync.Mutex.
var making sync.Map

// keptDir is where the kept folders of a repository are that runs of one trust may read.
func (r Runner) keptDir(kind string, repo precedent.Repo, trust Trust) string {
	sum := sha256.Sum256([]byte(repo.String()))
	return filepath.Join(r.CacheDir, kind, hex.EncodeToString(sum[:8]), string(trust))
}

// keyOf is a name for a kept folder that depends on all parts.
func keyOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// findKept returns a kept folder if it is there and as it was written. A changed one is removed.
func findKept(dir string) bool {
	want, err := os.ReadFile(dir + sumSuffix)
	if err != nil {
		return false
	}
	if sum, err := sumFolder(dir); err != nil || sum != string(want) {
		removeKept(dir)
		return false
	}
	now := time.Now()
	_ = os.Chtimes(dir+sumSuffix, now, now) // it is in use
	return true
}

// keep makes a kept folder. Fill writes it into a temporary folder, so that nobody sees
// it half-done. If another run is making it, keep waits for that one, and makes it only if that
// one could not. The newest folders beside it are kept, too.
func keep(dir string, newest int, fill func(string) error) error {
	lock, _ := making.LoadOrStore(dir, &sync.Mutex{})
	lock.(*sync.Mutex).Lock()         //nolint:forcetypeassert // nothing else is in it
	defer lock.(*sync.Mutex).Unlock() //nolint:forcetypeassert // see above
	if findKept(dir) {                // since the caller looked
		return nil
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil { //nolint:gosec // the sandbox may have a user of its own
		return err
	}
	prune(parent, newest)
	work, err := os.MkdirTemp(parent, ".new-")
	if err != nil {
		return err
	}
	defer removeKept(work)
	err = fill(work)
	if err == nil {
		err = openToAll(work)
	}
	if err != nil {
		return err
	}
	sum, err := sumFolder(work)
	if err != nil {
		return err
	}
	if findKept(dir) { // another process has made it, and may be using it
		return nil
	}
	removeKept(dir)
	if err := os.WriteFile(work+sumSuffix, []byte(sum), 0o600); err != nil {
		return err
	}
	if err := os.Rename(work, dir); err != nil {
		return err
	}
	return os.Rename(work+sumSuffix, dir+sumSuffix) // at once, since findKept removes a folder with half a sum
}

// openToAll lets the users of sandboxes read a folder.
func openToAll(dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.Chmod(name, 0o755) //nolint:gosec // that is what it is for
		case d.Type().IsRegular():
			info, err := d.Info()
			if err != nil {
				return err
			}
			return os.Chmod(name, info.Mode().Perm()&0o111|0o444) //nolint:gosec // only this program writes there
		}
		return nil
	})
}

func removeKept(dir string) {
	_ = os.Remove(dir + sumSuffix) // first: without it, the folder does not count
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(name, 0o700) //nolint:gosec // a folder, to be removed
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}

// sumFolder is a hash of the names, kinds and contents of a folder.
func sumFolder(dir string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %v\n", strings.TrimPrefix(name, dir), d.Type())
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(name)
			fmt.Fprintf(h, "%q\n", to)
			return err
		case d.Type().IsRegular():
			f, err := os.Open(name) //nolint:gosec // only this program writes there
			if err != nil {
				return err
			}
			defer f.Close()
			one := sha256.New()
			if _, err := io.Copy(one, f); err != nil {
				return err
			}
			fmt.Fprintf(h, "%x\n", one.Sum(nil))
		}
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

type kept struct {
	dir  string
	used time.Time
}

// listKept lists the kept folders in a folder, the last used first.
func listKept(parent string) []kept {
	entries, _ := os.ReadDir(parent)
	var all []kept
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), sumSuffix)
		if info, err := e.Info(); is && err == nil {
			all = append(all, kept{filepath.Join(parent, name), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b kept) int { return cmp.Or(b.used.Compare(a.used), strings.Compare(a.dir, b.dir)) })
	return all
}

// prune removes the kept folders that nobody used for long, and what a killed process left.
func prune(parent string, newest int) {
	for i, k := range listKept(parent) {
		if age := time.Since(k.used); age > keepFor || i >= newest && age > inUse {
			removeKept(k.dir)
		}
	}
	left, _ := filepath.Glob(filepath.Join(parent, ".new-*"))
	for _, dir := range left {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > inUse {
			removeKept(dir)
		}
	}
}
