package corpus

import (
	"context"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// Corpus is the corpus of one repository.
type Corpus struct {
	Rows *store.Repo
	Now  func() time.Time
	// Me is the account that posts reviews, whose comments do not belong to the corpus; empty if
	// it is not known.
	Me precedent.ForgeID
	// Embedding is the embedding model; nil for none.
	Embedding *Embedding
}

// Page is what a page of a forge or a part of a file has.
type Page struct {
	Pulls    []store.CorpusPull
	Comments []Comment
	// Checkpoint says how far a stream was read with this page; nil changes nothing.
	Checkpoint *store.CorpusCheckpoint
}

// Comment is a comment as a forge has it. Of a deleted one, Kind, ID and DeletedAt are enough.
type Comment struct {
	precedent.CorpusComment
	Bot bool // the forge says that the account is a bot
}

// Saved counts what became of the comments of a page.
type Saved struct {
	store.CorpusSaved
	Bot   int `json:"bot"`
	Own   int `json:"own"` // that Precedent wrote
	Empty int `json:"empty"`
}

// Add adds the counts of another page.
func (s *Saved) Add(o Saved) {
	s.Stored += o.Stored
	s.Updated += o.Updated
	s.Duplicate += o.Duplicate
	s.Deleted += o.Deleted
	s.Bot += o.Bot
	s.Own += o.Own
	s.Empty += o.Empty
	s.Chunks += o.Chunks
}

// Save saves a page completely or not at all. It leaves out what no person wrote, redacts secrets,
// and splits each conversation that changed into chunks.
//
// Of two versions of a comment the one with the later UpdatedAt stays, in whichever order they
// come; see store.Repo.SaveCorpus. A comment that was edited to be empty is deleted.
func (c *Corpus) Save(ctx context.Context, p Page) (Saved, error) {
	out := rows()
	out.Checkpoint = p.Checkpoint
	for _, pull := range p.Pulls {
		out.Pulls = append(out.Pulls, cleanPull(pull))
	}
	var all Saved
	for i := range p.Comments {
		if m := c.clean(p.Comments[i], &all); m != nil {
			out.Comments = append(out.Comments, *m)
		}
	}
	var err error
	if all.CorpusSaved, err = c.Rows.SaveCorpus(ctx, out); err != nil {
		return Saved{}, err
	}
	return all, nil
}

// Delete marks comments as deleted at a time, and returns how many were stored.
func (c *Corpus) Delete(ctx context.Context, at time.Time, all ...store.CorpusRef) (int, error) {
	var p Page
	for _, m := range all {
		p.Comments = append(p.Comments,
			Comment{CorpusComment: precedent.CorpusComment{Kind: m.Kind, ID: m.ID, DeletedAt: at}})
	}
	saved, err := c.Save(ctx, p)
	return saved.Deleted, err
}

// Refresh makes the chunks again if an earlier version of this program made them. It is quick if
// there is nothing to do.
func (c *Corpus) Refresh(ctx context.Context) error {
	_, err := c.Rows.RefreshCorpus(ctx, rows())
	return err
}

// rows is a page of the store without rows.
func rows() store.CorpusPage { return store.CorpusPage{Rules: rules, Chunk: Chunks, Index: indexed} }
