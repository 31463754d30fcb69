package corpus

import (
	"context"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// SyncOptions are what a corpus is read from a forge with. Forge, Repo, Since and Sleep are
// required.
type SyncOptions struct {
	Forge forge.Forge
	Repo  precedent.Repo // by its name on the forge
	// Since is how far back the first run reads. Later runs read what changed since the one
	// before, whatever it is, unless it is earlier than the beginning of the corpus.
	Since time.Time
	// Full lists everything again, and finds what was deleted. Without it, that is done if the
	// last complete listing is more than a week old.
	Full  bool
	Sleep func(ctx context.Context, d time.Duration) error
	// Progress is called after each page, and before a wait of more than a few seconds. It may
	// be nil.
	Progress func(SyncProgress)
}

// SyncProgress is how far a sync is.
type SyncProgress struct {
	Stream   forge.HistoryStream
	Pages    int // of all streams, in this run
	Comments int // read in this run
	// Through is until when everything of the stream is stored, Since where it began, and Until
	// where it ends. They are zero if the forge does not tell.
	Since, Through, Until time.Time
	Quota                 forge.Quota
	// Waiting is until when nothing is sent, because the forge asked for it or little of the
	// quota is left; zero if it is not waiting.
	Waiting time.Time
}

// SyncResult is what a sync did.
type SyncResult struct {
	Streams []SyncedStream `json:"streams"`
	Full    bool           `json:"full"`    // everything was listed, so that Deleted is known
	Deleted int            `json:"deleted"` // comments that no longer exist
	// Stopped says why the sync ended before it had read everything; empty if it did not.
	Stopped string `json:"stopped"`
}

// SyncedStream is what a sync did with one list.
type SyncedStream struct {
	Stream    forge.HistoryStream `json:"stream"`
	Pages     int                 `json:"pages"`
	Read      int                 `json:"read"` // comments
	New       int                 `json:"new"`
	Updated   int                 `json:"updated"`
	Unchanged int                 `json:"unchanged"`
	Skipped   map[string]int      `json:"skipped"` // comments that are not kept, by the reason
	Pulls     int                 `json:"pull_requests"`
	// Through is until when everything is stored.
	Through time.Time `json:"through"`
	// Stopped says why the list was not read to its end; empty if it was.
	Stopped string `json:"stopped"`
}
