package child

import (
	"os/exec"
	"path/filepath"
)

// Find returns the path of a program in a list of folders such as PATH, "" if none has it. Relative folders do not
// count: the working directory may be an untrusted tree.
func Find(name, path string) string {
	for _, dir := range filepath.SplitList(path) {
		if file, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(dir) {
			return file
		}
	}
	return ""
}
