package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
)

// Learn stores what the user of the computer tells. The memory is the user's own, so that the
// directive is active at once; user is the name if git's configuration has none. Nobody knows
// here whether the repository is public, so that it counts as private.
func (r *Env) Learn(ctx context.Context, w *Workspace, p memory.Proposal, user string) (memory.Captured, error) {
	p.From = precedent.LearningSource{
		By: precedent.FromCommand, Who: r.Learner(ctx, w, user), MayWrite: true,
		Words: p.Directive,
	}
	scope := p.Scope
	if !r.hasOwn(w, scope) {
		if scope == precedent.MeScope {
			return memory.Captured{}, Hinted(errors.New("there is no folder for your own learnings"),
				"set HOME or XDG_DATA_HOME, or give the scope repository or owner")
		}
		if err := r.KeepMemory(ctx, w); err != nil {
			return memory.Captured{}, err
		}
		return w.Memory.Propose(ctx, p)
	}
	own, err := r.makeOwn(ctx, w, scope)
	if err != nil {
		return memory.Captured{}, err
	}
	defer own.Close()
	p.Scope = precedent.RepositoryScope
	c, err := own.Memory.Propose(ctx, p)
	c.Scope = scope
	if where := "in all repositories"; err == nil && c.Refused == "" {
		if scope == precedent.OwnerScope {
			where = fmt.Sprintf("in the repositories of %s/%s", w.IDs[0].Host, w.IDs[0].Owner)
		}
		c.Note = "reviews of local changes on this computer use it " + where + "; it is not posted or shared"
	}
	return c, err
}

// LearnFromAgent stores what an agent proposes. It stays pending, no matter who runs the agent: an
// agent repeats what it reads, and that may be a stranger's.
func (r *Env) LearnFromAgent(ctx context.Context, w *Workspace, p memory.Proposal) (memory.Captured, error) {
	p.From = precedent.LearningSource{By: precedent.FromAgent, Who: "an agent", Words: p.Directive}
	p.Inferred = true
	if err := r.KeepMemory(ctx, w); err != nil {
		return memory.Captured{}, err
	}
	return w.Memory.Propose(ctx, p)
}

// Learner is who teaches the memory: the user of the computer by git's configuration, else by the given name.
func (r *Env) Learner(ctx context.Context, w *Workspace, user string) string {
	return cmp.Or(r.userName(ctx, w), user)
}
