package corpus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
)

// SyncOptions are what a corpus is read from a forge with. Forge, Repo, Since and Sleep are
// required.
type SyncOptions struct {
	Forge forge.Forge
	Repo  precedent.Repo // by its name on the forge
	// Since is how far back the first run reads. Later runs read what changed since the one
	// before, unless Since is earlier than the beginning of the corpus.
	Since time.Time
	// Full lists everything again, and finds what was deleted. Without it, that is done if the
	// last complete listing is more than a week old.
	Full  bool
	Sleep func(ctx context.Context, d time.Duration) error
	// Progress is called after each page, and before a wait that the forge asked for. It may be
	// nil.
	Progress func(SyncProgress)
}

// SyncProgress is how far a sync is.
type SyncProgress struct {
	Stream   forge.HistoryStream
	Done     bool // the list was read to its end
	Pages    int  // of all lists, in this run
	Comments int  // read in this run
	// Everything of the list that was edited from Since to Through is stored. Through is zero if
	// that is not known. The list ends at Until.
	Since, Through, Until time.Time
	Quota                 forge.Quota
	// Waiting is until when nothing is sent, because the forge asked for it or does not answer;
	// zero if it is not waiting. Why says which.
	Waiting time.Time
	Why     string
}

// SyncResult is what a sync did.
type SyncResult struct {
	Streams []SyncedStream `json:"streams"`
	// Full tells that everything was listed and compared with the corpus, and Deleted how many
	// comments were found not to exist any more.
	Full    bool `json:"full"`
	Deleted int  `json:"deleted"`
	// Kept is how many comments were no longer listed, but were not deleted, because they are
	// suspiciously many.
	Kept int `json:"kept"`
	// Stopped says why the sync ended before it had read everything; empty if it did not.
	Stopped string `json:"stopped"`
}

// SyncedStream is what a sync did with one list.
type SyncedStream struct {
	Stream forge.HistoryStream `json:"stream"`
	Pages  int                 `json:"pages"`
	Pulls  int                 `json:"pull_requests"`
	Read   int                 `json:"read"` // comments
	Saved
	// Cut are the pull requests with more comments than are read.
	Cut []int `json:"cut"`
	// Watermark is until when everything is stored; zero if the forge does not tell.
	Watermark time.Time `json:"watermark"`
	// Whole tells that the list was read to its end.
	Whole bool `json:"whole"`
}

const (
	// fullEvery is how old the last complete listing may be.
	fullEvery = 7 * 24 * time.Hour
	// overlap is how much before the watermark a catch-up begins: comments can become visible
	// later than others with a later time.
	overlap = 10 * time.Minute
	// margin is by how much a comment must be newer than the beginning of a complete listing to
	// count as deleted: the times of a comment and of its pull request differ a little.
	margin = time.Hour
	// If more comments than this, and more than a quarter, are not listed any more, the forge may
	// hide them from the account. Only a listing that was asked for deletes them.
	manyGone = 50
)

// Sync reads what people wrote on the forge since the last sync, and stores it page by page: each
// with its checkpoint in one transaction, so that a sync that was interrupted goes on where it
// stopped. The first one reads from Since on.
//
// An error of the forge, of the store, or of the context ends it. What was stored until then stays,
// and the result tells it.
func (c *Corpus) Sync(ctx context.Context, o SyncOptions) (SyncResult, error) {
	s := &syncRun{
		corpus: c, o: o, result: SyncResult{Streams: []SyncedStream{}}, permissions: map[forge.Person]bool{},
		checkpoints: map[string]store.CorpusCheckpoint{}, listings: map[string]store.CorpusListing{},
	}
	err := s.run(ctx)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("sync the corpus: %w", ctx.Err()) // whatever was interrupted
	}
	if err != nil {
		s.result.Stopped = err.Error()
		if errors.Is(err, context.Canceled) {
			s.result.Stopped = "interrupted"
		}
	}
	return s.result, err
}

// syncRun is one sync.
type syncRun struct {
	corpus      *Corpus
	o           SyncOptions
	result      SyncResult
	checkpoints map[string]store.CorpusCheckpoint
	listings    map[string]store.CorpusListing
	listing     bool // a complete listing is unfinished
	since       time.Time
	permissions map[forge.Person]bool // who may write
	unknown     bool                  // the forge does not tell who may write
	pages, read int
}

func (s *syncRun) run(ctx context.Context) error {
	rows := s.corpus.Rows
	checkpoints, err := rows.CorpusCheckpoints(ctx)
	if err != nil {
		return err
	}
	for _, one := range checkpoints {
		s.checkpoints[one.Stream] = one
	}
	if err := s.readListings(ctx); err != nil {
		return err
	}
	if !s.listing && s.due() {
		if err := rows.BeginCorpusListing(ctx, s.streams(), s.since, s.corpus.Now()); err != nil {
			return err
		}
		if err := s.readListings(ctx); err != nil {
			return err
		}
	}
	for _, stream := range s.o.Forge.Streams() {
		if err := s.readStream(ctx, stream); err != nil {
			return err
		}
	}
	if !s.listing {
		return nil
	}
	return s.compare(ctx)
}

func (s *syncRun) streams() []string {
	var all []string
	for _, stream := range s.o.Forge.Streams() {
		all = append(all, string(stream))
	}
	return all
}

// readListings reads the state of the complete listings, and sets since to where the corpus
// begins, or shall begin.
func (s *syncRun) readListings(ctx context.Context) error {
	all, err := s.corpus.Rows.CorpusListings(ctx)
	if err != nil {
		return err
	}
	s.since, s.listing = s.o.Since, false
	for _, l := range all {
		if !slices.Contains(s.streams(), l.Stream) {
			continue
		}
		s.listings[l.Stream] = l
		s.listing = s.listing || !l.Began.IsZero()
		if l.Since.Before(s.since) {
			s.since = l.Since
		}
	}
	return nil
}

// due reports whether a complete listing shall begin.
func (s *syncRun) due() bool {
	for _, stream := range s.streams() {
		l, known := s.listings[stream]
		if s.o.Full || !known || s.since.Before(l.Since) || s.corpus.Now().Sub(l.Ended) > fullEvery {
			return true
		}
	}
	return false
}

// compare deletes the comments that a complete listing has not met.
func (s *syncRun) compare(ctx context.Context) error {
	for _, stream := range s.streams() {
		if l := s.listings[stream]; !l.Done {
			return fmt.Errorf("compare with the forge: the list %s was not read to its end", stream)
		}
	}
	rows := s.corpus.Rows
	gone, stored, err := rows.UnlistedCorpus(ctx, s.since.Add(margin))
	if err != nil {
		return err
	}
	if len(gone) > manyGone && len(gone)*4 > stored && !s.o.Full {
		s.result.Kept = len(gone)
		return rows.EndCorpusListing(ctx)
	}
	if s.result.Deleted, err = s.corpus.Delete(ctx, s.now(), gone...); err != nil {
		return err
	}
	s.result.Full = true
	return rows.EndCorpusListing(ctx)
}

// now is the time by the clock of this machine or of the forge, the later one.
func (s *syncRun) now() time.Time {
	at := s.corpus.Now()
	if q := s.o.Forge.Quota(); q.At.After(at) {
		at = q.At
	}
	return at
}
