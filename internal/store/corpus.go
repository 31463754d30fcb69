package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
)

// CorpusPage is what is saved of the corpus at once, usually what a page of a forge has.
type CorpusPage struct {
	Pulls []CorpusPull
	// Comments are new or known ones, in any order. Of one with DeletedAt, Kind, ID and
	// DeletedAt are enough.
	Comments []precedent.CorpusComment
	// Checkpoint says how far a stream was read with this page; nil changes nothing.
	Checkpoint *CorpusCheckpoint
	// Rules is the version of Chunk and Index, from 1.
	Rules int
	// Chunk splits a conversation. It may be called several times for one.
	Chunk func(CorpusConversation) []precedent.CorpusChunk
	// Index returns what is searched of a chunk, as ReadCorpusIndex returns it.
	Index func(*precedent.CorpusChunk) []byte
}

// CorpusPull is a pull request, and the number of the one that it reverts, if it was merged; 0 for none.
type CorpusPull struct {
	precedent.CorpusPull
	Reverts int
}

// CorpusConversation are the comments of a conversation that exist, oldest first, at least one.
type CorpusConversation struct {
	// Pull has only a number if the corpus does not know the pull request.
	Pull     precedent.CorpusPull
	Comments []precedent.CorpusComment
}

// CorpusSaved counts what a page changed.
type CorpusSaved struct {
	Stored    int `json:"stored"` // comments that were not known
	Updated   int `json:"updated"`
	Duplicate int `json:"duplicate"` // comments that are stored in this version or a newer one
	Deleted   int `json:"deleted"`   // comments that were stored
	Chunks    int `json:"chunks"`    // that were made
}

// CorpusCheckpoint says how far a list of comments was read. A list is read in passes, each from
// a time on and page by page.
type CorpusCheckpoint struct {
	Stream string `json:"stream"`
	// Watermark is such that everything that was edited before it is stored; zero for nothing.
	Watermark time.Time `json:"watermark"`
	// Since and Cursor are what the unfinished pass reads since, and its next page. Cursor is
	// empty if the last pass was finished.
	Since  time.Time `json:"since"`
	Cursor string    `json:"cursor"`
	Pages  int       `json:"pages"` // that the pass has read
	// SavedAt is when the checkpoint was saved; SaveCorpus sets it.
	SavedAt time.Time `json:"saved_at"`
}

// SaveCorpus saves a page completely or not at all: pull requests, comments, the chunks of all
// conversations that changed, and the checkpoint.
//
// Of two versions of a comment the one with the later UpdatedAt stays, in whichever order they
// come. An equal one is a duplicate, unless it says for the first time that the lines changed. MayWrite stays
// as it was first stored. A deletion replaces all versions that were not edited after it, and
// removes their text. Of a pull request that comes again, UpdatedAt decides, too; what an older
// version knows and a newer one does not is kept.
func (r *Repo) SaveCorpus(ctx context.Context, page CorpusPage) (CorpusSaved, error) {
	var s corpusSave
	err := r.change(ctx, "save corpus", func(tx *sql.Tx) error {
		s = corpusSave{repo: r, tx: tx, page: page}
		return s.run(ctx)
	})
	if err != nil {
		return CorpusSaved{}, err
	}
	return s.saved, nil
}

// RefreshCorpus makes the chunks again if they were made by other rules than the page's, or if
// two identities of the repository were joined since. It saves several times, and returns the
// number of chunks.
func (r *Repo) RefreshCorpus(ctx context.Context, page CorpusPage) (int, error) {
	var rules int
	err := row(ctx, r.db.read, "SELECT rules FROM corpus_rules WHERE repo_id = $1", []any{r.id}, into(&rules))
	if errors.Is(err, sql.ErrNoRows) || err == nil && rules == page.Rules {
		return 0, nil
	}
	if err != nil {
		return 0, r.db.fail("read corpus", err)
	}
	const batch = 1_000 // conversations
	total := 0
	last := conversation{}
	for done := false; !done; {
		var chunks int
		var next conversation
		err := r.change(ctx, "refresh corpus", func(tx *sql.Tx) error {
			s := corpusSave{repo: r, tx: tx, page: page}
			all, err := s.conversationsAfter(ctx, last, batch)
			if err != nil {
				return err
			}
			done = len(all) < batch
			if !done {
				next = all[len(all)-1]
			}
			s.touch(all...)
			if err := s.loadThreads(ctx); err != nil {
				return err
			}
			if err := s.chunk(ctx); err != nil {
				return err
			}
			chunks = s.saved.Chunks
			if done {
				err = execute(ctx, tx, "UPDATE corpus_rules SET rules = $2 WHERE repo_id = $1", r.id, page.Rules)
			}
			return err
		})
		if err != nil {
			return total, err
		}
		total += chunks
		last = next
	}
	return total, nil
}

// ClearCorpus deletes the corpus, checkpoints and vectors included, and returns how many comments
// it had.
func (r *Repo) ClearCorpus(ctx context.Context) (int, error) {
	deleted, err := r.delete(ctx, "clear corpus", func(tx *sql.Tx) error { return r.clear(ctx, tx, "corpus_") })
	deleted, err = r.shrinkAfter(ctx, deleted, err)
	return deleted.Comments, err
}

// conversation identifies the comments that answer each other.
type conversation struct {
	kind string
	root precedent.ForgeID
}

type commentKey struct {
	kind string
	id   precedent.ForgeID
}

// corpusSave is one attempt to save a page.
type corpusSave struct {
	repo  *Repo
	tx    *sql.Tx
	page  CorpusPage
	saved CorpusSaved
	// rows are the comments that were read or changed; those in dirty are written.
	rows    map[commentKey]*precedent.CorpusComment
	dirty   []commentKey
	touched map[conversation]bool
}

func (s *corpusSave) touch(all ...conversation) {
	if s.touched == nil {
		s.touched = map[conversation]bool{}
	}
	for _, c := range all {
		s.touched[c] = true
	}
}

func (s *corpusSave) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		s.savePulls, s.compareComments, s.loadThreads, s.write, s.chunk,
		s.saveCheckpoint,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *corpusSave) saveCheckpoint(ctx context.Context) error {
	c := s.page.Checkpoint
	if c == nil {
		return nil
	}
	return putRows(ctx, s.tx, "corpus_checkpoints", "repo_id, stream", "watermark, since, cursor, pages, saved_at", []any{
		s.repo.id, c.Stream, zeroMillis(c.Watermark), zeroMillis(c.Since), c.Cursor, c.Pages, millis(s.repo.db.now()),
	})
}

// zeroMillis is millis, but 0 for the zero time.
func zeroMillis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return millis(t)
}

func fromZeroMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return fromMillis(ms)
}

func (s *corpusSave) conversationsAfter(ctx context.Context, last conversation, n int) ([]conversation, error) {
	return collect(ctx, s.tx, `SELECT DISTINCT kind, root FROM corpus_comments WHERE repo_id = $1 AND (kind > $2 OR kind = $2 AND root > $3)
		ORDER BY kind, root LIMIT $4`, []any{s.repo.id, last.kind, string(last.root), n}, scanConversation)
}

func scanConversation(s scanner, c *conversation) error { return s.Scan(&c.kind, &c.root) }

func (s *corpusSave) conversations() []conversation {
	return slices.SortedFunc(maps.Keys(s.touched), func(a, b conversation) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.root, b.root))
	})
}
