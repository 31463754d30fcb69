package workflow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/forge"
)

// CorpusSync says how a corpus is read from a forge.
type CorpusSync struct {
	Since    time.Time // how far back the first sync reads
	Full     bool      // list everything again, and find what was deleted
	Sleep    func(ctx context.Context, d time.Duration) error
	Progress func(corpus.SyncProgress)
}

// SyncCorpus reads what people wrote on the pull requests of the workspace's repository. What was
// stored before an error stays, and the result tells it.
func (r *Reviewer) SyncCorpus(ctx context.Context, conn Connection, w *Workspace, o CorpusSync) (corpus.SyncResult, error) {
	repo := w.IDs[0]
	if repo.IsLocal() {
		return corpus.SyncResult{}, Hinted(errors.New("the repository has no remote on a forge"), "set --repo host/owner/name")
	}
	if repo.Host != conn.Host() {
		return corpus.SyncResult{}, Hinted(fmt.Errorf("%s is not on %s", repo, conn.Host()), "set the forge with --forge, as for precedent pr")
	}
	if err := r.keep(ctx, w); err != nil {
		return corpus.SyncResult{}, err
	}
	c, err := r.CorpusOf(ctx, w)
	if err != nil {
		return corpus.SyncResult{}, err
	}
	c.Me = ownAccount(ctx, conn)
	got, err := c.Sync(ctx, corpus.SyncOptions{
		Forge: conn.Forge, Repo: repo, Since: o.Since, Full: o.Full, Sleep: o.Sleep, Progress: o.Progress,
	})
	if err == nil {
		r.embedNew(ctx, c)
	}
	return got, conn.Explain(err)
}

// ownAccount is the id of the account that posts; empty if the forge does not tell, as without a
// token. Our comments are then known by their markers.
func ownAccount(ctx context.Context, conn Connection) precedent.ForgeID {
	if !conn.Known {
		return ""
	}
	me, err := conn.Me(ctx)
	if err != nil {
		return ""
	}
	return me.ID
}

// ApplyEvent brings the corpus up to date with what an event tells about comments, if there is a
// corpus that lasts. A failure is only noticed: the next sync reads the same.
func (p *Pull) ApplyEvent(ctx context.Context, e forge.Event) {
	if len(e.Comments) == 0 || !p.workspace.Memory.DB.Kept() {
		return
	}
	c, err := p.reviewer.CorpusOf(ctx, p.workspace)
	if err == nil {
		c.Me = ownAccount(ctx, p.connection)
		_, err = c.Apply(ctx, p.connection.Forge, p.repo.Repo, e.Comments)
	}
	if err != nil {
		p.reviewer.noticeError(ctx, fmt.Errorf("apply event to the corpus: %w", err), "; the next precedent corpus sync reads it")
	}
}
