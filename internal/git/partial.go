package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
)

type lazy struct {
	mu  sync.Mutex
	err error // why a fetch failed; there is no second one
}

// lazyBytes limits each fetch of missing files: 1 GiB, like an export.
const lazyBytes = 1 << 30

const opLazy = "fetch missing files"

// partial reports whether the clone may lack files that its remote has.
func (r *Repo) partial() bool { return r.promisor() != "" }

// promisor is the remote that promised to have what a partial clone lacks; empty for other clones.
func (r *Repo) promisor() string {
	name := r.config.repository("extensions.partialclone")
	r.config.sub("remote", "promisor", func(remote, value string) {
		if name == "" && isTruthy(value) {
			name = remote
		}
	})
	return name
}

// missingReason is why a file is not reviewed, and lostReason that in a clone which should have its content.
const (
	missingReason = "the content is not in this partial clone; to fetch it, run git diff on the range"
	lostReason    = "its content is missing in this clone, which is damaged: run git fsck"
)

// Lacks reports whether an error of Diff means that the clone lacks contents of files. Resolve leaves those out that a
// partial clone lacks. In others it is not looked for, because nothing should be missing.
func Lacks(err error) bool {
	var e *Error
	return errors.As(err, &e) && strings.Contains(e.Msg, "unable to read")
}

// LeaveOutMissing fetches the contents that a range needs and a partial clone lacks.
// Files whose contents cannot be had are listed as skipped, and Diff leaves them out.
// Other clones have nothing to fetch them from: see Lacks.
func (r *Repo) LeaveOutMissing(ctx context.Context, rg Range) (Range, error) {
	changes, err := r.changes(ctx, call{op: opRange, args: []string{
		"diff-tree", "-r", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=none",
		"--end-of-options", rg.Base, rg.Head,
	}})
	if err != nil {
		return rg, r.explainMissing(err, rg)
	}
	missing, err := r.missing(ctx, changes)
	if err != nil || len(missing) == 0 {
		return rg, err
	}
	if r.fetchMissing(ctx, missing) == nil {
		if missing, err = r.missing(ctx, changes); err != nil || len(missing) == 0 {
			return rg, err
		}
	}
	if err := ctx.Err(); err != nil {
		return rg, asError(opRange, err)
	}
	var paths []string
	why := missingReason
	if !r.partial() {
		why = lostReason
	}
	for _, c := range changes {
		if slices.ContainsFunc(
			c.blobs(), func(id string) bool { _, ok := slices.BinarySearch(missing, id); return ok },
		) {
			paths = append(paths, c.path)
			rg.Skipped = append(rg.Skipped[:len(rg.Skipped):len(rg.Skipped)], skipped(c.path, why))
		}
	}
	if rg.BaseTree, err = r.without(ctx, rg.Base, paths); err == nil {
		rg.HeadTree, err = r.without(ctx, rg.Head, paths)
	}
	return rg, err
}

// blobs are the ids of the contents of a changed file, before and after.
func (c change) blobs() []string {
	var ids []string
	for _, side := range [][2]string{{c.mode, c.id}, {c.newMode, c.newID}} {
		if side[1] != "" && side[0] != submoduleMode {
			ids = append(ids, side[1])
		}
	}
	return ids
}

// The modes of what is not a regular file.
const (
	linkMode      = "120000"
	submoduleMode = "160000"
)

// missing returns the ids of changed contents that the clone lacks, sorted.
func (r *Repo) missing(ctx context.Context, changes []change) ([]string, error) {
	var asked strings.Builder
	for _, c := range changes {
		for _, id := range c.blobs() {
			asked.WriteString(id + "\n")
		}
	}
	var missing []string
	err := r.stream(
		ctx,
		call{
			op: opRange, stdin: strings.NewReader(asked.String()),
			args: []string{"cat-file", "--batch-check", "--buffer"},
		},
		func(out io.Reader) error {
			lines := bufio.NewScanner(out)
			for lines.Scan() {
				if id, ok := strings.CutSuffix(lines.Text(), " missing"); ok {
					missing = append(missing, id)
				}
			}
			return lines.Err()
		},
	)
	slices.Sort(missing)
	return slices.Compact(missing), err
}

// without returns a tree like that of a revision without some of its files.
func (r *Repo) without(ctx context.Context, rev string, paths []string) (string, error) {
	if rev == r.hash.emptyTree() {
		return rev, nil
	}
	tree, err := r.treeOf(ctx, opRange, rev)
	if err != nil {
		return "", err
	}
	return r.build(ctx, head{}, func(w *builder) error {
		fmt.Fprintf(w.to, "M 040000 %s \"\"\n", tree)
		for _, path := range paths {
			w.remove(path)
		}
		return nil
	})
}

