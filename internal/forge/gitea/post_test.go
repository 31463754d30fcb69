package gitea_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/forge/gitea"
	"github.com/precedent-dev/precedent/internal/needs"
)

// till is a change with two hunks: lines 1 to 4 and 20 to 22 of the new file,
// lines 1 to 4 and 20 to 21 of the old one.
const till = `diff --git a/till.go b/till.go
--- a/till.go
+++ b/till.go
@@ -1,4 +1,4 @@
 package till
-var a = 1
+var a = 2
 // one
 // two
@@ -20,2 +20,3 @@
 // three
+var b = 3
 // four
`

// table is a server with one pull request whose diff is till.
type table struct {
	*forgetest.Gitea
	*forgetest.Stage
	*gitea.Client
	repo precedent.Repo
	pull *forgetest.Pull
}

func lay(t *testing.T, kind forgetest.GiteaKind) table {
	t.Helper()
	s := forgetest.NewStage(t)
	shop := forgetest.Shop()
	pull := shop.Pulls[2]
	pull.Diff = till
	s.World.Add(shop)
	g := s.Gitea(t)
	g.Kind = kind
	c := open(t, s, g.URL)
	t.Cleanup(func() {
		for _, r := range s.Script.Requests() {
			if strings.Contains(r.Path+r.Body, forgetest.Secret) {
				t.Errorf("the token stands in %s %s", r.Method, r.Path)
			}
		}
	})
	return table{
		Gitea: g, Stage: s, Client: c, repo: precedent.Repo{Host: c.Host(), Owner: "acme", Name: "shop"}, pull: pull,
	}
}

// kinds runs a test on each kind of server.
func kinds(t *testing.T, run func(t *testing.T, kind forgetest.GiteaKind)) {
	t.Helper()
	for name, kind := range map[string]forgetest.GiteaKind{
		"Gitea 1.27": forgetest.Gitea127, "Gitea 1.26": forgetest.Gitea126, "Gitea 1.25": forgetest.Gitea125,
		"Forgejo": forgetest.Forgejo,
	} {
		t.Run(name, func(t *testing.T) { run(t, kind) })
	}
}

func on(side precedent.Side, start, end int, body string) forge.Remark {
	return forge.Remark{Span: precedent.Span{Path: "till.go", Side: side, Start: start, End: end}, Body: body}
}

func (b table) draft(remarks ...forge.Remark) forge.Draft {
	return forge.Draft{Commit: b.pull.Head.SHA, Event: forge.Remarks, Body: "Two remarks.", Remarks: remarks}
}

// trouble is the error of a forge.
func trouble(t *testing.T, err error) forge.Error {
	t.Helper()
	var e *forge.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is not an error of a forge", err)
	}
	return *e
}

func (b table) writes() (all []string) {
	for _, r := range b.Script.Requests() {
		if r.Writes() {
			_, path, _ := strings.Cut(r.Path, "/acme/shop/")
			all = append(all, r.Method+" "+path)
		}
	}
	return all
}

func TestALaggingHeadIsNotWrittenOn(t *testing.T) {
	b := lay(t, forgetest.Forgejo)
	old := b.pull.Head.SHA
	b.World.Push(b.pull, strings.Repeat("9", 40), till)
	b.World.Change(func() { b.Behind = map[int]string{2: old} })
	p, err := b.PullRequest(t.Context(), b.repo, 2)
	if err != nil || p.Head.SHA != old {
		t.Errorf("%s, %v", p.Head.SHA, err)
	}
	_, err = b.Post(t.Context(), b.repo, 2, b.draft(on(precedent.Right, 2, 2, "new")))
	if e := trouble(t, err); e.Kind != forge.KindInvalid || e.Unsure || len(b.writes()) != 0 {
		t.Errorf("%+v after %v", e, b.writes())
	}
	b.World.Change(func() { b.Behind, b.Headless = nil, 1 })
	if p, err := b.PullRequest(t.Context(), b.repo, 2); err != nil || p.Head.SHA != b.pull.Head.SHA {
		t.Errorf("a head that came late: %s, %v", p.Head.SHA, err)
	}
	b.World.Change(func() { b.Headless = 9 })
	if _, err := b.PullRequest(t.Context(), b.repo, 2); trouble(t, err).Kind != forge.KindAnswer {
		t.Errorf("no head: %v", err)
	}
}

// TestWhatWasCutOffIsNotSentLater: Gitea keeps the comments of a review that it
// did not finish, and would send them with the next one.
func TestWhatWasCutOffIsNotSentLater(t *testing.T) {
	b := lay(t, forgetest.Gitea127)
	b.World.Change(func() { b.Breaks = 1 })
	d := b.draft(on(precedent.Right, 2, 2, "one"), on(precedent.Right, 21, 21, "two"))
	_, err := b.Post(t.Context(), b.repo, 2, d)
	if e := trouble(t, err); e.Kind != forge.KindServer || e.Unsure {
		t.Errorf("%+v", e)
	}
	if n := b.World.Unsent(b.pull); n != 0 || len(b.World.Shown(b.pull)) != 0 {
		t.Errorf("%d reviews are left over", n)
	}
	// This time nobody is there to clear away.
	b.World.Change(func() { b.Breaks = 1 })
	b.Script.Plan(forgetest.Fault{On: "/reviews", Method: "POST", After: true, Drop: true})
	_, err = b.Post(t.Context(), b.repo, 2, d)
	if e := trouble(t, err); !e.Unsure || b.World.Unsent(b.pull) != 1 {
		t.Errorf("%+v", e)
	}
	needs.Len(t, "what was not sent is listed", 0)(b.Comments(t.Context(), b.repo, 2))
	posted, err := b.Post(t.Context(), b.repo, 2, d)
	if err != nil || slices.Contains(posted.Remarks, "") {
		t.Fatalf("%+v, %v", posted, err)
	}
	var bodies []string
	for _, m := range b.World.Shown(b.pull) {
		bodies = append(bodies, string(m.Body))
	}
	slices.Sort(bodies)
	needs.Equal(t, []string{"Two remarks.", "one", "two"}, bodies)
}

// TestWhatWasCutOffAtAnotherHead: what carries our marker is not a person's, and does not stand in the way.
func TestWhatWasCutOffAtAnotherHead(t *testing.T) {
	b := lay(t, forgetest.Gitea127)
	w := comment.Writer{PullRequest: comment.PullRequest{Repo: b.repo, Number: 2}}
	old := w.Finding(precedent.Finding{Title: "Said of an earlier head"},
		comment.Marker{Thread: "01980000-0000-7000-9000-000000000001"}, false)
	b.World.Change(func() { b.Breaks = 1 })
	b.Script.Plan(forgetest.Fault{On: "/reviews", Method: "POST", After: true, Drop: true})
	if _, err := b.Post(t.Context(), b.repo, 2, b.draft(on(precedent.Right, 2, 2, old),
		on(precedent.Right, 3, 3, old))); err == nil || b.World.Unsent(b.pull) != 1 {
		t.Fatalf("nothing was left over: %v", err)
	}
	posted, err := b.Post(t.Context(), b.repo, 2, b.draft(on(precedent.Right, 21, 21, "two")))
	if err != nil || slices.Contains(posted.Remarks, "") {
		t.Fatalf("%+v, %v", posted, err)
	}
	for _, m := range b.World.Shown(b.pull) {
		if strings.Contains(string(m.Body), "earlier head") {
			t.Error("what was cut off is sent")
		}
	}
}
