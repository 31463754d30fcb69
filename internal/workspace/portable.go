package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"

	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/portable"
)

// ExportMemory writes the memory so that another database can import it, and returns the number of rows.
func (r *Env) ExportMemory(ctx context.Context, w *Workspace, to io.Writer) (int, error) {
	n, left, err := portable.Export(ctx, w.Memory, to)
	if err == nil && left > 0 {
		r.Notice(ctx, "%d rows were left out, because they do not meet the limits of an export", left)
	}
	return n, err
}

// ImportMemory merges an export into the memory. If lines are refused, nothing is imported,
// unless skip is set.
func (r *Env) ImportMemory(ctx context.Context, w *Workspace, from io.Reader, skip bool) (portable.Import, error) {
	if err := r.KeepMemory(ctx, w); err != nil {
		return portable.Import{}, err
	}
	return portable.Read(ctx, w.Memory, from, skip)
}

// SyncOptions say how to exchange a memory with a remote.
type SyncOptions struct {
	Remote string // its name; empty for upstream, else origin, else the only one
	Ref    string
	// ReadOnly pushes nothing.
	ReadOnly bool
	// Existing makes no ref where there is none: the team does not share its memory.
	Existing bool
	// Connect opens the forge, whose token is used if the remote is on it.
	Connect func() (Connection, error)
}

// SyncMemory exchanges the memory with the ref of a remote. Without a clone, the remote is the
// repository at its forge.
func (r *Env) SyncMemory(ctx context.Context, w *Workspace, o SyncOptions) (portable.Synced, error) {
	if err := r.KeepMemory(ctx, w); err != nil {
		return portable.Synced{}, err
	}
	s := portable.Sync{
		Git: w.Git, Memory: w.Memory, At: git.Shared{Ref: o.Ref}, ReadOnly: o.ReadOnly,
		Existing: o.Existing, Sleep: r.Sleep,
	}
	conn, connErr := o.Connect()
	var address string
	if w.Git == nil {
		m, err := r.Mirror(ctx, w.IDs[0])
		if err != nil {
			return portable.Synced{}, err
		}
		defer m.Close() //nolint:errcheck // what stays behind is a temporary folder
		s.Git, s.At.Address = m.Repo, "https://"+w.IDs[0].String()+".git"
		switch {
		case connErr != nil:
		case conn.Folder != "":
			s.At.Address = conn.Folder
		case conn.Host() == w.IDs[0].Host:
			s.At.Address = conn.Pages().Clone(w.IDs[0])
		}
		s.At.Remote, address = s.At.Address, s.At.Address
	} else {
		remote, err := remoteFor(w.Git, o.Remote)
		if err != nil {
			return portable.Synced{}, err
		}
		s.At.Remote, address = remote.Name, remote.URL
	}
	if u, err := url.Parse(address); err == nil && connErr == nil && conn.Folder == "" && u.Host != "" &&
		u.Host == conn.Host() {
		token, err := conn.Token(ctx, w.IDs[0])
		if err != nil {
			return portable.Synced{}, conn.Explain(err)
		}
		s.At.Token = token
	}
	return s.Run(ctx)
}

// remoteFor returns the remote with the name, or the one that the memory is named for.
func remoteFor(repo *git.Repo, name string) (git.Remote, error) {
	remotes := repo.Remotes()
	names := []string{name}
	if name == "" {
		if names = []string{"upstream", "origin"}; len(remotes) == 1 {
			names = append(names, remotes[0].Name)
		}
	}
	for _, n := range names {
		if i := slices.IndexFunc(remotes, func(x git.Remote) bool { return x.Name == n }); i >= 0 {
			return remotes[i], nil
		}
	}
	if name != "" {
		return git.Remote{}, Hinted(fmt.Errorf("there is no remote %q", name), "git remote -v lists them")
	}
	return git.Remote{}, Hinted(errors.New("the repository has no remote to exchange the memory with"),
		"name one with --remote")
}
