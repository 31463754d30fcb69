package lint

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"

	"github.com/precedent-dev/precedent/internal/sandbox"
)

// mostSums limits the lines of go.sum files that are read. Kubernetes has 1,000.
const mostSums = 20_000

// chooseModules makes a module cache in dir with those modules of the cache that the
// go.sum files list, so that a change cannot make others part of a review. The modules
// themselves are empty folders of the same names; the mounts say what belongs there.
func chooseModules(cache, dir string, sums []byte) ([]sandbox.Mount, error) {
	//nolint:gosec // the sandbox's user reads it
	if err := os.MkdirAll(filepath.Join(dir, "cache", "download"), 0o755); err != nil {
		return nil, err
	}
	var mounts []sandbox.Mount
	seen, n := map[string]bool{}, 0
	for line := range bytes.Lines(sums) {
		fields := strings.Fields(string(line))
		if len(fields) != 3 || seen[fields[0]+"@"+fields[1]] {
			continue
		}
		seen[fields[0]+"@"+fields[1]] = true
		if n++; n > mostSums || cache == "" {
			break
		}
		version, onlyMod := strings.CutSuffix(fields[1], "/go.mod")
		path, err := module.EscapePath(fields[0])
		if err == nil {
			version, err = module.EscapeVersion(version)
		}
		if err != nil {
			continue // no cache has it
		}
		about := filepath.Join("cache", "download", filepath.FromSlash(path), "@v", version)
		kind := ".ziphash"
		if onlyMod {
			kind = ".mod"
		}
		if err := chooseFile(cache, dir, about+kind); err != nil {
			return nil, err
		}
		name := filepath.FromSlash(path) + "@" + version
		if info, err := os.Stat(filepath.Join(cache, name)); onlyMod || err != nil || !info.IsDir() {
			continue
		}
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil { //nolint:gosec // as above
			return nil, err
		}
		mounts = append(mounts, sandbox.Mount{
			Source: filepath.Join(cache, name),
			Target: goModCache + "/" + filepath.ToSlash(name),
		})
	}
	return mounts, nil
}

// chooseFile copies a file of the cache, if there is one.
func chooseFile(cache, dir, name string) error {
	if _, err := os.Stat(filepath.Join(cache, name)); err != nil {
		return nil //nolint:nilerr // the module is not downloaded
	}
	to := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // the sandbox's user reads it
		return err
	}
	return linkOrCopy(filepath.Join(cache, name), to)
}

// linkModules fills the folders of chooseModules where no sandbox mounts them.
func linkModules(dir string, mounts []sandbox.Mount) error {
	for _, m := range mounts {
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(m.Target, goModCache+"/")))
		if os.Remove(to) == nil && os.Symlink(m.Source, to) == nil {
			continue
		}
		if err := os.CopyFS(to, os.DirFS(m.Source)); err != nil { // Windows, without the right to make links
			return err
		}
	}
	return nil
}
