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

// Jobs is the work of a server, for commands that list and change it.
type Jobs = queue.Queue

// QueuedJob is an entry of that work.
type QueuedJob = queue.Job

// JobFilter selects entries.
type JobFilter = queue.Filter

// JobState is what an entry is doing.
type JobState = queue.State

// JobKind is what an entry does.
type JobKind = queue.Kind

// The states of jobs: dead letters, and those that run, wait for their time or wait for a worker.
const (
	DeadJob    = queue.Dead
	RunningJob = queue.Running
	WaitingJob = queue.Waiting
	ReadyJob   = queue.Ready
)

// JobStates and JobKinds are all states and kinds.
var (
	JobStates = queue.States
	JobKinds  = queue.Kinds
)

// ErrNoJob means that there is no entry with an id.
var ErrNoJob = queue.ErrUnknown

// OpenJobs opens the jobs of the database of a server. The caller ends it with Stop.
func (r *Env) OpenJobs(ctx context.Context, db *Database) (*Jobs, error) {
	return queue.Open(ctx, db, queue.Options{Now: r.Now, Log: r.Log})
}

// PullSeen is an open pull request as a server last saw it.
type PullSeen = store.WatchedPull

// Watched returns how the open pull requests of a repository were last seen, by number.
func (r *Env) Watched(ctx context.Context, repo precedent.Repo) (map[int]PullSeen, error) {
	rows, err := r.Shared.RepoFor(ctx, repo)
	if err != nil {
		return nil, err
	}
	return rows.WatchedPulls(ctx)
}

// SaveWatched saves how pull requests were seen, and forgets those that are gone.
func (r *Env) SaveWatched(ctx context.Context, repo precedent.Repo, seen []PullSeen, gone []int) error {
	rows, err := r.Shared.RepoFor(ctx, repo)
	if err != nil {
		return err
	}
	return rows.SaveWatched(ctx, seen, gone)
}

// FollowName makes the rows of a repository those of its present name. number is the forge's; empty
// if it is not known: then nothing changes.
func (r *Env) FollowName(ctx context.Context, from, to precedent.Repo, number precedent.ForgeID) error {
	if number == "" {
		return nil
	}
	return r.Shared.Follow(ctx, precedent.NumberedRepo(to.Host, number), to, from)
}

// RoundEnded saves that the last round of a head ended well, so that no sweep repeats it.
func (r *Env) RoundEnded(ctx context.Context, repo precedent.Repo, pull int, head string) error {
	rows, err := r.Shared.RepoFor(ctx, repo)
	if err != nil {
		return err
	}
	return rows.SetWatchedDone(ctx, pull, head)
}

// AskedReview tells whether comments ask for a review that no round has made.
func (r *Env) AskedReview(ctx context.Context, repo precedent.Repo, pull int) (bool, error) {
	rows, err := r.Shared.RepoFor(ctx, repo)
	if err != nil {
		return false, err
	}
	asked, err := rows.PullAsked(ctx, pull)
	return asked != store.NotAsked, err
}

// SharedWorkspace opens the memory of a repository in the shared database, without a clone.
func (r *Env) SharedWorkspace(ctx context.Context, repo precedent.Repo) (*Workspace, error) {
	if _, err := r.Shared.RepoFor(ctx, repo); err != nil {
		return nil, err
	}
	return r.workspace(&Repository{IDs: []precedent.Repo{repo}}, r.Shared.Borrow()), nil
}

// ApplyComments brings the corpus of a repository up to date with what an event tells about comments.
func (r *Env) ApplyComments(ctx context.Context, conn Connection, e forge.Event) error {
	w, err := r.SharedWorkspace(ctx, e.Repo)
	if err != nil {
		return err
	}
	defer w.Close()
	c, err := r.CorpusOf(ctx, w)
	if err != nil {
		return err
	}
	c.Me = OwnAccount(ctx, conn)
	_, err = c.Apply(ctx, conn.Forge, e.Repo, e.Comments)
	return conn.Explain(err)
}
