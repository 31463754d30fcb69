package forgetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
)

// unchangedPullRequests is rows 9 and 11 of the fault matrix: an unchanged list of several pages is
// one request, every change is seen by the next one, and a list of which a page is missing is an
// error, and forgotten.
func unchangedPullRequests(t *testing.T, s *Stage, f forge.Forge) {
	const many = 250 // three pages of GitHub, five of Gitea
	shop := s.World.Repo("acme", "shop")
	s.World.Change(func() {
		for n := 1000; n < 1000+many; n++ {
			p := Shop().Pulls[1].PullRequest
			p.Number, p.Updated = n, Epoch.Add(-time.Duration(n)*time.Minute)
			shop.Pulls[n] = &Pull{PullRequest: p}
		}
	})
	numbers := func() map[int]forge.PullRequest {
		t.Helper()
		all, err := f.Open(t.Context(), repo(f))
		needs.NoError(t, err)
		found := map[int]forge.PullRequest{}
		for _, p := range all {
			found[p.Number] = p
		}
		return found
	}
	came := func(do func()) int {
		before := len(s.Script.Requests())
		do()
		return len(s.Script.Requests()) - before
	}
	whole := 0
	came(func() { whole = len(numbers()) })
	for range 5 {
		s.Clock.Pass(time.Minute)
		if n := came(func() {
			if got := len(numbers()); got != whole {
				t.Errorf("%d pull requests, want %d", got, whole)
			}
		}); n != 1 {
			t.Errorf("an unchanged list takes %d requests", n)
		}
	}
	last := shop.Pulls[1000+many-1]
	s.World.Push(last, sha("9"), "")
	if got := numbers()[last.Number]; got.Head.SHA != sha("9") {
		t.Errorf("a push to the last one is not seen: %+v", got)
	}
	s.World.SetState(shop.Pulls[1000+many-2], Ann, forge.Closed)
	if got := numbers(); len(got) != whole-1 {
		t.Errorf("%d pull requests are open, want %d", len(got), whole-1)
	}
	s.World.Label(shop.Pulls[1000+many-3], Ann, "bot-review-needed")
	{
		page := "page=3"
		s.Script.Plan(Fault{On: page, Status: 500, Times: 5})
		if all, err := f.Open(t.Context(), repo(f)); forge.KindOf(err) != forge.KindServer || all != nil {
			t.Errorf("with an error on %s there are %d pull requests, %v", page, len(all), err)
		}
		s.Script.Forget()
	}
	if got := numbers(); len(got) != whole-1 || !slices.Contains(got[1000+many-3].Labels, "bot-review-needed") {
		t.Errorf("after the error there are %d pull requests, and the labels %v", len(got), got[1000+many-3].Labels)
	}
	s.Clock.Pass(11 * time.Minute)
	if n := came(func() { numbers() }); n < 2 {
		t.Errorf("after a while, %d pages are read", n)
	}
}

