package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// till is a stage with the pull request that is made for remarks, number 8.
func till(t *testing.T) (*forgetest.Stage, *Client, precedent.Repo, *forgetest.Pull) {
	t.Helper()
	s, _, c, repo := open(t)
	p := forgetest.Till()
	s.World.Change(func() { shop(s).Pulls[8] = p })
	return s, c, repo, p
}

// on is a remark on a line of src/till.go: 1 to 6 and 41 to 44 are in its diff.
func on(line int, body string) forge.Remark {
	return forge.Remark{
		Span: precedent.Span{Path: "src/till.go", Side: precedent.Right, Start: line, End: line},
		Body: body,
	}
}

func draft(p *forgetest.Pull, remarks ...forge.Remark) forge.Draft {
	return forge.Draft{Commit: p.Head.SHA, Event: forge.Remarks, Body: "Some words.", Remarks: remarks}
}

// reviewsSent are the reviews that were sent: their bodies, and "pending" for those without an event.
func reviewsSent(t *testing.T, s *forgetest.Stage) (visible, pending int) {
	t.Helper()
	for _, r := range s.Script.Requests() {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.Path, "/pulls/8/reviews") {
			continue
		}
		var sent struct{ Body, Event string }
		if err := json.Unmarshal([]byte(r.Body), &sent); err != nil {
			t.Fatal(err)
		}
		if sent.Event != "" {
			visible++
			continue
		}
		pending++
		if sent.Body != probeBody {
			t.Errorf("a pending review says %q", sent.Body)
		}
	}
	return visible, pending
}

// TestProbing: one line of thirty that GitHub refuses is found in few requests, and nothing is left behind.
func TestProbing(t *testing.T) {
	s, c, repo, p := till(t)
	var remarks []forge.Remark
	for i := range forge.MaxRemarks {
		remarks = append(remarks, on(3, fmt.Sprint("remark ", i)))
	}
	remarks[17] = on(20, "nowhere")
	posted, err := c.Post(t.Context(), repo, 8, draft(p, remarks...))
	want := []forge.Rejected{{Remark: 17, Why: "Line could not be resolved"}}
	if err != nil || posted.Review == "" || !slices.Equal(posted.Rejected, want) || posted.Remarks[17] != "" {
		t.Fatalf("%+v, %v", posted, err)
	}
	visible, pending := reviewsSent(t, s)
	if visible != 2 || pending > 11 || s.World.Unsent(p) != 0 || len(s.World.Reviews(p)) != 1 {
		t.Errorf("%d visible and %d pending reviews were sent, %d are left", visible, pending, s.World.Unsent(p))
	}
	for i, id := range posted.Remarks {
		if i == 17 {
			continue
		}
		if m := s.World.Shown(p); !slices.ContainsFunc(m, func(m forge.Comment) bool {
			return m.ID == id && string(m.Body) == fmt.Sprint("remark ", i)
		}) {
			t.Errorf("remark %d is said to be %s", i, id)
		}
	}
}

// TestOwnPullRequest: with lines that GitHub refuses as well.
func TestOwnPullRequest(t *testing.T) {
	s, c, repo, p := till(t)
	s.World.Change(func() { p.Author = s.World.Me })
	d := draft(p, on(3, "good"), on(20, "bad"))
	d.Event = forge.RequestChanges
	posted, err := c.Post(t.Context(), repo, 8, d)
	if err != nil || posted.Review == "" || len(posted.Rejected) != 1 || len(posted.Unsupported) != 1 {
		t.Errorf("%+v, %v", posted, err)
	}
	if all := s.World.Reviews(p); len(all) != 1 || all[0].State != forgetest.Commented || all[0].Inline != 1 {
		t.Errorf("reviews %+v", all)
	}
}

