package gitea_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// begin posts one remark, and gives its number.
func (b table) begin(t *testing.T) precedent.ForgeID {
	t.Helper()
	posted, err := b.Post(t.Context(), b.repo, 2, b.draft(on(precedent.Right, 2, 2, "why 2?")))
	if err != nil || len(posted.Remarks) != 1 || posted.Remarks[0] == "" {
		t.Fatalf("%+v, %v", posted, err)
	}
	return posted.Remarks[0]
}

// lose takes the right to write from the token's account.
func (b table) lose() {
	b.World.Change(func() {
		b.Plain = true
		shop := b.World.Repo("acme", "shop")
		for i, m := range shop.Members {
			if m.Person == b.World.Me {
				shop.Members[i].Permission = forge.Read
			}
		}
	})
}

// TestAVersionThatPromisesTooMuch: whatever a server calls itself, it is not asked for replies
// again if it has none, and no review is posted instead.
func TestAVersionThatPromisesTooMuch(t *testing.T) {
	for _, version := range []string{"1.27.0", "v1.30.0+rc1", "15.0.0+gitea-1.22.0", "1.19.4", "main", ""} {
		b := lay(t, forgetest.Gitea125)
		first := b.begin(t)
		b.World.Say(b.pull, forgetest.Ann, first, "because")
		b.Script.Plan(forgetest.Fault{On: "/version", Status: 200, Body: `{"version":"` + version + `"}`, Times: 9})
		before := len(b.World.Shown(b.pull))
		for range 2 {
			if _, err := b.Reply(t.Context(), b.repo, 2, first, "I see"); trouble(t, err).Kind != forge.KindUnsupported {
				t.Errorf("%q: %v", version, err)
			}
		}
		tried := 0
		for _, r := range b.Script.Requests() {
			if strings.Contains(r.Body, "I see") {
				tried++
			}
		}
		if tried > 1 || len(b.World.Shown(b.pull)) != before {
			t.Errorf("%q: %d requests, %d comments", version, tried, len(b.World.Shown(b.pull)))
		}
	}
}

func TestWhoMayNotResolve(t *testing.T) {
	b := lay(t, forgetest.Gitea127)
	first := b.begin(t)
	b.lose()
	no, err := b.Resolve(t.Context(), b.repo, 2, forge.Thread{ID: first}, true)
	if err != nil || no == "" || b.World.Threads(b.pull)[0].Closed {
		t.Errorf("%q, %v", no, err)
	}
	if _, err := b.Resolve(t.Context(), b.repo, 2, forge.Thread{ID: "first"}, true); trouble(t,
		err).Kind != forge.KindRefused {
		t.Error(err)
	}
}

// TestTwoRemarksOnALine: Gitea shows them as one conversation, and both are open or resolved.
func TestTwoRemarksOnALine(t *testing.T) {
	b := lay(t, forgetest.Gitea127)
	posted, err := b.Post(t.Context(), b.repo, 2, b.draft(on(precedent.Right, 2, 2, "one"),
		on(precedent.Right, 2, 2, "two")))
	needs.NoError(t, err)
	person := b.World.Say(b.pull, forgetest.Ann, posted.Remarks[0], "because")
	b.World.Close(b.pull, posted.Remarks[0], forgetest.Ann)
	threads := needs.Value(b.Threads(t.Context(), b.repo, 2))(t)
	want := [][]precedent.ForgeID{{posted.Remarks[0], person.ID}, posted.Remarks[1:]}
	needs.Equal(t, want, needs.Each(threads, saidIn))
	for _, c := range threads {
		if !c.Closed || c.ClosedBy != forgetest.Ann {
			t.Errorf("%+v", c)
		}
	}
}

func TestConversationsOfTwoHeadsAreTwo(t *testing.T) {
	b := lay(t, forgetest.Gitea125)
	before := b.begin(t)
	b.World.Push(b.pull, strings.Repeat("9", 40), strings.Replace(till, "var a = 2", "var a = 9", 1))
	after := b.begin(t)
	threads := needs.Value(b.Threads(t.Context(), b.repo, 2))(t)
	needs.Equal(t, [][]precedent.ForgeID{{before}, {after}}, needs.Each(threads, saidIn))
}

func saidIn(t forge.Thread) []precedent.ForgeID { return t.Comments }

