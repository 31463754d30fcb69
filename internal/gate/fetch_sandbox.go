package gate

import (
	"cmp"
	"context"
	_ "embed" // the bridges
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/precedent-dev/precedent/internal/sandbox"
	"github.com/precedent-dev/precedent/internal/text"
)

// Package managers run in a sandbox. It has no network, but a socket on which this program serves what
// the lock file lists, or what an index has: so that a package manager reaches nothing else (T20), and
// runs nothing on the host (T1), whatever a manifest, a lock file or a package says.
const (
	registryAt     = "/registry"             // the folder of the socket in the sandbox
	registryIs     = "http://127.0.0.1:4873" // what package managers are told
	sandboxScratch = 2 << 30                 // bytes, for the archives and again for what they hold
)

// The bridges pass connections from registryIs to the socket, and run a command meanwhile.
var (
	//go:embed bridge/bridge.js
	bridgeJS string
	//go:embed bridge/bridge.py
	bridgePy string
)

// managerRun says how a package manager unpacks the dependencies of a project.
type managerRun struct {
	files   map[string][]byte // all that it sees of the tree, by path
	program string            // node or python3, which runs the bridge
	script  string            // for a shell; it writes an archive of the result to standard output
	env     []string
	serve   func(*fetcher) http.Handler
}

// runManager runs a package manager in a sandbox and unpacks what it makes into a folder.
func (s *session) runManager(ctx context.Context, to string, r managerRun) error {
	ctx, f, done, err := s.fetching(ctx)
	if err != nil {
		return err
	}
	defer done()
	tree, door := filepath.Join(f.dir, "tree"), filepath.Join(f.dir, "registry")
	bridge := map[string]string{"node": "bridge.js", "python3": "bridge.py"}[r.program]
	err = errors.Join(
		writeFiles(tree, r.files),
		writeFiles(door, map[string][]byte{"bridge.js": []byte(bridgeJS), "bridge.py": []byte(bridgePy)}),
		os.Chmod(f.dir, 0o711)) //nolint:gosec // the sandbox may have a user of its own
	if err != nil {
		return err
	}
	stop, err := serveAt(ctx, filepath.Join(door, "socket"), r.serve(f))
	if err != nil {
		return err
	}
	defer stop()
	job := sandbox.Job{
		Tree: tree, Writable: true, Env: append(s.plainEnv(), r.env...),
		Argv:   []string{r.program, registryAt + "/" + bridge, "sh", "-c", "set -e\n" + s.managerLinks() + r.script},
		Mounts: append(s.toolMounts(), sandbox.Mount{Source: door, Target: registryAt}),
		Limits: sandbox.Limits{
			Time: fetchTime, Scratch: sandboxScratch, Written: mostSeed, Output: mostOutput,
			Memory: s.Limits.Sandbox.Memory, Processes: s.Limits.Sandbox.Processes,
		},
	}
	res, err := s.runInto(ctx, job, func(in io.Reader) error { return unpackTree(in, to) })
	switch {
	case err != nil || res.Status == sandbox.OK:
		return err
	case f.silent.Load(): // to the manager, it has no such package
		return errRegistry
	}
	return errors.New(cmp.Or(lastWords(res), string(res.Status)))
}

// runInto runs a job whose standard output is read while it runs. If the job failed, the error of
// reading is of no account.
func (s *session) runInto(ctx context.Context, job sandbox.Job, read func(io.Reader) error) (sandbox.Result, error) {
	in, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := read(in)
		_, _ = io.Copy(io.Discard, in)
		done <- err
	}()
	job.Stdout = out
	res, err := s.exec(ctx, job)
	_ = out.Close()
	if failed := <-done; err == nil && res.Status == sandbox.OK {
		err = failed
	}
	return res, err
}

// lastWords is the line of a program's errors that most likely says why it failed. It is hostile text.
func lastWords(res sandbox.Result) string {
	last := ""
	for line := range strings.Lines(readable(res.Stderr)) {
		line = text.Collapse(line)
		if strings.Contains(strings.ToLower(line), "err") {
			return text.Cut(line, 160)
		}
		last = cmp.Or(line, last)
	}
	return text.Cut(last, 160)
}

// writeFiles writes files into a new folder, for every user to read. Their paths must be local.
func writeFiles(dir string, files map[string][]byte) error {
	if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // the sandbox may have a user of its own
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, data := range files {
		name = filepath.FromSlash(name)
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("write %.60q: %w", name, err)
		}
		if err := root.WriteFile(name, data, 0o644); err != nil {
			return fmt.Errorf("write %.60q: %w", name, err)
		}
	}
	return nil
}

// serveAt answers requests on a socket until stop is called.
func serveAt(ctx context.Context, socket string, handler http.Handler) (stop func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", socket)
	if err != nil {
		return nil, errors.New(
			"no socket for the sandbox: the path of the temporary folder is too long, or it is not writable",
		)
	}
	if err := os.Chmod(socket, 0o666); err != nil { //nolint:gosec // the sandbox may have a user of its own
		_ = listener.Close()
		return nil, err
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	done := make(chan struct{})
	go func() {
		_ = server.Serve(listener)
		close(done)
	}()
	return func() {
		_ = server.Close()
		<-done
	}, nil
}
