package post

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
)

// TestPlanForAThread: what is done in a thread by what the review says of it, and
// never against a person.
func TestPlanForAThread(t *testing.T) {
	me := "precedent[bot]"
	for _, test := range []struct {
		name   string
		thread precedent.Thread
		answer precedent.AnswerState
		reply  string
		want   []store.PostKind
	}{
		{"addressed", precedent.Thread{}, precedent.Addressed, "Fixed.", []store.PostKind{store.PostReply, store.PostClose}},
		{"addressed, without a word", precedent.Thread{}, precedent.Addressed, "", []store.PostKind{store.PostClose}},
		{"no longer there", precedent.Thread{}, precedent.NoLonger, "", []store.PostKind{store.PostClose}},
		{"still there", precedent.Thread{}, precedent.StillThere, "It is.", []store.PostKind{store.PostReply}},
		{"nobody can tell", precedent.Thread{}, precedent.Unanswered, "", nil},
		{"declined", precedent.Thread{}, precedent.DeclinedHere, "Understood.", []store.PostKind{store.PostReply}},
		{"addressed and closed already", precedent.Thread{Closed: true, ClosedBy: me}, precedent.Addressed, "", nil},
		{"addressed and settled", precedent.Thread{State: precedent.ThreadWontFix}, precedent.Addressed, "", nil},
		{
			"back after we closed it",
			precedent.Thread{Closed: true, ClosedBy: me, State: precedent.ThreadAddressed},
			precedent.StillThere, "Back.",
			[]store.PostKind{store.PostReply, store.PostReopen},
		},
		{
			"back, and the forge does not tell who closed it",
			precedent.Thread{Closed: true, State: precedent.ThreadAddressed},
			precedent.StillThere, "",
			[]store.PostKind{store.PostReopen},
		},
		{
			"there, and somebody closed it",
			precedent.Thread{Closed: true, State: precedent.ThreadResolved},
			precedent.StillThere, "", nil,
		},
		{
			"there, and a person closed it",
			precedent.Thread{Closed: true, ClosedBy: "bo", State: precedent.ThreadAddressed},
			precedent.StillThere, "", nil,
		},
		{
			"there, and a person said no",
			precedent.Thread{Closed: true, ClosedBy: me, State: precedent.ThreadWontFix},
			precedent.StillThere, "", nil,
		},
		{"comment deleted", precedent.Thread{Deleted: true}, precedent.Addressed, "Fixed.", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			number := 1
			test.thread.ID, test.thread.Comment = "t", "7"
			p := &Poster{Me: forge.Person{ID: "1", Login: me}, NewID: func() string { return "id" }}
			r := &precedent.Review{
				ID: "r", PullRequest: &number,
				Threads: []precedent.ThreadAnswer{{Thread: "t", State: test.answer, Reply: test.reply}},
			}
			var got []store.PostKind
			for _, post := range p.Plan(r, []precedent.Thread{test.thread}, Options{}) {
				if post.Kind != store.PostSummary && post.Kind != store.PostCheck {
					got = append(got, post.Kind)
				}
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
			test.thread.Comment = "" // it stands in the summary
			if posts := p.Plan(r, []precedent.Thread{test.thread}, Options{}); len(posts) != 2 {
				t.Errorf("%d posts for what stands in the summary", len(posts))
			}
		})
	}
}
