package fix

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/fixround"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/post"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// fixKey begins what the push of a commit is recorded under before it is made.
const fixKey = "fix."

// pushRecord is a push that may have been made: if its commit is at the head, it was. Then its notes are
// posted, which is recorded under notesKey.
type pushRecord struct {
	Round     string           `json:"round"`
	Commit    string           `json:"commit"`
	Before    string           `json:"before"` // the head that it follows
	Addressed []string         `json:"addressed,omitempty"`
	Notes     []post.ToComment `json:"notes"`

	announced bool // its notes are planned
}

func notesKey(commit string) string { return "note." + string(comment.Fixed) + ".fixed." + commit }

// commit makes the commits of the round and returns the last one. Their messages have nothing of a
// model or a person.
func (f *fixing) commit(ctx context.Context) (string, error) {
	repo, s := f.state.Repo, f.state
	made := git.Commit{Name: fixround.Name, Email: fixround.Email, At: f.Pull.Env.Now(), Parents: []string{s.Range.Head}}
	at := s.Range.Head
	var err error
	if f.resolved != "" {
		made.Tree, made.Parents, made.Message = f.resolved, []string{at, s.Range.BaseCommit},
			fixround.Message("Merge the base branch", f.id)
		if at, err = repo.WriteCommit(ctx, made); err != nil {
			return "", err
		}
	}
	if f.change.Tree == f.resolved {
		return at, nil
	}
	made.Tree, made.Parents, made.Message = f.change.Tree, []string{at}, fixround.Message("Address review comments", f.id)
	return repo.WriteCommit(ctx, made)
}

// push records the push, makes it, and posts what was done.
func (f *fixing) push(ctx context.Context) (Result, error) {
	commit, err := f.commit(ctx)
	if err != nil {
		return Result{}, err
	}
	result := f.done(Pushed)
	result.Commit = commit
	rec := pushRecord{
		Round: f.id, Commit: commit, Before: f.state.Range.Head, Addressed: result.Addressed, Notes: f.notes(commit),
	}
	document, err := json.Marshal(rec)
	if err != nil {
		return Result{}, err
	}
	if err := f.Rows.SaveHandled(ctx, f.Pull.Number, store.HandledComment{
		Comment: fixKey + commit, Hash: commit, Document: document, At: f.Pull.Env.Now(),
	}); err != nil {
		return Result{}, err
	}
	if err := f.o.Check(ctx); err != nil {
		return Result{}, err
	}
	if f.o.Pushing != nil {
		f.o.Pushing(commit)
	}
	err = f.state.Repo.PushCommit(ctx, git.Push{
		To: f.state.Spec, Branch: f.Pull.Head.Name, Expect: f.state.Range.Head, Commit: commit,
	})
	switch {
	case errors.Is(err, git.ErrStale):
		return f.superseded(ctx, err.Error())
	case errors.Is(err, git.ErrRejected):
		return ended(Refused, "%s", err), nil
	case err != nil:
		return Result{}, err
	}
	f.Pull.Env.Notice(ctx, "pushed %s to %s", workspace.ShortID(commit), text.VisibleLine(f.Pull.Head.Name))
	return result, f.announce(ctx, rec)
}

// resume finds out what an interrupted round did, and finishes that. A commit of ours at the head
// that no review has read starts no other round.
func (f *fixing) resume(ctx context.Context) (Result, bool, error) {
	head := f.state.Range.Head
	records, err := f.pushes(ctx)
	if err != nil {
		return Result{}, false, err
	}
	for _, rec := range records {
		if rec.Commit == head || rec.announced || f.o.DryRun {
			continue
		}
		// Somebody may have pushed more since. A commit that is unknown here was not pushed, or is not part of
		// the branch any more.
		if pushed, err := f.state.Repo.Contains(ctx, head, rec.Commit); err == nil && pushed {
			return ended(Superseded, "somebody pushed after the fix"), true, f.announce(ctx, rec)
		}
	}
	if result, left, err := f.finishUnfixed(ctx, records); left || err != nil {
		return result, true, err
	}
	commit, err := f.state.Repo.ReadCommit(ctx, head)
	if err != nil {
		return Result{}, false, err
	}
	round, own := fixround.Own(commit.Message, commit.Email)
	if !own {
		return Result{}, false, nil
	}
	read, err := f.reviewed(ctx, head)
	if err != nil || read {
		return Result{}, false, err
	}
	result, err := f.adopt(ctx, Result{Review: round, Commit: head}, records)
	return result, true, err
}