// checksOfCommit: of each context the newest status counts, our own is marked, and addresses are those
// of web pages.
func checksOfCommit(t *testing.T, s *Stage, f forge.Forge) {
	shop := s.World.Repo("acme", "shop")
	commit := shop.Pulls[1].Head.SHA
	s.World.Change(func() { shop.Pulls[1].Diff = tillDiff })
	all, err := f.Checks(t.Context(), repo(f), commit)
	if err != nil || len(all) != 0 {
		t.Fatalf("%v, %v", all, err)
	}
	report := func(name, state, page string) {
		s.Clock.Pass(time.Second)
		s.World.ReportStatus(shop, Status{Commit: commit, Context: name, State: state, URL: page, By: Bo})
	}
	want := map[string]forge.CheckState{
		"build": forge.CheckPassed, "test": forge.CheckFailed, "lint": forge.CheckFailed, "slow": forge.CheckPending,
		"precedent": forge.CheckPassed,
	}
	report("build", "pending", "https://ci.example/1")
	report("test", "success", "javascript:alert(1)")
	for name, state := range map[string]string{
		"build": "success", "test": "failure", "lint": "error", "slow": "pending", "precedent": "success",
	} {
		report(name, state, "https://ci.example/"+name)
	}
	report("test", "failure", "javascript:alert(1)")
	for i := range 150 { // more than a page
		name := fmt.Sprintf("job %d", i)
		want[name] = forge.CheckPassed
		report(name, "success", "")
	}
	s.World.ReportStatus(shop, Status{Commit: sha("b"), Context: "other", State: "failure", By: Bo})
	all, err = f.Checks(t.Context(), repo(f), commit)
	needs.NoError(t, err)
	got := map[string]forge.CheckState{}
	for _, c := range all {
		got[c.Name] = c.State
		if c.Own || c.Started.IsZero() || c.Name == "test" && c.URL != "" || c.Name == "build" &&
			c.URL != "https://ci.example/build" {
			t.Errorf("%+v", c)
		}
	}
	if d := cmp.Diff(want, got); d != "" || len(all) != len(want) {
		t.Errorf("%d checks (-want +got):\n%s", len(all), d)
	}
	ours := forge.Check{Name: forge.CheckName, Commit: commit, Review: "r1", Result: forge.Failure, Title: "2 findings"}
	if no, err := f.Check(t.Context(), repo(f), ours); no != "" || err != nil {
		t.Logf("no check of ours: %s%v", no, err)
	} else if all, err = f.Checks(t.Context(), repo(f), commit); err != nil ||
		!slices.ContainsFunc(all, func(c forge.CommitCheck) bool { return c.Own && c.State == forge.CheckFailed }) {
		t.Errorf("our check is missing: %v", err)
	}
	for _, wrong := range []string{"", "main", "../" + commit} {
		if _, err := f.Checks(t.Context(), repo(f), wrong); forge.KindOf(err) != forge.KindRefused {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// repositoriesOf: archived ones are left out, also on later pages, and the others are sorted.
func repositoriesOf(t *testing.T, s *Stage, f forge.Forge) {
	me := Member{s.World.Me, forge.Write}
	s.World.Change(func() { s.World.Repo("acme", "shop").allow(s.World.Me, forge.Write) })
	want := []precedent.Repo{repo(f)}
	for i := range 120 {
		r := &Repo{
			ID: int64(2000 + i), Owner: "acme", Name: fmt.Sprintf("z%03d", i), Archived: i%3 == 0, Members: []Member{me},
		}
		s.World.Add(r)
		if !r.Archived {
			want = append(want, precedent.Repo{Host: f.Host(), Owner: r.Owner, Name: r.Name})
		}
	}
	s.World.Add(&Repo{ID: 3000, Owner: "zed", Name: "own", UserOwned: true, Members: []Member{me}})
	got, err := f.Repositories(t.Context(), "acme")
	if err == nil && len(got) == 0 && s.Limited {
		t.Skip("the account is a member of no repository")
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("of an organization: %v (-want +got):\n%s", err, d)
	}
	own := precedent.Repo{Host: f.Host(), Owner: "zed", Name: "own"}
	everything := append(slices.Clone(want), own)
	if got, err = f.Repositories(t.Context(), ""); err != nil || !slices.Equal(got, everything) {
		t.Errorf("of everybody: %d, want %d; %v", len(got), len(everything), err)
	}
	if got, err = f.Repositories(t.Context(), "zed"); err != nil || !slices.Equal(got, []precedent.Repo{own}) {
		t.Errorf("of a user: %v, %v", got, err)
	}
	if _, err := f.Repositories(t.Context(), "../acme"); forge.KindOf(err) != forge.KindRefused {
		t.Errorf("an owner with a path: %v", err)
	}
}

// pushableBranches: neither the default branch nor a protected one, nor any without write access.
func pushableBranches(t *testing.T, s *Stage, f forge.Forge) {
	shop := s.World.Repo("acme", "shop")
	s.World.Change(func() {
		shop.ProtectedBranches = []string{"release/1.0"}
		shop.Members = append([]Member{{s.World.Me, forge.Write}}, shop.Members...)
	})
	why := func(branch string) string {
		t.Helper()
		no, err := f.Pushable(t.Context(), repo(f), branch)
		if err != nil {
			t.Errorf("%s: %v", branch, err)
		}
		return string(no)
	}
	if no := why("till"); no != "" {
		t.Errorf("the branch of a pull request: %s", no)
	}
	for branch, want := range map[string]string{"main": "default branch", "release/1.0": "protected"} {
		if no := why(branch); !strings.Contains(no, want) || !strings.Contains(no, branch) {
			t.Errorf("%s: %q", branch, no)
		}
	}
	if _, err := f.Pushable(t.Context(), repo(f), "missing"); forge.KindOf(err) != forge.KindNotFound {
		t.Errorf("a missing branch: %v", err)
	}
	for _, name := range []string{"", "../main", "a..b", "-x", "a b", "x.lock"} {
		if _, err := f.Pushable(t.Context(), repo(f), name); forge.KindOf(err) != forge.KindRefused {
			t.Errorf("%q: %v", name, err)
		}
	}
	s.World.Change(func() { shop.Archived = true })
	if no := why("till"); !strings.Contains(no, "archived") {
		t.Errorf("an archived repository: %q", no)
	}
}

var errFence = errors.New("the lease is lost")

// fencedWrites: what the fence refuses is not sent, and the fence is asked after the waits, right
// before what is sent.
func fencedWrites(t *testing.T, s *Stage, f forge.Forge) {
	open := true
	var asked []int // how many requests had come when the fence was asked
	ctx := forge.WithFence(t.Context(), func(context.Context) error {
		asked = append(asked, len(s.Script.Requests()))
		if open {
			return nil
		}
		return errFence
	})
	p := Till()
	s.World.Change(func() { s.World.Repo("acme", "shop").Pulls[till] = p })
	said, err := f.Comment(ctx, repo(f), till, "One.")
	needs.NoError(t, err)
	came := s.Script.Requests()
	if len(asked) == 0 || asked[len(asked)-1] != len(came)-1 {
		t.Errorf("%d requests came, and the fence was asked after %v", len(came), asked)
	}
	open = false
	for name, write := range map[string]func() error{
		"post":    func() error { _, err := f.Post(ctx, repo(f), till, draftOf(p)); return err },
		"comment": func() error { _, err := f.Comment(ctx, repo(f), till, "x"); return err },
		"edit":    func() error { return f.Edit(ctx, repo(f), till, forge.CommentRef{Kind: said.Kind, ID: said.ID}, "x") },
		"check": func() error {
			_, err := f.Check(ctx, repo(f), forge.Check{Name: "x", Commit: p.Head.SHA})
			return err
		},
	} {
		if err := write(); forge.KindOf(err) != forge.KindFenced || !errors.Is(err, errFence) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all := s.World.Shown(p); len(all) != 1 || all[0].Body != "One." {
		t.Errorf("the comments are %+v", all)
	}
}

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

// setsLabels adds and removes labels with odd names, twice, and of an organization.
func setsLabels(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	s.World.Change(func() { p.Labels = []string{"bug"} })
	is := func(doing string, want ...string) {
		t.Helper()
		now, err := f.PullRequest(t.Context(), repo(f), till)
		slices.Sort(now.Labels)
		if err != nil || !slices.Equal(now.Labels, want) {
			t.Errorf("%s: labels %q, %v; want %q", doing, now.Labels, err, want)
		}
	}
	did := func(doing string, cannot forge.Unsupported, err error) {
		t.Helper()
		if err != nil || cannot != "" {
			t.Errorf("%s: %q, %v", doing, cannot, err)
		}
	}
	for range 2 { // the second time they are there
		cannot, err := f.MakeLabels(t.Context(), repo(f), []string{"precedent:review", "bot: made"})
		did("make labels", cannot, err)
	}
	for _, label := range []string{"precedent:review", "précédent / 50%?", "precedent:review"} {
		cannot, err := f.AddLabel(t.Context(), repo(f), till, label)
		did("add "+label, cannot, err)
	}
	is("two more", "bug", "precedent:review", "précédent / 50%?")
	for _, label := range []string{"précédent / 50%?", "bug", "nobody's", "bug"} {
		cannot, err := f.RemoveLabel(t.Context(), repo(f), till, label)
		did("remove "+label, cannot, err)
	}
	is("two fewer", "precedent:review")
	shop := s.World.Repo("acme", "shop")
	s.World.Change(func() { shop.Shared = []string{"team:other", "team:ready"} })
	for _, label := range []string{"team:ready", "team:ready"} {
		cannot, err := f.AddLabel(t.Context(), repo(f), till, label)
		did("add "+label+" of the organization", cannot, err)
	}
	is("one of the organization's", "precedent:review", "team:ready")
	cannot, err := f.RemoveLabel(t.Context(), repo(f), till, "team:ready")
	did("remove the organization's", cannot, err)
	is("none of the organization's", "precedent:review")
	_, err = f.AddLabel(t.Context(), repo(f), 4711, "x")
	refused(t, err, forge.KindNotFound, forge.KindClosed)
	s.World.Change(func() { shop.Archived = true })
	if cannot, err := f.AddLabel(t.Context(), repo(f), till, "x"); cannot == "" && forge.KindOf(err) != forge.KindClosed {
		t.Errorf("in an archived repository: %q, %v", cannot, err)
	}
	is("archived", "precedent:review")
}
