package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/store"
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

// ownFile is the database, in the data folder, of what the user of the computer taught for more than one repository.
// Only reviews of local changes read it: it may speak of private repositories, and is not posted.
const ownFile = "own.db"

// ownScopes are the scopes of the user's own learnings.
var ownScopes = []precedent.LearningScope{precedent.MeScope, precedent.OwnerScope}

// hasOwn reports whether learnings of a scope are kept in the user's own database. Those for an owner are not where the
// memory is one of several repositories: there they act in all of them.
func (r *Env) hasOwn(w *Workspace, scope precedent.LearningScope) bool {
	switch {
	case r.Shared != nil || r.DataDir == "":
		return false
	case scope == precedent.OwnerScope:
		return w.IDs[0].HasOwner() && !w.IDs[0].IsLocal() && w.File.Value != "" && w.File.Source.By == settings.Default
	}
	return scope == precedent.MeScope
}

// ownMemory returns the user's own learnings of a scope in their database.
func (r *Env) ownMemory(
	ctx context.Context, w *Workspace, db *store.DB, scope precedent.LearningScope,
) (*Workspace, error) {
	id := precedent.LocalRepo("me")
	if scope == precedent.OwnerScope {
		id = precedent.LocalRepo("owner:" + w.IDs[0].Host + "/" + w.IDs[0].Owner)
	}
	return r.workspace(ctx, &Repository{IDs: []precedent.Repo{id}, noLearnings: w.noLearnings}, db)
}

// makeOwn opens the user's own learnings of a scope that hasOwn, and makes their database if there is none.
func (r *Env) makeOwn(ctx context.Context, w *Workspace, scope precedent.LearningScope) (*Workspace, error) {
	if err := os.MkdirAll(r.DataDir, 0o700); err != nil {
		return nil, unwritable(r.DataDir, err)
	}
	db, err := store.Open(ctx, filepath.Join(r.DataDir, ownFile), store.Options{Now: r.Now})
	if err != nil {
		return nil, err
	}
	return r.ownMemory(ctx, w, db, scope)
}

// eachOwn calls do with the user's own learnings of each scope, until it returns an error.
func (r *Env) eachOwn(ctx context.Context, w *Workspace, do func(*Workspace, precedent.LearningScope) error) error {
	file := filepath.Join(r.DataDir, ownFile)
	if !r.hasOwn(w, precedent.MeScope) {
		return nil
	}
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	db, err := store.Open(ctx, file, store.Options{Now: r.Now})
	if err != nil {
		return err
	}
	defer db.Close()
	for _, scope := range ownScopes {
		if !r.hasOwn(w, scope) {
			continue
		}
		own, err := r.ownMemory(ctx, w, db, scope)
		if err == nil {
			err = do(own, scope)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// OwnLearnings returns what the user of the computer taught for all repositories and for those of the owner; in all
// states if none is given.
func (r *Env) OwnLearnings(
	ctx context.Context, w *Workspace, states ...precedent.LearningState,
) (all []precedent.Learning, err error) {
	err = r.eachOwn(ctx, w, func(own *Workspace, scope precedent.LearningScope) error {
		found, err := own.Memory.Learnings(ctx, states...)
		for _, l := range found {
			l.Scope = scope
			all = append(all, l)
		}
		return err
	})
	return all, err
}

// CountOwnLearnings counts the user's own learnings that a review gave its finders, and those that it used.
func (r *Env) CountOwnLearnings(ctx context.Context, w *Workspace, review *precedent.Review) error {
	return r.eachOwn(ctx, w, func(own *Workspace, _ precedent.LearningScope) error {
		return own.Memory.CountLearnings(ctx, review)
	})
}

// FindLearning calls do with the memory that has a learning: that of the repository, else the user's own. do fails
// with memory.ErrUnknownID where it is not.
func (r *Env) FindLearning(ctx context.Context, w *Workspace, do func(*Workspace) error) error {
	unknown := do(w)
	if !errors.Is(unknown, memory.ErrUnknownID) {
		return unknown
	}
	done := false
	err := r.eachOwn(ctx, w, func(own *Workspace, _ precedent.LearningScope) error {
		if done {
			return nil
		}
		err := do(own)
		if errors.Is(err, memory.ErrUnknownID) {
			return nil
		}
		done = true
		return err
	})
	if err != nil || done {
		return err
	}
	return unknown
}
