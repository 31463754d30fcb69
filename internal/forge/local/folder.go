package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/strict"
)

// maxFile bounds a file, in bytes.
const maxFile = 32 << 20

// person is an account in a file.
type person struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
	Bot   bool   `json:"bot,omitempty"`
}

// person converts an account. Without an id it is named ghost, as on other forges.
func (p person) person() forge.Person {
	if p.ID <= 0 {
		return forge.Person{Login: "ghost"}
	}
	return forge.Person{ID: precedent.NumberID(p.ID), Login: p.Login, Bot: p.Bot}
}

func fileAccount(p forge.Person) person { return person{ID: p.ID.Number(), Login: p.Login, Bot: p.Bot} }

// repository is repo.json.
type repository struct {
	Host  string `json:"host,omitempty"`
	Owner string `json:"owner"`
	Name  string `json:"name"`
	Git   string `json:"git,omitempty"` // made absolute; empty if there is none
	// Archived disables comments.
	Archived bool `json:"archived,omitempty"`
	// Protected are the branches that Pushable refuses, beside the default one.
	Protected []string `json:"protected,omitempty"`
	Me        person   `json:"me"`
	Members   []member `json:"members"`
}

type member struct {
	person
	Permission forge.Permission `json:"permission"`
}

func (r repository) id() precedent.Repo {
	return precedent.Repo{Host: r.Host, Owner: r.Owner, Name: r.Name}
}

// repository reads repo.json.
func (f *Forge) repository() (repository, error) {
	var r repository
	if err := f.read("repo.json", &r); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return r, &forge.Error{Kind: forge.KindNotFound, Msg: "no repo.json in " + f.dir, Hint: "see docs/github.md for the files of a local forge"}
		}
		return r, err
	}
	if r.Host == "" {
		r.Host = DefaultHost
	}
	if id, err := precedent.ParseRepo(r.id().String()); err != nil || id != r.id() || id.IsLocal() || !isName(r.Owner) || !isName(r.Name) {
		return r, invalidFile("repo.json: host, owner and name do not identify a repository")
	}
	if r.Git != "" && !filepath.IsAbs(r.Git) {
		r.Git = filepath.Join(f.dir, filepath.FromSlash(r.Git))
	}
	return r, nil
}

// invalidFile is the error of a malformed file.
func invalidFile(format string, args ...any) error {
	return &forge.Error{Kind: forge.KindAnswer, Msg: fmt.Sprintf(format, args...)}
}

// read parses a file below the folder into v. Links out of the folder are not
// followed, and only regular files are opened: opening a pipe would block.
func (f *Forge) read(name string, v any) error {
	top, err := os.OpenRoot(f.dir)
	if err != nil {
		return err
	}
	defer top.Close()
	info, err := top.Stat(name)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return invalidFile("%s is not a regular file", name)
	}
	file, err := top.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	switch {
	case err != nil:
		return err
	case len(data) > maxFile:
		return &forge.Error{Kind: forge.KindTooLarge, Msg: name + " is larger than 32 MiB"}
	}
	if err := strict.UnmarshalKnown(data, v); err != nil { // a misspelled field should not pass for what was meant
		return invalidFile("%s: %v", name, err)
	}
	return nil
}

// changed returns when a file was last written.
func (f *Forge) changed(name string) (time.Time, error) {
	info, err := os.Stat(filepath.Join(f.dir, filepath.FromSlash(name)))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime().UTC(), nil
}

// updateFile reads a file, calls do to change it, and writes it, under a lock. A
// missing file is empty. If do fails, nothing is written.
func updateFile[T any](ctx context.Context, f *Forge, name string, do func(*T) error) error {
	release, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	var v T
	if err := f.read(name, &v); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := do(&v); err != nil {
		return err
	}
	var data bytes.Buffer
	e := json.NewEncoder(&data)
	e.SetEscapeHTML(false) // people read it
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	if data.Len() > maxFile {
		return &forge.Error{Kind: forge.KindTooLarge, Msg: name + " would be larger than 32 MiB"}
	}
	return f.write(name, data.Bytes())
}

// write replaces a file atomically. The temporary file always has the same name, so
// that interrupted processes leave at most one.
func (f *Forge) write(name string, data []byte) error {
	top, err := os.OpenRoot(f.dir)
	if err != nil {
		return err
	}
	defer top.Close()
	dir, fresh := path.Dir(name), name+".new"
	if err := top.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := top.Remove(fresh); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	file, err := top.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = top.Rename(fresh, name)
	}
	if err != nil {
		return err
	}
	if err := syncFolder(top, dir); err != nil {
		return &forge.Error{Kind: forge.KindServer, Msg: err.Error(), Unsure: true}
	}
	return nil
}

// lockEvery is the interval between attempts to get the lock, which is held for as
// long as it takes to write a file.
const lockEvery = 5 * time.Millisecond

// lock waits for the lock for writing.
func (f *Forge) lock(ctx context.Context) (release func(), err error) {
	f.writeLock.Lock()
	file, err := os.OpenFile(filepath.Join(f.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o644) //nolint:gosec // a file of the folder, like all its others
	if err != nil {
		f.writeLock.Unlock()
		return nil, err
	}
	release = func() {
		file.Close() // gives it free
		f.writeLock.Unlock()
	}
	tick := time.NewTicker(lockEvery)
	defer tick.Stop()
	for {
		held, err := holdFile(file)
		if held {
			return release, nil
		}
		if err != nil {
			release()
			return nil, fmt.Errorf("lock %s: %w", file.Name(), err)
		}
		select {
		case <-ctx.Done():
			release()
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}
