package portable

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/backoff"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/strict"
)

// Limits of a ref. Its fetch has one of its own.
const (
	versionFile  = "version.json"
	maxRefFiles  = 32
	maxRefBytes  = 64 << 20 // of one file
	syncAttempts = 12
)

// pauses are between attempts. Half of a pause is random, so that runs that collide once do not collide again.
var pauses = backoff.Policy{First: 100 * time.Millisecond, Max: 5 * time.Second}

// Sync says how to exchange the memory with a remote.
type Sync struct {
	Git    *git.Repo
	Memory *memory.Memory
	At     git.Shared
	// ReadOnly imports what the remote has and pushes nothing.
	ReadOnly bool
	// Existing makes no ref where there is none.
	Existing bool
	Sleep    func(ctx context.Context, d time.Duration) error
}

// Synced is what an exchange did.
type Synced struct {
	Import
	Remote string `json:"remote"`
	Ref    string `json:"ref"`
	Pushed bool   `json:"pushed"` // the remote got something new
	Commit string `json:"commit"` // of the ref; empty if it does not exist
	Rows   int    `json:"rows"`   // that the ref has
	// Left counts rows of this memory that were not shared: they do not meet the limits of a
	// line, or are for all repositories of the owner.
	Left int `json:"left_out"`
}

// Run merges the memory with the ref and pushes the result, again if somebody else was faster,
// and then imports it. Whenever it ends, the memory and the ref each have all that they had.
// Lines of the ref that are refused are left out and counted.
func (s *Sync) Run(ctx context.Context) (done Synced, err error) {
	var merged Rows
	err = backoff.Do(ctx, backoff.Clock{Now: s.Memory.Now, Sleep: s.Sleep}, func() (err error) {
		done, merged, err = s.exchange(ctx)
		return err
	}, func(err error, failures int) (time.Duration, bool) {
		pause := pauses.Bound(failures)
		return pause/2 + rand.N(pause), errors.Is(err, git.ErrBehind) && failures < syncAttempts
	})
	if err == nil {
		done.Counts, err = save(ctx, s.Memory, merged)
	}
	return done, err
}

// exchange fetches, merges and pushes once.
func (s *Sync) exchange(ctx context.Context) (Synced, Rows, error) {
	done := Synced{Import: Import{Lines: []Refused{}}, Remote: s.At.Remote, Ref: s.At.Ref}
	now := s.Memory.Now()
	tip, err := s.Git.FetchShared(ctx, s.At)
	if err != nil {
		return done, nil, err
	}
	done.Commit = tip
	if s.Existing && tip == "" {
		return done, Rows{}, nil
	}
	theirs, files, err := s.read(ctx, tip, now, &done.Import)
	if err != nil {
		return done, nil, err
	}
	if s.ReadOnly {
		done.Rows = len(theirs)
		return done, theirs, nil
	}
	shared, err := s.Memory.Rows.Shared(ctx)
	if err != nil {
		return done, nil, err
	}
	ours, left := reader{now}.fromStore(shared)
	done.Left = left + ours.dropOwners()
	merged := Merge(ours, theirs).current(now)
	merged.dropLooseHistory()
	if err := merged.checkSize(); err != nil {
		return done, nil, err
	}
	done.Rows = len(merged)
	written := merged.files()
	if slices.EqualFunc(written, files, func(a, b git.SharedFile) bool {
		return a.Name == b.Name &&
			bytes.Equal(a.Data, b.Data)
	}) || tip == "" && len(merged) == 0 {
		return done, merged, nil
	}
	next, err := s.Git.CommitShared(ctx, tip, fmt.Sprintf("Share the memory: %d rows", len(merged)), now, written)
	if err != nil {
		return done, nil, err
	}
	if err := s.Git.PushShared(ctx, s.At, tip, next); err != nil {
		return done, nil, err
	}
	done.Commit, done.Pushed = next, true
	return done, merged, nil
}