// explainMissing adds to an error what helps if the clone lacks trees.
func (r *Repo) explainMissing(err error, rg Range) error {
	if e, ok := errors.AsType[*Error](err); ok && r.partial() && Lacks(err) {
		e.Msg += " (the clone is partial and does not have it)"
		e.Hint = "fetch the missing files: git diff --stat " + rg.Base[:12] + " " + rg.Head[:12]
	}
	return err
}

// fetchMissing fetches objects by their ids into the shadow, from the remote that promised them. The address
// is the only thing that is taken from the repository's configuration. As with git, the user's own
// configuration and environment count: proxies, certificates, credential helpers and keys. Nothing can ask a
// person for a password. After a failure it does not try again.
func (r *Repo) fetchMissing(ctx context.Context, ids []string) error {
	r.lazy.mu.Lock()
	defer r.lazy.mu.Unlock()
	if r.lazy.err != nil {
		return r.lazy.err
	}
	from, err := r.promisedBy()
	if err == nil {
		c := call{
			op: opLazy, asUser: true, stdin: strings.NewReader(strings.Join(ids, "\n") + "\n"),
			set: userFetch, args: append(slices.Clone(fetchArgs), "--stdin", "--end-of-options", from),
		}
		said, cause, ended := r.fetchWithin(ctx, c, r.shadowObjects(), lazyBytes, r.options.Timeout)
		if ended != nil || cause != nil {
			err = failure(cause, opLazy, ended, said, r.options.Timeout)
		}
	}
	if ctx.Err() == nil {
		r.lazy.err = err
	}
	return err
}

// promisedBy returns the address that missing objects are fetched from.
func (r *Repo) promisedBy() (string, error) {
	if !r.options.Lazy {
		return "", &Error{Op: opLazy, Msg: "fetching is not allowed", Err: ErrMissing}
	}
	address, err := r.remoteAddress(r.promisor())
	if err != nil {
		return "", &Error{Op: opLazy, Msg: err.Error(), Err: ErrMissing}
	}
	return address, nil
}

// lazySchemes are the transports of addresses; "host:path" is ssh.
var lazySchemes = []string{"https", "http", "ssh", "file"}

// userEnvironment is what git gets to fetch as the user: nothing that can ask.
func (r *Repo) userEnvironment() []string {
	env := []string{
		"GIT_ALLOW_PROTOCOL=" + strings.Join(lazySchemes, ":"), "GIT_CONFIG_NOSYSTEM=0",
		"GIT_SSH_COMMAND=ssh -o BatchMode=yes", "GIT_SSH_VARIANT=ssh", "GCM_INTERACTIVE=never",
	}
	if r.options.Home != "" {
		env = append(env, "HOME="+r.options.Home, "XDG_CONFIG_HOME="+r.configHome())
	} else {
		env = append(env, "GIT_CONFIG_GLOBAL="+os.DevNull)
	}
	return append(env, r.options.LazyEnv...)
}

// readMissing reads a file whose content was not found: from the remote, if it is in
// the tree and may be fetched.
func (b *Blobs) readMissing(rev, path string, max int64) ([]byte, error) {
	r := b.repo
	found, err := r.Lookup(b.ctx, rev, path)
	if err != nil {
		return nil, err
	}
	e := found[path]
	if e.Type != "blob" {
		return nil, ErrNotFound // the tree has no such file
	}
	if r.fetchMissing(b.ctx, []string{e.ID}) == nil {
		if data, err := b.read(e.ID, max); !errors.Is(err, ErrNotFound) {
			return data, err
		}
	}
	return nil, ErrMissing
}

// listWhole lists the files of a revision with their sizes. In a partial clone, it
// fetches those that are missing; the size of the others is unknownSize.
func (r *Repo) listWhole(ctx context.Context, rev string, most int) ([]Entry, error) {
	entries, err := r.list(ctx, rev, most, true)
	if err != nil || !r.partial() {
		return entries, err
	}
	var ids []string
	for _, e := range entries {
		if e.size == unknownSize {
			ids = append(ids, e.ID)
		}
	}
	if len(ids) == 0 || r.fetchMissing(ctx, ids) != nil {
		return entries, ctx.Err()
	}
	return r.list(ctx, rev, most, true)
}
