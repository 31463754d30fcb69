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
		planned, err := p.PlanAnswer(s.pull.Number, s.pull.Head.SHA, a)
		needs.NoError(s.t, err)
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
	posts, err := s.rows.AnswerPosts(s.t.Context(), s.pull.Number)
	needs.NoError(s.t, err)
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

// TestAnswersAwaitTheReview: answers that wait for a review are in its text, once, although the program
// died before it knew of that. If nothing new is found, or the forge refuses the review, they are a comment.
func TestAnswersAwaitTheReview(t *testing.T) {
	for kind, inThreads := range map[string]int{"gitea 1.26": 0, "": 6} {
		for name, c := range map[string]struct {
			found []precedent.Finding
			mails int // of a review that answers, or of the answers alone
		}{"new findings": {findings(1, 2), 1}, "nothing new": {nil, 1}} {
			t.Run(name+" on "+kind, func(t *testing.T) {
				s := newStageOn(t, kind)
				s.say(1, findings(1, 1)...)
				before := s.World.Mails(s.pull, s.poster.Me)
				mails := func(step string, want int) {
					t.Helper()
					if got := s.World.Mails(s.pull, s.poster.Me) - before; got != want {
						t.Errorf("%s: %d mails, want %d", step, got, want)
					}
				}
				s.asks(s.poster, 8, "")
				s.poster.AwaitReview = true
				s.answer(s.poster)
				mails("before the review", inThreads)
				s.say(2, c.found...)
				s.died()
				s.answer(s.poster)
				mails("after it", inThreads+c.mails)
				s.wantAnswers(8)
			})
		}
	}
}
