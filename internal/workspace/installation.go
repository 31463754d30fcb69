package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/store"
)

// Database is an open database, for commands.
type Database = store.DB

// NewestSchema is the version of the newest schema of a memory that this program knows.
func NewestSchema() (int64, error) { return store.NewestSchema() }

// InstallationFile is the database of a server in its data folder.
const InstallationFile = "server.db"

// OpenInstallation opens the database that all repositories of a server share: the one of a
// PostgreSQL URL or, if that is empty, a file in the data folder.
func (r *Env) OpenInstallation(ctx context.Context, url string) (*Database, error) {
	return r.openInstallation(ctx, url, store.Options{Now: r.Now})
}

func (r *Env) openInstallation(ctx context.Context, url string, o store.Options) (*Database, error) {
	if url != "" {
		return store.OpenURL(ctx, url, o)
	}
	if r.DataDir == "" {
		return nil, Hinted(errors.New("there is no folder for the database of the server"),
			"set HOME, XDG_DATA_HOME or DATABASE_URL")
	}
	return store.Open(ctx, filepath.Join(r.DataDir, InstallationFile), o)
}

// OldInstallation is OpenInstallation for one that must exist.
func (r *Env) OldInstallation(ctx context.Context, url string) (*Database, error) {
	if !r.hasInstallation(url) {
		return nil, Hinted(errors.New("there is no database of a server at "+filepath.Join(r.DataDir, InstallationFile)),
			"precedent serve creates it; for one on PostgreSQL set DATABASE_URL")
	}
	return r.OpenInstallation(ctx, url)
}

func (r *Env) hasInstallation(url string) bool {
	if url != "" {
		return true
	}
	_, err := os.Lstat(filepath.Join(r.DataDir, InstallationFile))
	return r.DataDir != "" && !errors.Is(err, fs.ErrNotExist)
}

// UntouchedInstallation is OldInstallation for one that is only looked at: its schema is not
// upgraded. It returns nil if there is none.
func (r *Env) UntouchedInstallation(ctx context.Context, url string) (*Database, error) {
	if !r.hasInstallation(url) {
		return nil, nil
	}
	return r.openInstallation(ctx, url, store.Options{Now: r.Now, Untouched: true})
}

// InstallationStatus describes the database of a server.
type InstallationStatus struct {
	Path         string             `json:"path"` // of its file, or its URL without password
	Engine       store.Engine       `json:"engine"`
	Bytes        int64              `json:"bytes"`
	Repositories []RepositoryStatus `json:"repositories"`
}

// RepositoryStatus describes the rows of a repository.
type RepositoryStatus struct {
	Names []precedent.Repo `json:"names"`
	store.Counts
}

// StatusOfInstallation counts what is in the database of a server, the oldest repository first.
func (r *Env) StatusOfInstallation(ctx context.Context, db *Database) (InstallationStatus, error) {
	s := InstallationStatus{Path: db.Path(), Engine: db.Engine(), Repositories: []RepositoryStatus{}}
	var err error
	if s.Bytes, err = db.Size(ctx); err != nil {
		return s, err
	}
	all, err := db.Repos(ctx)
	for _, repo := range all {
		var one RepositoryStatus
		if one.Names, err = repo.Names(ctx); err == nil {
			one.Counts, err = repo.Count(ctx)
		}
		if err != nil {
			return s, err
		}
		s.Repositories = append(s.Repositories, one)
	}
	return s, err
}

// PruneInstallation deletes old findings of all repositories, as memory.Prune does for one, and
// returns what was deleted. A repository that fails does not stop the others.
func (r *Env) PruneInstallation(ctx context.Context, db *Database) (store.Counts, error) {
	now := r.Now()
	return db.PruneAll(ctx, now.Add(-memory.KeepFor), memory.KeepPerFile, now)
}

// OpenJobs opens the jobs of the database of a server. The caller ends it with Stop.
func (r *Env) OpenJobs(ctx context.Context, db *Database) (*queue.Queue, error) {
	return queue.Open(ctx, db, queue.Options{Now: r.Now, Log: r.Log})
}

// SharedWorkspace opens the memory of a repository in the shared database, without a clone.
func (r *Env) SharedWorkspace(ctx context.Context, repo precedent.Repo) (*Workspace, error) {
	return r.workspace(ctx, &Repository{IDs: []precedent.Repo{repo}}, r.Shared.Borrow())
}

// ApplyComments brings the corpus of a repository up to date with what an event tells about comments.
func (r *Env) ApplyComments(ctx context.Context, conn Connection, e forge.Event) error {
	w, err := r.SharedWorkspace(ctx, e.Repo)
	if err != nil {
		return err
	}
	defer w.Close()
	c := r.CorpusOf(w)
	c.Me = OwnAccount(ctx, conn)
	_, err = c.Apply(ctx, conn.Forge, e.Repo, e.Comments)
	return conn.Explain(err)
}
