package gitea

import (
	"context"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Streams returns no list yet.
func (c *Client) Streams() []forge.HistoryStream { return nil }

// History reads one page of a list.
func (c *Client) History(context.Context, precedent.Repo, forge.HistoryQuery) (forge.HistoryPage, error) {
	return forge.HistoryPage{}, &forge.Error{Kind: forge.KindUnsupported, Msg: "read history: not supported"}
}
