package corpus

import (
	"context"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// Status says what is in a corpus.
type Status struct {
	Names []precedent.Repo `json:"repository"` // of the repository
	store.CorpusStatus
}

// Status counts what is in the corpus.
func (c *Corpus) Status(ctx context.Context) (Status, error) {
	s, err := c.Rows.CorpusStatus(ctx)
	if err != nil {
		return Status{}, err
	}
	names, err := c.Rows.Names(ctx)
	return Status{Names: names, CorpusStatus: s}, err
}