// TestPendingInTheWay: what a crash while probing has left is deleted; what a
// person has begun is not, and nothing is posted.
func TestPendingInTheWay(t *testing.T) {
	for _, bad := range []bool{false, true} {
		s, c, repo, p := till(t)
		begin := func(body string) {
			t.Helper()
			post := &posting{client: c, do: c.begin(t.Context(), "begin", repo), number: 8, draft: draft(p, on(3, "half"))}
			if _, err := post.send("", body, []int{0}); err != nil {
				t.Fatal(err)
			}
		}
		begin(probeBody)
		remarks := []forge.Remark{on(3, "good")}
		if bad {
			remarks = append(remarks, on(20, "bad"))
		}
		posted, err := c.Post(t.Context(), repo, 8, draft(p, remarks...))
		if err != nil || posted.Review == "" || s.World.Unsent(p) != 0 || len(s.World.Reviews(p)) != 1 {
			t.Errorf("%+v, %v, %d reviews not sent", posted, err, s.World.Unsent(p))
		}
		begin("My own words, not ready.")
		_, err = c.Post(t.Context(), repo, 8, draft(p, remarks...))
		if e := trouble(err); e.Kind != forge.KindInvalid || e.Unsure ||
			!strings.Contains(e.Msg, "already has a pending review") || e.Hint == "" {
			t.Errorf("%+v", err)
		}
		if s.World.Unsent(p) != 1 || len(s.World.Reviews(p)) != 1 {
			t.Errorf("%d reviews, %d not sent", len(s.World.Reviews(p)), s.World.Unsent(p))
		}
	}
}

// TestPendingOfOthers is nobody's but theirs, should GitHub ever show it.
func TestPendingOfOthers(t *testing.T) {
	s, c, repo, p := till(t)
	s.Script.Plan(forgetest.Fault{
		Method: "GET", On: "/reviews", Status: 200,
		Body: `[{"id":77,"state":"PENDING","user":{"id":1,"login":"ann"},"body":"` + probeBody + `"}]`,
	})
	if posted, err := c.Post(t.Context(), repo, 8, draft(p, on(3, "good"), on(20, "bad"))); err != nil ||
		posted.Review == "" || s.Script.Left() != 0 {
		t.Errorf("%+v, %v", posted, err)
	}
	for _, r := range s.Script.Requests() {
		if strings.HasSuffix(r.Path, "/reviews/77") {
			t.Errorf("%s %s", r.Method, r.Path)
		}
	}
}

// TestTroubleWhileProbing leaves nothing visible, so that it is never unsure; and
// the next time everything is put right.
func TestTroubleWhileProbing(t *testing.T) {
	trouble := []forgetest.Fault{
		{Drop: true, After: true},
		{Status: 502, After: true},
		{Status: 500},
		{Cut: 20},
		{Status: 200, Body: "{}", After: true},
	}
	for _, f := range trouble {
		for _, method := range []string{"POST", "DELETE"} {
			for before := range 4 {
				s, c, repo, p := till(t)
				if method == "POST" {
					before++ // the first is the visible review
				}
				if before > 0 {
					s.Script.Plan(forgetest.Fault{Method: method, On: "/pulls/8/reviews", Times: before})
				}
				f.Method, f.On = method, "/pulls/8/reviews"
				s.Script.Plan(f)
				d := draft(p, on(3, "good"), on(20, "bad"), on(4, "good too"))
				posted, err := c.Post(t.Context(), repo, 8, d)
				var e *forge.Error
				visible := len(s.World.Reviews(p))
				switch {
				case err == nil: // there are three to delete, and what that answers does not matter
					if before != 3 && f.Body == "" || visible != 1 || posted.Review == "" {
						t.Errorf("%s %d %+v: %+v", method, before, f, posted)
					}
					continue
				case !errors.As(err, &e) || e.Unsure || visible != 0:
					t.Errorf("%s %d %+v: %+v, %d are seen", method, before, f, err, visible)
				}
				posted, err = c.Post(t.Context(), repo, 8, d)
				if err != nil || posted.Review == "" || len(posted.Rejected) != 1 || len(s.World.Reviews(p)) != 1 ||
					s.World.Unsent(p) != 0 {
					t.Errorf("%s %d %+v: afterwards %+v, %v", method, before, f, posted, err)
				}
			}
		}
	}
}

