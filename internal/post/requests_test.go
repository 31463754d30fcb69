package post

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// TestRequestsOfSixPushes counts what six pushes with 60 findings cost: the first push has all of
// them, the next four ten other ones each time, and the last one fixes 60. Without replies, that
// takes 65 requests that write, and nobody is notified 60 times.
func TestRequestsOfSixPushes(t *testing.T) {
	for _, kind := range []string{"gitea 1.27", "gitea 1.25"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newStageOn(t, kind)
			for push := 1; push <= 6; push++ {
				r := s.review(push)
				known := map[string]string{}
				for _, th := range s.threads() {
					known[th.Fingerprint] = th.ID
				}
				switch push {
				case 1:
					r.Findings = findings(1, 60)
				case 6:
					r = s.answered(push, precedent.Addressed, "Fixed: it counts right.", s.threads()[:60]...)
				default:
					r.Findings = findings(1, min(80, 60+10*(push-1)))
					for i := range r.Findings {
						r.Findings[i].Thread = known[r.Findings[i].Fingerprint]
					}
				}
				if len(r.Live()) > 0 {
					r.Verdict = precedent.Findings
				}
				s.plan(r, failOn)
				before := len(s.Script.Requests())
				d := s.deliver()
				notices := 0
				for _, w := range s.writes(before) {
					if w.Method == http.MethodPost && !strings.Contains(w.Path, "/statuses/") &&
						!strings.HasSuffix(w.Path, "resolve") {
						notices++
					}
				}
				writes := len(s.writes(before))
				replies := kind == "gitea 1.27"
				switch {
				case push == 6 && !replies && (writes > 65 || notices > 1 || d.Edits != 60):
					t.Errorf("60 fixes took %d requests and %d notices", writes, notices)
				case push == 6 && replies && (writes > 125 || d.Replies != 60):
					t.Errorf("60 fixes took %d requests", writes)
				case push == 1 && (writes > 5 || notices > 3), push > 1 && push < 6 && (writes > 4 || notices > 1):
					t.Errorf("push %d took %d requests and %d notices", push, writes, notices)
				}
				s.World.Push(s.pull, sha(string("defabc"[push-1])), patch(lines))
			}
			for _, c := range s.World.By(s.pull, s.poster.Me) {
				if n := strings.Count(string(c.Body), "Update of"); c.Kind == forge.OnLine && c.ReplyTo == "" && n > 1 {
					t.Errorf("%d updates in\n%s", n, c.Body)
				}
			}
		})
	}
}

// TestACommentThatPeopleEdited: without replies, our answer goes below what people wrote into
// the comment; what they made theirs is left alone, and the answer is in the summary.
func TestACommentThatPeopleEdited(t *testing.T) {
	s := newStageOn(t, "gitea 1.25")
	s.say(1, findings(1, 3)...)
	ts := s.threads()
	body := map[precedent.ForgeID]string{}
	for _, c := range s.World.By(s.pull, s.poster.Me) {
		body[c.ID] = string(c.Body)
	}
	ref := func(n int) forge.CommentRef { return forge.CommentRef{Kind: forge.OnLine, ID: ts[n].Comment} }
	s.World.Rewrite(s.pull, ref(1), strings.Replace(body[ts[1].Comment], "\n\n<sub>", "\n\nBo: we know.\n\n<sub>", 1))
	s.World.Rewrite(s.pull, ref(2), "Bo: not here.")
	for n := 2; n < 12; n++ {
		s.World.Push(s.pull, sha(string("defabc0123456789"[n])), patch(lines))
		s.plan(s.answered(n, precedent.StillThere, fmt.Sprintf("Still there, look %d.", n), ts...), failOn)
		s.deliver()
	}
	for _, c := range s.World.By(s.pull, s.poster.Me) {
		updates := strings.Count(string(c.Body), "Update of")
		switch {
		case c.ID == ts[0].Comment && (updates != 5 || !strings.Contains(string(c.Body), "look 11")),
			c.ID == ts[1].Comment && (updates != 5 || !strings.Contains(string(c.Body), "Bo: we know.")),
			c.ID == ts[2].Comment && string(c.Body) != "Bo: not here.":
			t.Errorf("it is\n%s", c.Body)
		}
	}
	if got := s.states(); got["reply confirmed"] != 20 || got["reply rejected"] != 10 {
		t.Error(got)
	}
}
