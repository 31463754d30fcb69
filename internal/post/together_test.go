package post

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// asks plans so many answers: six in conversations, the others on the pull request.
func (s *stage) asks(p *Poster, n int, words string) {
	s.t.Helper()
	threads := s.threads()
	for i := range n {
		a := ToComment{
			Key: fmt.Sprintf("comment.%d.0123abcd", 100+i), URL: "https://" + s.repo.Host + "/c",
			Parts: []string{fmt.Sprintf("Answer %d. %s", i, words)},
		}
		if i < 6 {
			a.Key, a.Root = strings.Replace(a.Key, "comment", "inline", 1), threads[0].Comment
		}
		planned := needs.Value(p.PlanAnswer(s.pull.Number, s.pull.Head.SHA, a))(s.t)
		needs.NoError(s.t, p.Rows.SaveHandled(s.t.Context(), s.pull.Number,
			store.HandledComment{Comment: a.Key, Hash: "h", At: s.Clock.Now()}, planned))
	}
}

// wantAnswers checks how many answers people see, each once.
func (s *stage) wantAnswers(want int) {
	s.t.Helper()
	all := map[string]int{}
	w := s.writer()
	for _, c := range s.World.By(s.pull, s.poster.Me) {
		if m, ok := w.Read(string(c.Body)); ok && (m.Kind == comment.Answer || m.Kind == comment.Review) {
			for _, key := range m.AllAnswers() {
				all[key]++
			}
		}
	}
	for key, n := range all {
		if n != 1 {
			s.t.Errorf("%s is answered %d times", key, n)
		}
	}
	if len(all) != want {
		s.t.Errorf("%d answers: %v", len(all), all)
	}
}

// died is a program that starts anew after one that died before it knew that its answers were sent.
func (s *stage) died() {
	s.t.Helper()
	posts := needs.Value(s.rows.AnswerPosts(s.t.Context(), s.pull.Number))(s.t)
	for i := range posts {
		if posts[i].State.Done() {
			posts[i].State, posts[i].Remote = store.PostSending, ""
		}
	}
	needs.NoError(s.t, s.rows.SetPosts(s.t.Context(), posts...))
	s.again()
}

func (s *stage) answer(p *Poster) {
	s.t.Helper()
	if d, err := p.DeliverAnswers(s.t.Context(), s.repo, s.pull.Number); err != nil || d.Left != 0 {
		s.t.Fatalf("%+v, %v", d, err)
	}
}

// TestAnswersOfARoundAreOneMail: where a forge has no replies, all answers of a round are one comment,
// which is found again although the program died before it knew its number. Where it has replies, those
// on the pull request are one.
func TestAnswersOfARoundAreOneMail(t *testing.T) {
	for kind, mails := range map[string]int{"gitea 1.26": 1, "gitea 1.25": 1, "gitea 1.27": 7, "": 7} {
		t.Run("on "+kind, func(t *testing.T) {
			s := newStageOn(t, kind)
			s.say(1, findings(1, 1)...)
			before := s.World.Mails(s.pull, s.poster.Me)
			if want := 2; kind != "" && before != want { // a review, and the summary
				t.Errorf("%d mails of the first review, want %d", before, want)
			}
			s.asks(s.poster, 8, "<!-- answer comment.9.ff --> @everyone")
			s.answer(s.poster)
			if got := s.World.Mails(s.pull, s.poster.Me) - before; got != mails {
				t.Errorf("%d mails, want %d", got, mails)
			}
			s.died()
			s.answer(s.poster)
			s.wantAnswers(8)
			if got := s.World.Mails(s.pull, s.poster.Me) - before; got != mails {
				t.Errorf("%d mails after it died", got)
			}
		})
	}
}

// TestManyAnswersFit: what does not fit one comment is in another one, whole.
func TestManyAnswersFit(t *testing.T) {
	s := newStageOn(t, "gitea 1.26")
	s.say(1, findings(1, 1)...)
	before := len(s.World.By(s.pull, s.poster.Me))
	s.asks(s.poster, 50, strings.Repeat("word ", 390))
	s.answer(s.poster)
	all := s.World.By(s.pull, s.poster.Me)[before:]
	for _, c := range all {
		if n := len([]rune(string(c.Body))); n > forge.MaxPost {
			t.Errorf("%d characters", n)
		}
	}
	s.wantAnswers(50)
	if len(all) < 2 || len(all) > 8 {
		t.Errorf("%d comments", len(all))
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
