package workspace

import (
	"context"
	"errors"
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/corpus"
)

// SyncCorpus reads what people wrote on the pull requests of the workspace's repository. It sets the forge and the
// repository of the options. What was stored before an error stays, and the result tells it.
func (r *Env) SyncCorpus(ctx context.Context, conn Connection, w *Workspace,
	o corpus.SyncOptions,
) (corpus.SyncResult, error) {
	repo := w.IDs[0]
	if repo.IsLocal() {
		return corpus.SyncResult{}, Hinted(errors.New("the repository has no remote on a forge"),
			"set --repo host/owner/name")
	}
	if repo.Host != conn.Host() {
		return corpus.SyncResult{}, Hinted(fmt.Errorf("%s is not on %s", repo, conn.Host()),
			"set the forge with --forge, as for precedent pr")
	}
	c, err := r.keptCorpus(ctx, w)
	if err != nil {
		return corpus.SyncResult{}, err
	}
	c.Me = OwnAccount(ctx, conn)
	o.Forge, o.Repo = conn.Forge, repo
	got, err := c.Sync(ctx, o)
	if err == nil {
		r.embedNew(ctx, c)
	}
	return got, conn.Explain(err)
}

// OwnAccount is the id of the account that posts; empty if the forge does not tell, as without a
// token. Our comments are then known by their markers.
func OwnAccount(ctx context.Context, conn Connection) precedent.ForgeID {
	if !conn.Known {
		return ""
	}
	me, err := conn.Me(ctx)
	if err != nil {
		return ""
	}
	return me.ID
}
