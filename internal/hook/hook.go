// Package hook is the pre-push hook of git that reviews what is pushed.
package hook

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/text"
)

const (
	name = "pre-push"
	// Old is the name under which an existing hook is kept. The new hook runs it first.
	Old = name + ".old"
	// marker is the line by which our own hooks are known.
	marker = "# precedent-hook: made by precedent install-hook; precedent install-hook --uninstall removes it."
)

// script is what git runs. It runs the previous hook first, which can stop the push.
// A missing program does not stop a push: the hook guards against findings only.
const script = `#!/bin/sh
` + marker + `
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
	echo "precedent: the program was not found, so this push was not reviewed" >&2
	exit 0
fi
printf '%%s' "${pushed:+$pushed
}" | "$program" hook-pre-push "$@"
`

// State is the state of the pre-push hook.
type State struct {
	git.Hooks
	Path   string
	Exists bool // a file has the name
	Ours   bool
	HasOld bool // a previous hook is kept as Old
	// Husky: the hooks are husky's, which runs no file with another name in their place, and writes them again. It
	// runs the file at Path, which is Ours if it calls us.
	Husky bool
}

// Line is what a hook of another program needs to review what is pushed, where Precedent is installed.
const Line = `if command -v precedent >/dev/null; then ` + ownCommand + `; fi`

const ownCommand = `precedent hook-pre-push "$@"`

// Inspect returns the state of the pre-push hook.
func Inspect(repo *git.Repo) (State, error) {
	where, err := repo.Hooks()
	if err != nil {
		return State{}, err
	}
	h := State{Hooks: where, Path: filepath.Join(where.Dir, name)}
	if _, err := os.Lstat(filepath.Join(where.Dir, Old)); err == nil {
		h.HasOld = true
	}
	if _, err := os.Stat(filepath.Join(where.Dir, "h")); err == nil && filepath.Base(where.Dir) == "_" {
		h.Husky, h.Path = true, filepath.Join(filepath.Dir(where.Dir), name)
	}
	info, err := os.Lstat(h.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	var text []byte
	if err == nil && info.Mode().IsRegular() { // a link, for instance, is somebody else's
		text, err = os.ReadFile(h.Path)
	}
	if err != nil {
		return State{}, fmt.Errorf("look at hook: %w", err)
	}
	h.Exists = true
	for line := range bytes.Lines(text) {
		line := strings.TrimSpace(string(line))
		h.Ours = h.Ours || line == marker || h.Husky && strings.Contains(line, ownCommand)
	}
	return h, nil
}

// Install writes the hook, which runs the program, in one step.
func (h State) Install(program string) error {
	if err := os.MkdirAll(h.Dir, 0o755); err != nil { //nolint:gosec // git makes its hooks folder so
		return fmt.Errorf("install hook: %w", err)
	}
	f, err := os.CreateTemp(h.Dir, name+".*")
	if err != nil {
		return fmt.Errorf("install hook: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = fmt.Fprintf(f, script, text.ShellQuoted(filepath.ToSlash(program)))
	err = errors.Join(err, f.Chmod(0o755), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), h.Path)
	}
	if err != nil {
		return fmt.Errorf("install hook: %w", err)
	}
	return nil
}