// TestNumbersOfRemarks: failing to read them is not an error; equal remarks have a number each.
func TestNumbersOfRemarks(t *testing.T) {
	s, c, repo, p := till(t)
	s.Script.Plan(forgetest.Fault{Method: "GET", On: "/comments", Status: 500, Times: 5})
	posted, err := c.Post(t.Context(), repo, 8, draft(p, on(3, "a"), on(4, "b")))
	if err != nil || posted.Review == "" || !slices.Equal(posted.Remarks, []precedent.ForgeID{"", ""}) {
		t.Errorf("%+v, %v", posted, err)
	}
	posted, err = c.Post(t.Context(), repo, 8, draft(p, on(3, "same"), on(4, "same"), on(3, " other\r\n")))
	if err != nil || posted.Remarks[0] == "" || posted.Remarks[1] == posted.Remarks[0] || posted.Remarks[2] == "" {
		t.Errorf("%+v, %v", posted, err)
	}
}

// TestNothingToPost: a draft of remarks on files alone makes no review.
func TestNothingToPost(t *testing.T) {
	s, c, repo, p := till(t)
	posted, err := c.Post(t.Context(), repo, 8, draft(p, on(0, "the file"),
		forge.Remark{Span: precedent.Span{Path: "a", Side: precedent.Right, Start: 5, End: 4}}))
	if err != nil || posted.Review != "" || len(posted.Rejected) != 2 || posted.Rejected[0].Why != onFile ||
		len(s.Script.Requests()) != 0 {
		t.Errorf("%+v, %v", posted, err)
	}
}

// TestOneCheck a name and commit, which later ones replace; another app's of the same name is left alone.
func TestOneCheck(t *testing.T) {
	s, g, _, repo := open(t)
	g.Actions()
	c := client(t, s, g)
	commit := shop(s).Pulls[1].Head.SHA
	other := forge.Person{ID: "5", Login: "other[bot]", Bot: true}
	s.World.Change(func() {
		shop(s).Checks = []forgetest.Check{{
			ID: 1, Commit: commit, Name: "precedent", Status: "completed", Conclusion: "success", By: other,
		}}
	})
	for i, result := range []forge.CheckResult{forge.Neutral, forge.Failure, forge.Success, "odd"} {
		cannot, err := c.Check(t.Context(), repo, forge.Check{
			Name: "precedent", Commit: commit, Review: fmt.Sprint("review ", i), Result: result, Title: "Two findings",
			Body: strings.Repeat("é", maxCheck+1), URL: "https://x.example/",
		})
		if cannot != "" || err != nil {
			t.Errorf("%q, %v", cannot, err)
		}
		all := s.World.ChecksOf(shop(s), commit)
		if len(all) != 2 {
			t.Fatalf("%d checks", len(all))
		}
		want := string(result)
		if result == "odd" {
			want = "neutral"
		}
		if k := all[1]; k.Conclusion != want || k.External != fmt.Sprint("review ", i) || k.Title != "Two findings" ||
			len([]rune(k.Summary)) > maxCheck || k.By.ID != forgetest.ActionsBot.ID {
			t.Errorf("%s: %s, %s, %s by %+v", result, k.Conclusion, k.External, k.Title, k.By)
		}
		if all[0].By != other || all[0].Conclusion != "success" {
			t.Errorf("the other's is %+v", all[0])
		}
	}
	if _, err := c.Check(t.Context(), repo, forge.Check{Name: "precedent", Commit: "../x"}); trouble(err).Kind != forge.KindRefused {
		t.Errorf("%v", err)
	}
	// A person's token may not.
	s, _, c, repo = open(t)
	cannot, err := c.Check(t.Context(), repo, forge.Check{Name: "precedent", Commit: commit, Result: forge.Success})
	if err != nil || cannot == "" || len(s.World.ChecksOf(shop(s), commit)) != 0 {
		t.Errorf("%q, %v", cannot, err)
	}
}
