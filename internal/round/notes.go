package round

import (
	"context"

	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/post"
	"github.com/precedent-dev/precedent/internal/pull"
)

// say posts a note about the head, once for each key: it is planned in the memory before it is
// sent, and looked for on the forge before it is planned. review is the id in its marker.
func (x *round) say(ctx context.Context, kind comment.Kind, key, review string, n comment.Note) error {
	p := x.pub
	if x.cycles.has(kind, key) {
		return nil
	}
	handled, err := p.Rows.HandledComments(ctx, p.Pull.Number)
	if err != nil {
		return err
	}
	name := "note." + string(kind) + "." + key
	if _, planned := handled[name]; !planned {
		if err := p.PlanNotes(ctx, name, func(post.ToComment) string { return p.Pull.Head.SHA },
			post.ToComment{Key: key, Note: &post.ToNote{Note: pull.Redacted(n), Kind: kind, Review: review}}); err != nil {
			return err
		}
	}
	if err := p.DeliverNotes(ctx); err != nil {
		return err
	}
	return x.recount(ctx)
}

func (x *round) recount(ctx context.Context) error {
	p := x.pub.Pull
	all, err := p.Conn.Comments(ctx, p.Repo.Repo, p.Number)
	if err != nil && forge.KindOf(err) != forge.KindTooLarge {
		return p.Conn.Explain(err)
	}
	x.cycles = countCycles(x.pub.OwnComments(all), p.Head.SHA)
	x.cycles.most = x.policy.Fix.MaxCycles
	return nil
}
