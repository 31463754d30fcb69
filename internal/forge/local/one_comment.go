package local

import (
	"context"
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// ReadComment reads one comment on a pull request.
func (f *Forge) ReadComment(ctx context.Context, repo precedent.Repo, number int, m forge.CommentRef) (forge.Comment, error) {
	doing := fmt.Sprintf("read comment %s on %s#%d", m.ID, repo, number)
	if err := forge.CheckNumbers(m.ID); err != nil {
		return forge.Comment{}, fail(doing, err)
	}
	_, all, err := f.currentDiscussion(ctx, repo, number, doing)
	if err != nil {
		return forge.Comment{}, err
	}
	for _, c := range all {
		if c.Kind == m.Kind && c.ID == m.ID {
			return c, nil
		}
	}
	return forge.Comment{}, forge.NoComment(doing)
}
