package git

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxMirrors is the number of mirrors that a folder keeps: the most recently used ones.
const maxMirrors = 30

// maxPacks is the number of packs above which a mirror is repacked: the limit of git's own gc.
const maxPacks = 50

// Mirror is a bare repository for pull requests of repositories without a local
// clone. Processes share it: fetches take turns, and a mirror in use is not removed.
type Mirror struct {
	*Repo
	dir   string
	using *lock
}

// OpenMirror opens the mirror with a name in a folder, and creates it if needed. The
// name is a plain file name. It removes all but the thirty most recently used
// mirrors. Close must be called. Errors are of type *Error.
func OpenMirror(ctx context.Context, folder, name string, o Options) (*Mirror, error) {
	const op = "open mirror"
	if !isPlain(name) || strings.ContainsAny(name, `/\`) {
		return nil, &Error{Op: op, Msg: "invalid name: " + printable(name)}
	}
	o = o.completed()
	program, err := locate(op, o.Exec)
	if err != nil {
		return nil, err
	}
	m := &Mirror{dir: filepath.Join(folder, name+".git")}
	if err = os.MkdirAll(folder, 0o700); err == nil {
		m.using, err = takeLock(ctx, m.dir+".use", false)
	}
	if err == nil {
		err = initMirror(m.dir)
	}
	if err != nil {
		m.using.release()
		return nil, &Error{Op: op, Msg: printable(err.Error()), Err: err, Hint: "set XDG_CACHE_HOME to a writable folder"}
	}
	// Do not search for the repository: the folder may be in a work tree.
	if m.Repo, err = open(ctx, program, o, place{gitDir: m.dir, commonDir: m.dir}); err != nil {
		m.using.release()
		return nil, err
	}
	pruneMirrors(ctx, folder)
	return m, nil
}

// initMirror creates an empty repository, or rewrites HEAD and config of an existing
// one: nothing else in it configures git.
func initMirror(dir string) error {
	for _, name := range []string{"refs", filepath.Join("objects", "pack")} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"HEAD":   "ref: refs/heads/none\n",
		"config": "[core]\n\tbare = true\n\trepositoryformatversion = 0\n",
	} {
		if err := replaceFile(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	now := time.Now()
	return os.Chtimes(dir, now, now)
}

// FetchPull is like Repo.FetchPull, but keeps what it fetches in the mirror.
func (m *Mirror) FetchPull(ctx context.Context, p Pull) (Range, error) {
	p, err := p.completed(m.hash)
	if err != nil {
		return Range{}, err
	}
	turn, err := takeLock(ctx, m.dir+".fetch", true)
	if err != nil {
		return Range{}, &Error{Op: opFetch, Msg: "wait for another fetch: " + printable(err.Error()), Err: err}
	}
	defer turn.release()
	if err := removeLeftovers(m.dir); err != nil {
		return Range{}, asError(opFetch, err)
	}
	if err := m.fetch(ctx, p, real, filepath.Join(m.dir, "objects")); err != nil {
		return Range{}, err
	}
	m.repack(ctx)
	return m.resolvePull(ctx, p, real)
}

// repack makes one pack of many: each fetch adds one, and git searches all of them. Concurrent readers find
// everything in the new pack, including unreachable objects. Errors are ignored: many packs are only slow.
func (m *Mirror) repack(ctx context.Context) {
	packs, err := filepath.Glob(filepath.Join(m.dir, "objects", "pack", "*.pack"))
	if err != nil || len(packs) <= maxPacks {
		return
	}
	_, _ = m.run(ctx, call{ // git cannot write a bitmap for unreachable objects
		op: "tidy mirror", view: real, set: []string{"pack.compression=-1", "core.fsync=committed"},
		args: []string{"repack", "-a", "-d", "--keep-unreachable", "--no-write-bitmap-index", "--quiet"},
	}, configBytes)
}

// Close ends running git processes and releases the mirror.
func (m *Mirror) Close() error {
	err := m.Repo.Close()
	m.using.release()
	return err
}

// pruneMirrors removes the least recently used mirrors that are not in use. A mirror
// that cannot be removed only takes space.
func pruneMirrors(ctx context.Context, folder string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	type mirror struct {
		dir  string
		used time.Time
	}
	var all []mirror
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.IsDir() && strings.HasSuffix(e.Name(), ".git") {
			all = append(all, mirror{filepath.Join(folder, e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b mirror) int {
		return cmp.Or(b.used.Compare(a.used), strings.Compare(a.dir, b.dir))
	})
	for _, old := range all[min(len(all), maxMirrors):] {
		if ctx.Err() != nil {
			return
		}
		l, err := tryLock(old.dir+".use", true)
		if err != nil || l == nil {
			continue
		}
		if err := os.RemoveAll(old.dir); err == nil {
			_ = os.Remove(old.dir + ".fetch") // a fetch implies use
			_ = os.Remove(old.dir + ".use")   // waiting processes notice that it was removed
		}
		l.release()
	}
}

// lock is a file that one process holds exclusively, or several share.
type lock struct{ file *os.File }

// takeLock waits for a lock.
func takeLock(ctx context.Context, name string, alone bool) (*lock, error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		l, err := tryLock(name, alone)
		if l != nil || err != nil {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}

// tryLock returns nil if another process holds the lock.
func tryLock(name string, alone bool) (*lock, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	held, err := holdFile(f, alone)
	if err == nil && held {
		// The file may have been removed before it was locked.
		mine, mineErr := f.Stat()
		there, thereErr := os.Lstat(name)
		held = mineErr == nil && thereErr == nil && os.SameFile(mine, there)
		if errors.Join(mineErr, thereErr) != nil && !errors.Is(thereErr, fs.ErrNotExist) {
			err = errors.Join(mineErr, thereErr)
		}
	}
	if err != nil || !held {
		f.Close()
		return nil, err
	}
	return &lock{f}, nil
}

func (l *lock) release() {
	if l != nil {
		l.file.Close()
	}
}
