package forgetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/precedent-dev/precedent/internal/forge"
)

// Hooks runs the part of the conformance suite that is about webhooks. build returns the forge under
// test, and adds a webhook of its server, with the secret, to the address.
func Hooks(t *testing.T, build func(t *testing.T, s *Stage, address, secret string) (forge.Forge, *Hook)) {
	t.Helper()
	s := NewStage(t)
	shop := Shop()
	shop.Pulls[till] = Till()
	s.World.Add(shop)
	l := Listen(t)
	f, hook := build(t, s, l.URL, "s3cret")
	want := happenings(s, shop)
	hook.Wait()
	readsEvents(t, f, l.Requests(), want)
}

// happenings lets everything happen that forges tell of, and returns the events as they are on GitHub.
func happenings(s *Stage, shop *Repo) []forge.Event {
	w, p := s.World, shop.Pulls[till]
	pull := func(action string) forge.Event {
		return forge.Event{Kind: forge.PullEvent, Action: action, Sender: Ann, Pulls: []int{till}, Head: p.Head.SHA}
	}
	var want []forge.Event
	expect := func(e forge.Event) { want = append(want, e) }
	w.Label(p, Ann, "bot-review-needed")
	expect(pull(forge.ActionLabeled))
	w.Unlabel(p, Ann, "bot-review-needed")
	expect(pull(forge.ActionUnlabeled))
	w.Retitle(p, Ann, "Another till")
	expect(pull(forge.ActionEdited))
	w.RequestReview(p, Ann, Bo)
	expect(pull(forge.ActionReview))
	w.Push(p, sha("9"), tillDiff)
	expect(pull(forge.ActionSynchronized))
	m := w.Say(p, Ann, "", "Why?")
	said := forge.Event{Kind: forge.CommentEvent, Action: forge.ActionCreated, Sender: Ann, Pulls: []int{till}}
	expect(said)
	w.Rewrite(p, forge.CommentRef{Kind: m.Kind, ID: m.ID}, "Why not?")
	said.Action = forge.ActionEdited
	expect(said)
	w.Remove(p, forge.CommentRef{Kind: m.Kind, ID: m.ID})
	said.Action = forge.ActionDeleted
	expect(said)
	w.ReportStatus(shop, Status{Commit: p.Head.SHA, Context: "ci", State: "pending", By: Ann})
	run := forge.Event{Kind: forge.RunEvent, Action: forge.ActionPending, Sender: Ann, Head: p.Head.SHA, Check: "ci"}
	expect(run)
	w.ReportStatus(shop, Status{Commit: p.Head.SHA, Context: "ci", State: "failure", By: Ann})
	run.Action = forge.ActionCompleted
	expect(run)
	w.SetState(p, Ann, forge.Closed)
	expect(pull(forge.ActionClosed))
	w.SetState(p, Ann, forge.Open)
	expect(pull(forge.ActionReopened))
	w.SetState(p, Ann, forge.Merged)
	expect(pull(forge.ActionMerged))
	return want
}

// readsEvents verifies and reads what came.
func readsEvents(t *testing.T, f forge.Forge, came []HookRequest, want []forge.Event) {
	t.Helper()
	if len(came) != len(want) {
		t.Fatalf("%d events came, want %d", len(came), len(want))
	}
	ids := map[string]bool{}
	for i, r := range came {
		head, err := f.VerifyHook(r.Header, r.Body, []string{"new secret", "s3cret"})
		if err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
		if _, err := f.VerifyHook(r.Header, append(slices.Clone(r.Body), ' '), []string{"s3cret"}); !errors.Is(err,
			forge.ErrSignature) {
			t.Errorf("event %d with a blank more: %v", i, err)
		}
		if _, err := f.VerifyHook(r.Header, r.Body, []string{"new secret"}); !errors.Is(err, forge.ErrSignature) {
			t.Errorf("event %d with another secret: %v", i, err)
		}
		ids[head.ID] = true
		e, err := f.ReadEvent(head.Event, r.Body)
		if err != nil {
			t.Errorf("event %d, %s: %v\n%s", i, head.Event, err, r.Body)
			continue
		}
		expected := want[i]
		expected.Repo = repo(f)
		if expected.Action == forge.ActionUnlabeled && e.Action == forge.ActionLabeled { // not every forge tells them apart
			expected.Action = e.Action
		}
		if d := cmp.Diff(expected, e, cmpopts.IgnoreFields(forge.Event{}, "Comments")); d != "" {
			t.Errorf("event %d, %s (-want +got):\n%s", i, head.Event, d)
		}
	}
	if len(ids) != len(came) || ids[""] {
		t.Errorf("%d ids of %d deliveries", len(ids), len(came))
	}
}