// dropOwners removes learnings for all repositories of an owner, which stay where they were
// made, and returns their number.
func (s Rows) dropOwners() int {
	before := len(s)
	maps.DeleteFunc(s, func(_ key, r row) bool {
		l, ok := r.value.(precedent.Learning)
		return ok && l.Scope == precedent.OwnerScope
	})
	dropped := before - len(s)
	s.dropLooseHistory()
	return dropped
}

// checkSize refuses more rows than a reader takes.
func (s Rows) checkSize() error {
	for _, kind := range kinds {
		if kind != historyKind && len(s.sorted(kind)) > maxRows {
			return &Error{Msg: fmt.Sprintf("the memory has more than %d rows of the kind %s to share", maxRows, kind)}
		}
	}
	return nil
}

// files are those of a commit, sorted by name: one for each kind that has rows, and one for the
// version.
func (s Rows) files() []git.SharedFile {
	var files []git.SharedFile
	for _, kind := range kinds {
		if lines := encode(s.sorted(kind)); len(lines) > 0 {
			files = append(files, git.SharedFile{Name: kind + ".jsonl", Data: lines})
		}
	}
	files = append(files, git.SharedFile{
		Name: versionFile,
		Data: fmt.Appendf(nil, "{\"precedent_memory\":%d}\n", version),
	})
	slices.SortFunc(files, func(a, b git.SharedFile) int { return strings.Compare(a.Name, b.Name) })
	return files
}

const foreignHint = "look at who wrote it; name another ref with --ref, or delete this one on the remote if it is not a memory"

// read reads the rows of a commit, and its files.
func (s *Sync) read(ctx context.Context, commit string, now time.Time, result *Import) (Rows, []git.SharedFile, error) {
	rows := Rows{}
	if commit == "" {
		return rows, nil, nil
	}
	foreign := func(format string, args ...any) error {
		return &Error{Msg: fmt.Sprintf("%s is not a memory: %s", s.At.Ref, fmt.Sprintf(format, args...)), Hint: foreignHint}
	}
	sizes, err := s.Git.SharedFiles(ctx, commit, maxRefFiles)
	if err != nil {
		return nil, nil, foreign("%s", describe(err))
	}
	blobs := s.Git.Blobs(ctx)
	var files []git.SharedFile
	if _, ok := sizes[versionFile]; !ok {
		return nil, nil, foreign("it has no %s", versionFile)
	}
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		kind, isRows := strings.CutSuffix(name, ".jsonl")
		if name != versionFile && (!isRows || !slices.Contains(kinds, kind)) {
			return nil, nil, foreign("it has the file %q", name)
		}
		if sizes[name] > maxRefBytes {
			return nil, nil, foreign("%s is larger than %d MiB", name, maxRefBytes>>20)
		}
		data, err := blobs.Read(commit, name, maxRefBytes)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, git.SharedFile{Name: name, Data: data})
		if name == versionFile {
			var h header
			if err := strict.Unmarshal(data, &h); err != nil || h.Version <= 0 {
				return nil, nil, foreign("its %s has no version", versionFile)
			}
			if h.Version != version {
				return nil, nil, otherVersion(h.Version)
			}
			continue
		}
		if err := rows.readFile(reader{now}, name, data, result); err != nil {
			return nil, nil, foreign("%v", err)
		}
	}
	rows.dropOwners()
	return Merge(rows, nil), files, nil
}

// readFile reads the lines of a file. Refused ones are counted.
func (s Rows) readFile(check reader, name string, data []byte, result *Import) error {
	in := bufio.NewReaderSize(bytes.NewReader(data), 64<<10)
	for n := 1; ; n++ {
		if n > maxRows*2 {
			return errFull
		}
		line, _, err := readLine(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = s.read(check, line)
		}
		if errors.Is(err, errFull) {
			return err
		}
		if err != nil {
			result.refuse(fmt.Sprintf("%s:%d", name, n), err)
		}
	}
}
