package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/precedent-dev/precedent/internal/git"
)

const (
	hookName = "pre-push"
	// hookOld is the name of a hook that stood in the way of ours, which starts it.
	hookOld = hookName + ".old"
	// hookMark is the line by which our own hooks are known.
	hookMark = "# precedent-hook: made by precedent install-hook; precedent install-hook --uninstall removes it."
	// maxHook is how much of a hook is looked at for the mark, in bytes.
	maxHook = 64 << 10
)

// hookScript is what git runs. A hook that stood there before comes first and
// keeps its say. Nothing that is missing here stops a push: the hook guards
// against findings, not against a removed program.
const hookScript = `#!/bin/sh
` + hookMark + `
program=%s
pushed=$(cat)
old=$0.old
if [ -x "$old" ]; then
	printf '%%s' "${pushed:+$pushed
}" | "$old" "$@" || exit
fi
[ -z "${PRECEDENT_SKIP_HOOK:-}" ] || exit 0
command -v "$program" >/dev/null 2>&1 || program=precedent
if ! command -v "$program" >/dev/null 2>&1; then
	echo "precedent: the program is gone, so nothing of this push was reviewed" >&2
	exit 0
fi
printf '%%s' "${pushed:+$pushed
}" | "$program" hook-pre-push "$@"
`

// writtenHook is the script that starts the program.
func writtenHook(program string) []byte {
	return fmt.Appendf(nil, hookScript, shellQuoted(filepath.ToSlash(program)))
}

// shellQuoted makes one word of s for a POSIX shell.
func shellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// program is where this program is found the next time, too: by its name in
// PATH if that leads here, because what it leads to may be the folder of one
// version.
func (a *app) program() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	mine, err := os.Stat(self)
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	for _, dir := range filepath.SplitList(a.env["PATH"]) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, "precedent")); err == nil {
			if info, err := os.Stat(path); err == nil && os.SameFile(info, mine) {
				return path, nil
			}
		}
	}
	return self, nil
}

// heldHook is what stands where our hook belongs.
type heldHook struct {
	git.Hooks
	path  string
	there bool // something has the name
	ours  bool
	old   bool // and something waits as .old
}

func lookAtHook(repo *git.Repo) (heldHook, error) {
	where, err := repo.Hooks()
	if err != nil {
		return heldHook{}, err
	}
	h := heldHook{Hooks: where, path: filepath.Join(where.Dir, hookName)}
	if _, err := os.Lstat(filepath.Join(where.Dir, hookOld)); err == nil {
		h.old = true
	}
	info, err := os.Lstat(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return heldHook{}, fmt.Errorf("look at hook: %w", err)
	}
	h.there = true
	if !info.Mode().IsRegular() {
		return h, nil // a link, for instance, is somebody else's
	}
	f, err := os.Open(h.path)
	if err != nil {
		return heldHook{}, fmt.Errorf("look at hook: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxHook))
	if err != nil {
		return heldHook{}, fmt.Errorf("look at hook: %w", err)
	}
	for line := range bytes.Lines(text) {
		h.ours = h.ours || strings.TrimRight(string(line), "\r\n") == hookMark
	}
	return h, nil
}

// write puts our hook in its place, whole or not at all.
func (h heldHook) write(script []byte) error {
	if err := os.MkdirAll(h.Dir, 0o755); err != nil { //nolint:gosec // git makes its hooks folder so
		return fmt.Errorf("install hook: %w", err)
	}
	f, err := os.CreateTemp(h.Dir, hookName+".*")
	if err != nil {
		return fmt.Errorf("install hook: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(script)
	err = errors.Join(err, f.Chmod(0o755), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), h.path)
	}
	if err != nil {
		return fmt.Errorf("install hook: %w", err)
	}
	return nil
}
