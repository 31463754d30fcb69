package pull

import (
	"context"
	"fmt"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// ApplyEvent brings the corpus up to date with what an event tells about comments, if there is a
// corpus that lasts. A failure is only noticed: the next sync reads the same.
func (p *Pull) ApplyEvent(ctx context.Context, e forge.Event) {
	if len(e.Comments) == 0 || !p.Workspace.Memory.DB.Kept() {
		return
	}
	c := p.Env.CorpusOf(p.Workspace)
	c.Me = workspace.OwnAccount(ctx, p.Conn)
	if _, err := c.Apply(ctx, p.Conn.Forge, p.Repo.Repo, e.Comments); err != nil {
		p.Env.NoticeError(ctx, fmt.Errorf("apply event to the corpus: %w", err), "; the next precedent corpus sync reads it")
	}
}
