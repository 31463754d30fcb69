//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"github.com/precedent-dev/precedent/internal/child"
)

// Sandbox makes sandboxes of one kind. It is safe for concurrent use.
type Sandbox struct {
	kind    Kind
	bwrap   string // the program, for Bubblewrap
	program string // this program
	users   users
	groups  string // folder for control groups; empty if this program cannot create any
}

// Kind is how the sandboxes are made.
func (b Sandbox) Kind() Kind { return b.kind }

const probeOutput = "hello from the sandbox\n"

const probeTime = 20 * time.Second // for a program of 60 MB on a loaded machine

var mainCalled atomic.Bool // Main was called

const hint = "install bubblewrap, and allow user namespaces (sysctl kernel.unprivileged_userns_clone, " +
	"kernel.apparmor_restrict_unprivileged_userns, user.max_user_namespaces; " +
	"in a container: its seccomp profile and --security-opt systempaths=unconfined)"

// Probe returns a sandbox of the best kind that works here, found by running a command in
// it. Otherwise the error is a *NoneError. Path is the list of folders to look for
// bwrap in; empty means /usr/local/bin:/usr/bin:/bin.
func Probe(ctx context.Context, path string) (Sandbox, error) {
	none := &NoneError{Hint: hint}
	for _, kind := range []Kind{Bubblewrap, Namespaces} {
		b, err := probe(ctx, kind, path)
		if err == nil {
			return b, nil
		}
		if ctx.Err() != nil {
			return Sandbox{}, ctx.Err()
		}
		none.Why = append(none.Why, fmt.Sprintf("%s: %v", kind, err))
	}
	return Sandbox{}, none
}

func probe(ctx context.Context, kind Kind, path string) (Sandbox, error) {
	if !mainCalled.Load() {
		return Sandbox{}, errors.New("this program does not call sandbox.Main first")
	}
	program, err := os.Executable()
	if err != nil {
		return Sandbox{}, err
	}
	b := Sandbox{kind: kind, program: program, users: findUsers(), groups: findGroups()}
	if kind == Bubblewrap {
		if b.bwrap = child.Find("bwrap", cmp.Or(path, "/usr/local/bin:/usr/bin:/bin")); b.bwrap == "" {
			return Sandbox{}, fmt.Errorf("bwrap: %w", exec.ErrNotFound)
		}
	}
	hello := Job{Argv: []string{self, "hello"}, Limits: Limits{Time: probeTime}, program: self}
	r, err := b.Run(ctx, hello)
	if err != nil && b.groups != "" {
		b.groups = "" // this program may not create groups there, or not start processes in them
		r, err = b.Run(ctx, hello)
	}
	if err != nil {
		return Sandbox{}, err
	}
	if out := r.Stdout.String(); r.Status != OK || out != probeOutput {
		return Sandbox{}, fmt.Errorf("the test command ended with %s, %d: %q %q", r.Status, r.Exit, out, r.Stderr)
	}
	return b, nil
}
