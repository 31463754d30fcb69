package forgetest

import (
	"net/http"

	"github.com/precedent-dev/precedent/internal/forge"
)

func (g *GitHub) oneInline(c *call) reply  { return g.shown(c, forge.OnLine) }
func (g *GitHub) oneComment(c *call) reply { return g.shown(c, forge.OnThread) }

// shown returns the comment that the path names.
func (g *GitHub) shown(c *call, kind forge.CommentKind) reply {
	return g.one(c, kind, func(p *Pull, m *forge.Comment) reply {
		return reply{status: http.StatusOK, body: g.commentJSON(c, p, *m)}
	})
}
