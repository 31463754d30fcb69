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

// mostMirrors is how many mirrors a folder keeps: those that were used last.
const mostMirrors = 30

// mostPacks is how many packs a mirror may have before they become one: as many
// as git's own gc allows.
const mostPacks = 50

// Mirror is a bare repository of our own, for pull requests of repositories
// that nobody has cloned here. Processes share it: fetches take turns, and none
// removes what another one reads.
type Mirror struct {
	*Repo
	dir    string
	folder string
	using  *lock
}

// OpenMirror opens the mirror of that name in a folder and makes what is
// missing; a name is a plain file's. It removes the mirrors beyond the thirty
// that were used last. Close must be called. Errors are of type *Error.
func OpenMirror(ctx context.Context, folder, name string, o Options) (*Mirror, error) {
	const op = "open mirror"
	if !isPlain(name) || strings.ContainsAny(name, `/\`) {
		return nil, &Error{Op: op, Msg: "not a name: " + printable(name)}
	}
	o = o.completed()
	program, err := locate(op, o.Exec)
	if err != nil {
		return nil, err
	}
	m := &Mirror{dir: filepath.Join(folder, name+".git"), folder: folder}
	if err = os.MkdirAll(folder, 0o700); err == nil {
		m.using, err = takeLock(ctx, m.dir+".use", false)
	}
	if err == nil {
		err = initMirror(m.dir)
	}
	var shadow string
	if err == nil {
		shadow, err = os.MkdirTemp(o.TempDir, "precedent-git-")
	}
	if err != nil {
		m.using.release()
		return nil, &Error{Op: op, Msg: printable(err.Error()), Err: err, Hint: "set XDG_CACHE_HOME to a folder that can be written to"}
	}
	// The place is known, so it is not looked for: the folder may lie in a work tree.
	m.Repo = &Repo{exec: program, options: o, shadow: shadow, place: place{gitDir: m.dir, commonDir: m.dir}, open: map[*Blobs]struct{}{}}
	if err := m.prepare(ctx); err != nil {
		m.Close()
		return nil, err
	}
	pruneMirrors(ctx, folder)
	return m, nil
}

// initMirror makes an empty repository, or renews the two files of one that
// say what it is: nothing else in it is configuration.
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
		// Others may be reading: the file changes at once or not at all.
		f, err := os.CreateTemp(dir, "new-")
		if err != nil {
			return err
		}
		_, err = f.WriteString(text)
		if err = errors.Join(err, f.Close()); err == nil {
			err = os.Rename(f.Name(), filepath.Join(dir, name))
		}
		if err != nil {
			return errors.Join(err, os.Remove(f.Name()))
		}
	}
	now := time.Now()
	return os.Chtimes(dir, now, now)
}

// FetchPull is Repo's, but what is fetched stays in the mirror.
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
	if err := sweep(m.dir); err != nil {
		return Range{}, asError(opFetch, err)
	}
	if err := m.fetch(ctx, p, real, filepath.Join(m.dir, "objects")); err != nil {
		return Range{}, err
	}
	m.tidy(ctx)
	return m.pulled(ctx, p, real)
}

// tidy makes one pack of many: each fetch adds one, and git looks through all of
// them. Whoever reads meanwhile finds everything in the new one, what no ref
// reaches any more included. Trouble is passed over: many packs are only slow.
func (m *Mirror) tidy(ctx context.Context) {
	packs, err := filepath.Glob(filepath.Join(m.dir, "objects", "pack", "*.pack"))
	if err != nil || len(packs) <= mostPacks {
		return
	}
	_, _ = m.run(ctx, call{ // without a bitmap, which git would not write of what no ref reaches
		op: "tidy mirror", view: real, set: [][2]string{{"pack.compression", "-1"}, {"core.fsync", "committed"}},
		args: []string{"repack", "-a", "-d", "--keep-unreachable", "--no-write-bitmap-index", "--quiet"},
	}, configBytes)
}

// Close ends what git still runs, and gives the mirror free.
func (m *Mirror) Close() error {
	err := m.Repo.Close()
	m.using.release()
	return err
}

// pruneMirrors removes the mirrors that were used longest ago and that nobody
// uses now. What cannot be removed stays: it only takes space.
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
	for _, old := range all[min(len(all), mostMirrors):] {
		if ctx.Err() != nil {
			return
		}
		l, err := tryLock(old.dir+".use", true)
		if err != nil || l == nil {
			continue
		}
		if err := os.RemoveAll(old.dir); err == nil {
			_ = os.Remove(old.dir + ".fetch") // nobody fetches without using
			_ = os.Remove(old.dir + ".use")   // those who wait for it see that it is gone
		}
		l.release()
	}
}

// lock is a file that one process holds alone, or some together.
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

// tryLock returns nil if others hold the lock.
func tryLock(name string, alone bool) (*lock, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	held, err := holdFile(f, alone)
	if err == nil && held {
		// The file may have been removed before it was held.
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

// release gives a lock back; closing the file does it.
func (l *lock) release() {
	if l != nil {
		l.file.Close()
	}
}
