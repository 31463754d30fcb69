//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"
)

// Box makes boxes of one kind. It is safe for concurrent use.
type Box struct {
	kind    Kind
	bwrap   string // the program, for Bubblewrap
	program string // this program
	users   users
	groups  string // folder for control groups; empty if this program cannot create any
}

// Kind is how the boxes are made.
func (b Box) Kind() Kind { return b.kind }

const probeTime = 20 * time.Second // for a program of 60 MB on a loaded machine

var mainCalled atomic.Bool // Main was called

const hint = "install bubblewrap, and allow user namespaces (sysctl kernel.unprivileged_userns_clone, " +
	"kernel.apparmor_restrict_unprivileged_userns, user.max_user_namespaces; " +
	"in a container: its seccomp profile and --security-opt systempaths=unconfined)"

// Probe returns a box of the best kind that works here, found by running a command in
// it. Otherwise the error is a *NoneError. Path is the list of folders to look for
// bwrap in; empty means /usr/local/bin:/usr/bin:/bin.
func Probe(ctx context.Context, path string) (Box, error) {
	none := &NoneError{Hint: hint}
	for _, kind := range []Kind{Bubblewrap, Namespaces} {
		b, err := probe(ctx, kind, path)
		if err == nil {
			return b, nil
		}
		if ctx.Err() != nil {
			return Box{}, ctx.Err()
		}
		none.Why = append(none.Why, fmt.Sprintf("%s: %v", kind, err))
	}
	return Box{}, none
}

func probe(ctx context.Context, kind Kind, path string) (Box, error) {
	if !mainCalled.Load() {
		return Box{}, errors.New("this program does not call sandbox.Main first")
	}
	program, err := os.Executable()
	if err != nil {
		return Box{}, err
	}
	b := Box{kind: kind, program: program, users: findUsers(), groups: findGroups()}
	if kind == Bubblewrap {
		if b.bwrap, err = findProgram("bwrap", path); err != nil {
			return Box{}, err
		}
	}
	hello := Job{Argv: []string{self, "hello"}, Limits: Limits{Time: probeTime}, program: self}
	r, err := b.Run(ctx, hello)
	if err != nil && b.groups != "" {
		b.groups = "" // this program may not create groups there, or not start processes in them
		r, err = b.Run(ctx, hello)
	}
	if err != nil {
		return Box{}, err
	}
	if out := r.Stdout.String(); r.Status != OK || out != probeOutput {
		return Box{}, fmt.Errorf("the test command ended with %s, %d: %q %q", r.Status, r.Exit, out, r.Stderr)
	}
	return b, nil
}

func findProgram(name, path string) (string, error) {
	if path == "" {
		path = "/usr/local/bin:/usr/bin:/bin"
	}
	for dir := range strings.SplitSeq(path, ":") {
		if !strings.HasPrefix(dir, "/") {
			continue // never the working directory, which may be untrusted
		}
		if found, err := exec.LookPath(dir + "/" + name); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
}
