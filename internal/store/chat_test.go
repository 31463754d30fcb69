package store

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
)

// testHandledComments: a handled comment and its answer are saved together, answers are not
// posts of a review, and all of it moves with the repository.
func testHandledComments(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	r := repoFor(t, db, local)
	h := HandledComment{Comment: "inline.7", Hash: "a", Document: json.RawMessage(`{"who":"it's 1"}`), At: start}
	answer := Post{
		ID: "p1", Pull: 7, Kind: PostAnswer, Thread: "p1", State: PostPlanned, At: start,
		Payload: json.RawMessage(`{}`),
	}
	if err := r.SaveHandled(ctx, 7, h, answer); err != nil {
		t.Fatal(err)
	}
	again := h
	again.Hash = "b"
	if err := r.SaveHandled(ctx, 7, again, answer); err == nil {
		t.Error("an answer was saved twice")
	}
	if found, err := r.HandledComments(ctx, 7); err != nil || !cmp.Equal(found, map[string]HandledComment{"inline.7": h}) {
		t.Errorf("handled %v, %v: want the first, without the answer nothing is saved", found, err)
	}
	if err := r.Pause(ctx, 7, "mona", true); err != nil {
		t.Fatal(err)
	}
	if err := r.Pause(ctx, 7, "dana", true); err != nil {
		t.Fatal(err)
	}
	joined := repoFor(t, db, remote, local)
	found, err1 := joined.HandledComments(ctx, 7)
	who, paused, err2 := joined.PausedBy(ctx, 7)
	answers, err3 := joined.AnswerPosts(ctx, 7)
	if len(found) != 1 || who != "mona" || !paused || len(answers) != 1 || err1 != nil || err2 != nil || err3 != nil {
		t.Errorf("after joining: %v, paused by %q, answers %v; %v %v %v", found, who, answers, err1, err2, err3)
	}
	if posts := mustPosts(t, joined, 7); len(posts) != 0 {
		t.Errorf("answers among the posts of reviews: %v", posts)
	}
	if err := joined.Pause(ctx, 7, "dana", false); err != nil {
		t.Fatal(err)
	}
	if _, paused, err := joined.PausedBy(ctx, 7); paused || err != nil {
		t.Errorf("still paused, %v", err)
	}
	other := repoFor(t, db, precedent.Repo{Host: "example.com", Owner: "stranger", Name: "app"})
	if found, err := other.HandledComments(ctx, 7); len(found) != 0 || err != nil {
		t.Errorf("another repository has %v, %v", found, err)
	}
}
