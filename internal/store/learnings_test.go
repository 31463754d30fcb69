package store

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
)

// learningOf is an active learning with a directive.
func learningOf(directive string) precedent.Learning {
	return precedent.Learning{
		ID: precedent.LearningID("https://example.com/c/1", directive), Kind: precedent.LearnDo,
		State: precedent.LearningActive,
		Scope: precedent.RepositoryScope, Directive: directive, CreatedAt: start, UpdatedAt: start, Version: 1,
		From: precedent.LearningSource{By: precedent.FromComment, Who: "dana", WhoID: "7", MayWrite: true, Words: directive},
	}
}

func mustAdd(t *testing.T, r *Repo, l precedent.Learning) {
	t.Helper()
	if _, added, err := r.AddLearning(t.Context(), l, "dana"); err != nil || !added {
		t.Fatal(added, err)
	}
}

func testLearnings(t *testing.T, r *Repo) {
	ctx := t.Context()
	l := learningOf("check every error")
	mustAdd(t, r, l)
	again := l
	again.Directive = "something else"
	if got, added, err := r.AddLearning(ctx, again, "kim"); err != nil || added || got.Directive != l.Directive {
		t.Errorf("added twice: %v, %v, %v", got, added, err)
	}
	other := learningOf("write tests")
	other.State = precedent.LearningPending
	mustAdd(t, r, other)
	needs.Result(t, "active", []precedent.Learning{l})(r.Learnings(ctx, precedent.LearningActive))
	needs.NoError(t, r.CountLearnings(ctx, []string{l.ID, other.ID, "unknown"}, []string{l.ID}, start.Add(time.Hour)))
	got, err := r.ChangeLearning(ctx, l.ID, "kim", "edited", start.Add(2*time.Hour), func(l *precedent.Learning) error {
		l.Directive, l.Version = "check errors", 2
		return nil
	})
	if err != nil || got.Loaded != 1 || got.Used != 1 || !got.LastUsed.Equal(start.Add(time.Hour)) ||
		!got.UpdatedAt.Equal(start.Add(2*time.Hour)) {
		t.Errorf("changed: %+v, %v", got, err)
	}
	history, err := r.LearningHistory(ctx, l.ID)
	if err != nil || len(history) != 2 || history[0].After.Directive != "check every error" || history[1].Who != "kim" ||
		history[1].Action != "edited" {
		t.Errorf("history: %+v, %v", history, err)
	}
	if _, err := r.ActivateLearning(ctx, other.ID, "nothing", "kim", start); !errors.Is(err, ErrNoLearning) {
		t.Error(err)
	}
	needs.Len(t, "pending after a failure", 1)(r.Learnings(ctx, precedent.LearningPending))
	if got, err := r.ActivateLearning(ctx, other.ID, l.ID, "kim", start); err != nil || got.Supersedes != l.ID {
		t.Errorf("activated: %+v, %v", got, err)
	}
	needs.Result(t, "superseded", map[precedent.LearningState]int{
		precedent.LearningActive: 1, precedent.LearningSuperseded: 1,
	})(r.LearningStates(ctx))
	// Forgotten is final.
	for _, state := range []precedent.LearningState{precedent.LearningForgotten, precedent.LearningActive} {
		got, err := r.ChangeLearning(ctx, l.ID, "kim", "changed", start, func(l *precedent.Learning) error {
			l.State = state
			return nil
		})
		if err != nil || got.State != precedent.LearningForgotten {
			t.Errorf("%+v, %v", got, err)
		}
	}
	needs.Len(t, "attempts are recorded", 5)(r.LearningHistory(ctx, l.ID))
}

// testLearningsOfTheOwner: rows of a private repository never show in a public one, and
// those of another owner nowhere.
func testLearningsOfTheOwner(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	own := func(directive string, private bool) precedent.Learning {
		l := learningOf(directive)
		l.Scope, l.Private = precedent.OwnerScope, private
		return l
	}
	repo := func(host, owner, name string) *Repo {
		return repoFor(t, db, precedent.Repo{Host: host, Owner: owner, Name: name})
	}
	a := repo("example.com", "team", "a")
	mustAdd(t, a, own("of a public one", false))
	mustAdd(t, a, own("of a private one", true))
	mustAdd(t, a, learningOf("of the repository alone"))
	pending := own("not approved", false)
	pending.State = precedent.LearningPending
	mustAdd(t, a, pending)
	mustAdd(t, repo("example.com", "strangers", "a"), own("of strangers", false))
	mustAdd(t, repo("other.org", "team", "a"), own("of another host", false))
	b := repo("example.com", "team", "b")
	for private, want := range map[bool][]string{
		false: {"of a public one"},
		true:  {"of a private one", "of a public one"},
	} {
		found, err := b.OwnerLearnings(ctx, remote, private)
		var got []string
		for _, l := range found {
			got = append(got, l.Directive)
		}
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("private %v: %v, %v, want %v", private, got, err, want)
		}
	}
	strangers := precedent.Repo{Host: "example.com", Owner: "strangers"}
	needs.Len(t, "of an owner that the repository does not have", 0)(b.OwnerLearnings(ctx, strangers, true))
}