func TestDeletingAndEditing(t *testing.T) {
	kinds(t, func(t *testing.T, kind forgetest.GiteaKind) {
		b := lay(t, kind)
		line := b.begin(t)
		said := needs.Value(b.Comment(t.Context(), b.repo, 2, "summary"))(t)
		review := b.World.Reviews(b.pull)[0].ID
		if e := trouble(t, b.Edit(t.Context(), b.repo, 2, forge.CommentRef{Kind: forge.OnReview, ID: review},
			"edited")); e.Kind != forge.KindInvalid {
			t.Errorf("%+v", e)
		}
		remove := func(m forge.CommentRef, can bool) {
			t.Helper()
			no, err := b.Delete(t.Context(), b.repo, 2, m)
			there := slices.ContainsFunc(b.World.Shown(b.pull), func(c forge.Comment) bool {
				return c.Kind == m.Kind && c.ID == m.ID
			})
			if err != nil || (no == "") != can || there == can {
				t.Errorf("%v: %q, %v, it is there: %v", m, no, err, there)
			}
		}
		remove(forge.CommentRef{Kind: forge.OnReview, ID: review}, false) // its remark would go as well
		remove(forge.CommentRef{Kind: forge.OnLine, ID: line}, kind != forgetest.Gitea125)
		for range 2 {
			remove(forge.CommentRef{Kind: forge.OnThread, ID: said.ID}, true)
		}
		for _, gone := range []forge.CommentKind{forge.OnLine, forge.OnReview} {
			remove(forge.CommentRef{Kind: gone, ID: "4711"}, true)
		}
	})
}

func TestStatuses(t *testing.T) {
	b := lay(t, forgetest.Gitea127)
	shop := b.World.Repo("acme", "shop")
	send := func(result forge.CheckResult) forge.Unsupported {
		t.Helper()
		no, err := b.Check(t.Context(), b.repo, forge.Check{
			Name: "precedent", Commit: b.pull.Head.SHA, Review: "r", Result: result, Title: "1 finding\nof note", Body: "more",
			URL: "https://forge.example/1",
		})
		needs.NoError(t, err)
		return no
	}
	want := map[forge.CheckResult]string{
		forge.Success: "success", forge.Failure: "failure", forge.Neutral: "warning",
		forge.Incomplete: "error", "unheard": "error",
	}
	for result, state := range want {
		if no := send(result); no != "" {
			t.Fatal(no)
		}
		all := b.World.StatusesOf(shop, b.pull.Head.SHA)
		last := all[len(all)-1]
		if last.State != state || last.Context != "precedent" || strings.Contains(last.Words, "\n") || last.URL == "" {
			t.Errorf("%s: %+v", result, last)
		}
	}
	b.lose()
	if no := send(forge.Success); no == "" || len(b.World.StatusesOf(shop, b.pull.Head.SHA)) != len(want) {
		t.Errorf("%q", no)
	}
	if _, err := b.Check(t.Context(), b.repo, forge.Check{Commit: "main/../x"}); trouble(t,
		err).Kind != forge.KindRefused {
		t.Error(err)
	}
}

func TestAServerBelowAPath(t *testing.T) {
	s := forgetest.NewStage(t)
	s.World.Add(forgetest.Shop())
	g := s.GiteaAt(t, "/code")
	for _, base := range []string{g.URL + "/", g.URL + "/api/v1"} {
		c := open(t, s, base)
		// The repository was called so before. Gitea redirects with 301, of which HTTP clients
		// make a GET: what is read says the present name, and nothing is written by the former.
		former := precedent.Repo{Host: c.Host(), Owner: "acme", Name: "stall"}
		p, err := c.PullRequest(t.Context(), former, 1)
		if err != nil || c.Pages().PullRequest(p.Base.Repo, 1) != g.URL+"/acme/shop/pulls/1" ||
			p.Base.CloneURL != g.URL+"/acme/shop.git" {
			t.Errorf("%s: %+v, %v", base, p, err)
		}
		_, err = c.Comment(t.Context(), former, 1, "hello")
		if e := trouble(t, err); e.Kind != forge.KindRefused || e.Unsure || !strings.Contains(e.Hint, "present name") {
			t.Errorf("%s: %+v", base, e)
		}
		if m, err := c.Comment(t.Context(), p.Base.Repo, 1, "hello"); err != nil || !strings.HasPrefix(m.URL, g.URL+"/") {
			t.Errorf("%s: %+v, %v", base, m, err)
		}
	}
}
