package github

import (
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

// reviewsSent counts the requests for a review.
func reviewsSent(s *forgetest.Stage) (n int) {
	for _, r := range s.Script.Requests() {
		if r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/pulls/8/reviews") {
			n++
		}
	}
	return n
}

// TestRejectedAgain: what the diff does not explain is an error after at most two reviews.
func TestRejectedAgain(t *testing.T) {
	refusal := forgetest.Fault{Method: "POST", On: "/reviews", Status: 422, Body: `{"message":"no"}`, Times: 9}
	for name, test := range map[string]struct {
		faults  []forgetest.Fault
		remarks []forge.Remark
		want    forge.ErrorKind
		sent    int
	}{
		"good lines":    {[]forgetest.Fault{refusal}, []forge.Remark{on(3, "good")}, forge.KindInvalid, 1},
		"one bad line":  {[]forgetest.Fault{refusal}, []forge.Remark{on(3, "good"), on(20, "bad")}, forge.KindInvalid, 2},
		"only bad ones": {nil, []forge.Remark{on(20, "bad")}, "", 1},
		"on the file":   {nil, []forge.Remark{on(0, "the file")}, "", 0},
	} {
		s, c, repo, p := till(t)
		s.Script.Plan(test.faults...)
		posted, err := c.Post(t.Context(), repo, 8, draft(p, test.remarks...))
		var e *forge.Error
		if test.want == "" && (err != nil || posted.Review != "" || len(posted.Rejected) != 1) ||
			test.want != "" && (!errors.As(err, &e) || e.Kind != test.want || e.Unsure) {
			t.Errorf("%s: %+v, %+v", name, posted, err)
		}
		if sent := reviewsSent(s); sent != test.sent || len(s.World.Reviews(p)) != 0 {
			t.Errorf("%s: %d reviews were sent", name, sent)
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

// TestOneCheck a name and commit, which later ones replace; another app's and a job's of the same name are left alone.
func TestOneCheck(t *testing.T) {
	s, g, _, repo := open(t)
	g.Actions()
	c := client(t, s, g)
	commit := shop(s).Pulls[1].Head.SHA
	other := forge.Person{ID: "5", Login: "other[bot]", Bot: true}
	s.World.Change(func() {
		of := forgetest.Check{ID: 1, Commit: commit, Name: "precedent", Status: "completed", Conclusion: "success", By: other}
		job := of
		job.ID, job.By, job.Job = 2, forgetest.ActionsBot, true
		shop(s).Checks = []forgetest.Check{of, job}
	})
	for i, result := range []forge.CheckResult{forge.Neutral, forge.Failure, forge.Success, "odd"} {
		cannot, err := c.Check(t.Context(), repo, forge.Check{
			Name: "precedent", Commit: commit, Review: fmt.Sprint("review ", i), Result: result, Title: "Two findings",
			Body: strings.Repeat("é", maxCheck+1), URL: "https://x.example/",
		})
		all := s.World.ChecksOf(shop(s), commit)
		if cannot != "" || err != nil || len(all) != 3 {
			t.Fatalf("%q, %v, %d checks", cannot, err, len(all))
		}
		want := string(result)
		if result == "odd" {
			want = "neutral"
		}
		if k := all[2]; k.Conclusion != want || k.External != fmt.Sprint("review ", i) || k.Title != "Two findings" ||
			len(k.Summary) < maxCheck || k.By.ID != forgetest.ActionsBot.ID {
			t.Errorf("%s: %s, %s, %s by %+v", result, k.Conclusion, k.External, k.Title, k.By)
		}
		if all[0].By != other || all[0].Conclusion != "success" {
			t.Errorf("the other's is %+v", all[0])
		}
	}
	if _, err := c.Check(t.Context(), repo, forge.Check{Name: "precedent", Commit: "../x"}); trouble(err).Kind != forge.KindRefused {
		t.Errorf("%v", err)
	}
	s.Script.Plan(forgetest.Fault{Status: 403, Body: `{"message":"Resource not accessible by personal access token"}`})
	if cannot, err := c.Check(t.Context(), repo, forge.Check{Name: "precedent", Commit: commit}); cannot == "" || err != nil {
		t.Errorf("by a personal token: %q, %v", cannot, err)
	}
}