// finishUnfixed posts what an interrupted round that pushed nothing had still to say of this head. The engine,
// which was paid for that, is not asked again.
func (f *fixing) finishUnfixed(ctx context.Context, records []pushRecord) (Result, bool, error) {
	posts, err := f.Rows.AnswerPosts(ctx, f.Pull.Number)
	if err != nil || f.o.DryRun {
		return Result{}, false, err
	}
	for _, p := range posts {
		note := post.ReadAnswer(p).Note
		if p.State.Done() || p.Head != f.state.Range.Head || note == nil {
			continue
		}
		pushed := slices.ContainsFunc(records, func(rec pushRecord) bool { return rec.Round == note.Review })
		if note.Kind != comment.Unfixed && (note.Kind != comment.Reply || pushed) {
			continue
		}
		result := ended(NoChange, "an earlier, interrupted round pushed nothing; the rest of its comments is posted now")
		if result.Review = note.Review; f.fork {
			result.Status = Fork
		}
		return result, true, f.deliver(ctx)
	}
	return Result{}, false, nil
}

// adopt finishes a round whose commit is at the head of the pull request.
func (f *fixing) adopt(ctx context.Context, result Result, records []pushRecord) (Result, error) {
	result.Status, result.Why = Pushed, "an earlier round pushed it, and no review has read it yet"
	for _, rec := range records {
		if rec.Commit == result.Commit && !f.o.DryRun {
			result.Addressed = rec.Addressed
			return result, f.announce(ctx, rec)
		}
	}
	return result, nil
}

// superseded is the result for a head that moved meanwhile. The push of a round that was killed may
// arrive as late as that: then its commit is at the head, and what it did is announced.
func (f *fixing) superseded(ctx context.Context, why string) (Result, error) {
	records, err := f.pushes(ctx)
	if err != nil {
		return Result{}, err
	}
	if !f.fork && len(records) > 0 {
		if result, arrived, err := f.arrived(ctx, records); arrived || err != nil {
			return result, err
		}
	}
	return ended(Superseded, "%s", why), nil
}

// arrived asks the server for the branch. If it is at a recorded commit, the round that pushed it is finished.
func (f *fixing) arrived(ctx context.Context, records []pushRecord) (Result, bool, error) {
	tip, err := f.state.Repo.BranchTip(ctx, f.state.Spec, f.Pull.Head.Name)
	if err != nil {
		return Result{}, false, err
	}
	for _, rec := range records {
		if rec.Commit == tip {
			result, err := f.adopt(ctx, Result{Review: rec.Round, Commit: tip}, records)
			return result, true, err
		}
	}
	return Result{}, false, nil
}

// pushes are those that were recorded. Not all of them were made.
func (f *fixing) pushes(ctx context.Context) ([]pushRecord, error) {
	handled, err := f.Rows.HandledComments(ctx, f.Pull.Number)
	if err != nil {
		return nil, err
	}
	var records []pushRecord
	for _, key := range slices.Sorted(maps.Keys(handled)) {
		var rec pushRecord
		if !strings.HasPrefix(key, fixKey) || json.Unmarshal(handled[key].Document, &rec) != nil {
			continue
		}
		_, rec.announced = handled[notesKey(rec.Commit)]
		records = append(records, rec)
	}
	return records, nil
}

// reviewed tells whether a review of ours has read a head, or whether its gate or its checks have failed.
func (f *fixing) reviewed(ctx context.Context, head string) (bool, error) {
	for _, own := range f.OwnComments(f.state.Comments) {
		if own.Head == head && (own.Kind == comment.Summary || own.Kind == comment.GateFailed ||
			own.Kind == comment.ChecksEnded) {
			return true, nil
		}
	}
	last, found, err := f.Rows.LastReview(ctx, f.Pull.Number)
	return found && last.Head == head, err
}

// announce posts the notes about a push, each once.
func (f *fixing) announce(ctx context.Context, rec pushRecord) error {
	if !rec.announced {
		headOf := func(n post.ToComment) string {
			if n.Note.Kind.IsNote() {
				return rec.Commit
			}
			return rec.Before // a reply must not be taken for that of the review of the new head
		}
		if err := f.PlanNotes(ctx, notesKey(rec.Commit), headOf, rec.Notes...); err != nil {
			return err
		}
	}
	return f.deliver(ctx)
}

// deliver sends the notes that are planned, if the round may still write.
func (f *fixing) deliver(ctx context.Context) error {
	if err := f.o.Check(ctx); err != nil {
		return err
	}
	return f.DeliverNotes(ctx)
}
