package workspace

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/memory"
)

// Dismissal is what a person dismisses, or restores.
type Dismissal struct {
	IDs  []string // of findings, or their beginnings
	Rule string   // of an analyzer; empty for none
	// Words and files of the person. Without a name it is the one of git's configuration.
	memory.Dismissal
	// Pull is the pull request in whose comments ids are looked up that the memory does not
	// have; 0 for the newest open ones.
	Pull int
	// Connect opens the forge for that.
	Connect func() (Connection, error)
	User    string // the name if git's configuration has none
}

// Dismissed is the result for an id, or for a rule.
type Dismissed struct {
	Dismissal precedent.Dismissal
	// Widen is where the same remark was dismissed before; empty if it was not. See memory.Widen.
	Widen string
	Err   error
}

// Dismiss dismisses the findings and the rule, each on its own. Ids that the memory does not
// have are looked up in the comments of pull requests, of which nothing is changed.
func (r *Env) Dismiss(ctx context.Context, w *Workspace, d Dismissal) []Dismissed {
	d.Who = cmp.Or(d.Who, r.userName(ctx, w), d.User)
	var all []Dismissed
	unknown := map[string]int{} // full ids, each with its index in all
	for _, id := range d.distinctIDs() {
		j, err := w.Memory.Dismiss(ctx, id, d.Dismissal)
		all = append(all, Dismissed{Dismissal: j, Err: err})
		if errors.Is(err, memory.ErrUnknownID) && len(id) == precedent.FindingIDLen {
			unknown[id] = len(all) - 1
		}
	}
	if len(unknown) > 0 && ctx.Err() == nil {
		r.dismissPosted(ctx, w, d, unknown, all)
	}
	if d.Rule != "" {
		j, err := w.Memory.DismissRule(ctx, d.Rule, d.Dismissal)
		all = append(all, Dismissed{Dismissal: j, Err: err})
	}
	for i := range all {
		if d := &all[i]; d.Err == nil {
			d.Widen, _ = w.Memory.Widen(ctx, d.Dismissal) // an offer
		}
	}
	return all
}

// distinctIDs are the ids, each once however it is written.
func (d *Dismissal) distinctIDs() []string {
	var ids []string
	for _, id := range d.IDs {
		if id = memory.NormalizeID(id); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// dismissPosted dismisses those of the unknown ids that have a comment, and writes the results into all.
func (r *Env) dismissPosted(ctx context.Context, w *Workspace, d Dismissal, unknown map[string]int, all []Dismissed) {
	l := lookup{
		reviewer: r, workspace: w, pull: d.Pull, wanted: map[string]bool{},
		found: map[string]precedent.Dismissal{},
	}
	for id := range unknown {
		l.wanted[id] = true
	}
	err := l.run(ctx, d.Connect)
	for id, i := range unknown {
		j, found := l.found[id]
		if !found {
			all[i].Err = l.notFound(all[i].Err, err)
			continue
		}
		if e := r.KeepMemory(ctx, w); e != nil {
			all[i].Err = e
			continue
		}
		all[i].Dismissal, all[i].Err = w.Memory.DismissPosted(ctx, j, d.Dismissal)
	}
}

// KeepMemory makes the file of a memory that has none yet.
func (r *Env) KeepMemory(ctx context.Context, w *Workspace) error {
	if w.Memory.DB.Kept() || w.File.Value == "" {
		return nil
	}
	db, err := r.OpenMemory(ctx, w.Repository)
	if err != nil {
		return err
	}
	_ = w.Memory.DB.Close() // it was empty
	w.Memory.DB = db
	return nil
}

// Restore undoes the dismissals of the findings and of the rule, each on its own.
func (r *Env) Restore(ctx context.Context, w *Workspace, d Dismissal) []Dismissed {
	var all []Dismissed
	for _, id := range d.distinctIDs() {
		j, err := w.Memory.Undismiss(ctx, id)
		all = append(all, Dismissed{Dismissal: j, Err: err})
	}
	if d.Rule == "" {
		return all
	}
	undone, err := w.Memory.UndismissRule(ctx, d.Rule, d.Glob)
	if err != nil {
		return append(all, Dismissed{Err: err})
	}
	for _, j := range undone {
		all = append(all, Dismissed{Dismissal: j})
	}
	return all
}

// userName is the name of the person in git's configuration; empty for none.
func (r *Env) userName(ctx context.Context, w *Workspace) string {
	if w.Git != nil {
		return w.Git.UserName()
	}
	return git.UserName(ctx, r.Git)
}
