package thread

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
)

var (
	start  = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	now    = start.Add(24 * time.Hour)
	me     = forge.Person{ID: "1", Login: "precedent[bot]", Bot: true}
	dana   = forge.Person{ID: "2", Login: "dana"} // may write
	ann    = forge.Person{ID: "3", Login: "ann"}  // the author
	robot  = forge.Person{ID: "4", Login: "dana", Bot: true}
	ghost  = forge.Person{Login: "ghost"}
	writer = comment.Writer{PullRequest: comment.PullRequest{Repo: repo, Number: 7}}
	repo   = precedent.Repo{Host: "example.com", Owner: "team", Name: "app"}
)

// mark is what our comments say of themselves. The name of a thread is its fingerprint too.
func mark(thread string) comment.Marker {
	return comment.Marker{
		Kind: comment.Finding, Thread: thread, Review: "r1", Head: "aaaa", Fingerprint: "f" + thread, Finding: "id" + thread,
		Category: precedent.Bugs, Severity: precedent.High, Confidence: 85, Title: "Title of " + thread,
	}
}

// talk builds what a forge says, a minute a comment.
type talk struct {
	writer   comment.Writer
	comments []forge.Comment
}

func (w *talk) say(by forge.Person, answers precedent.ForgeID, body string) precedent.ForgeID {
	id := precedent.NumberID(int64(100 + len(w.comments)))
	w.comments = append(w.comments, forge.Comment{
		ID: id, Kind: forge.OnLine, Author: by, Body: precedent.Untrusted(body),
		At:      start.Add(time.Duration(len(w.comments)) * time.Minute),
		ReplyTo: answers, URL: fmt.Sprint("https://example.com/", id),
		Span: precedent.Span{Path: "a.go", Side: precedent.Right, Start: 3, End: 3}, Commit: "aaaa",
	})
	return id
}

func (w *talk) opens(by forge.Person, thread string) precedent.ForgeID {
	f := precedent.Finding{
		Title: "Title of " + thread, Body: "Why.", Category: precedent.Bugs, Severity: precedent.High,
		Confidence: 85,
	}
	return w.say(by, "", w.writer.Finding(f, mark(thread), false))
}

func (w *talk) reply(by forge.Person, to precedent.ForgeID, thread string) precedent.ForgeID {
	return w.say(by, to, w.writer.Reply("It is still there.", comment.Marker{Thread: thread, Review: "r2", Head: "bbbb"}))
}

func (w *talk) self() Identity {
	return Identity{Number: 7, Me: me, Proven: true, Read: w.writer.Read, Now: now}
}

func mayWrite(p forge.Person) bool { return p.ID == dana.ID }

// known is a thread as it is stored after it was posted as a comment.
func known(thread string, comment precedent.ForgeID, state precedent.ThreadState) precedent.Thread {
	m := mark(thread)
	return precedent.Thread{
		ID: m.Thread, PullRequest: 7, Review: m.Review, Finding: m.Finding, Fingerprint: m.Fingerprint, Category: m.Category,
		Severity: m.Severity, Confidence: m.Confidence, Title: m.Title, Body: "Why.", Quote: "x := 1", Suggestion: "x := 2",
		Span: precedent.Span{Path: "a.go", Side: precedent.Right, Start: 3, End: 3}, Commit: "aaaa", Comment: comment,
		State: state, OpenedAt: start,
	}
}

func TestAssembleFromComments(t *testing.T) {
	var w talk
	w.writer = writer
	first := w.opens(me, "t1")
	second := w.opens(me, "t2")
	w.say(dana, first, "Why?")
	w.say(ann, second, "Fixed.")
	w.reply(me, second, "t2")
	// another kind's number
	w.comments = append(w.comments, forge.Comment{
		ID: first, Kind: forge.OnThread, Author: dana, Body: "won't fix",
		At: now,
	})
	got := Assemble(w.comments, nil, nil, w.self(), mayWrite)
	thread := func(n int, name string, state precedent.ThreadState, messages ...precedent.Message) precedent.Thread {
		c := w.comments[n]
		th := known(name, c.ID, state)
		th.Body, th.Quote, th.Suggestion, th.URL, th.OpenedAt, th.Messages = "", "", "", c.URL, c.At, messages
		return th
	}
	minute := func(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }
	want := []precedent.Thread{
		thread(0, "t1", precedent.ThreadPending,
			precedent.Message{ID: "102", Who: "dana", WhoID: "2", MayWrite: true, Body: "Why?", At: minute(2)}),
		thread(1, "t2", precedent.ThreadOpen,
			precedent.Message{ID: "103", Who: "ann", WhoID: "3", Body: "Fixed.", At: minute(3)},
			precedent.Message{ID: "104", Who: me.Login, WhoID: "1", Own: true, Body: w.comments[4].Body, At: minute(4)}),
	}
	needs.Equal(t, want, got)
	// What is stored says more than the comment, and stays.
	stored := known("t1", first, precedent.ThreadOpen)
	self := w.self()
	self.Proven = false
	got = Assemble(w.comments, nil, []precedent.Thread{stored}, self, mayWrite)
	stored.URL, stored.State, stored.Messages = w.comments[0].URL, precedent.ThreadPending, want[0].Messages
	needs.Equal(t, []precedent.Thread{stored}, got)
}

// TestWhoseThreadItIs: a comment opens a thread of ours by the number of its
// author, its mark, and what is known of the pull request; nothing else.
func TestWhoseThreadItIs(t *testing.T) {
	key := needs.Value(comment.NewKey(strings.Repeat("k", 32)))(t)
	signed := writer
	signed.Key = key
	elsewhere := signed
	elsewhere.PullRequest.Number = 8
	namesake := forge.Person{ID: "66", Login: me.Login, Bot: true}
	for _, test := range []struct {
		name   string
		writes comment.Writer // of the comment
		reads  comment.Writer
		by     forge.Person
		stored []precedent.Thread
		want   string // ids
	}{
		{"nothing is known", writer, writer, me, nil, ""},
		{"nothing is known, signed", signed, signed, me, nil, "t1"},
		{"by a namesake", writer, writer, namesake, nil, ""},
		{"by a deleted account", writer, writer, ghost, nil, ""},
		{"its thread is stored", writer, writer, me, []precedent.Thread{known("t1", "900", precedent.ThreadOpen)}, "t1"},
		{"its number is stored", writer, writer, me, []precedent.Thread{known("t1", "100", precedent.ThreadOpen)}, "t1"},
		{"others are stored", writer, writer, me, []precedent.Thread{known("t2", "", precedent.ThreadOpen)}, "t2"},
		{"others are stored, signed", signed, signed, me, []precedent.Thread{known("t2", "", precedent.ThreadOpen)}, "t1 t2"},
		{"signed for another pull request", elsewhere, signed, me, nil, ""},
		{"signed, by a namesake", signed, signed, namesake, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := talk{writer: test.writes}
			w.opens(test.by, "t1")
			self := Identity{Number: 7, Me: me, Read: test.reads.Read, Proven: !test.reads.Key.IsZero(), Now: now}
			ids := needs.Each(Assemble(w.comments, nil, test.stored, self, mayWrite),
				func(th precedent.Thread) string { return th.ID })
			slices.Sort(ids)
			needs.Equal(t, test.want, strings.Join(ids, " "))
		})
	}
	w := talk{writer: writer}
	w.opens(ghost, "t1")
	if got := Assemble(w.comments, nil, nil, Identity{Number: 7, Me: ghost, Read: writer.Read, Now: now}, mayWrite); len(got) > 0 {
		t.Errorf("an account without a number owns %v", got)
	}
}

func TestStates(t *testing.T) {
	const isOpen, pending, wontFix = precedent.ThreadOpen, precedent.ThreadPending, precedent.ThreadWontFix
	const resolved, addressed = precedent.ThreadResolved, precedent.ThreadAddressed
	says := func(who forge.Person, words string) func(*talk) { return func(w *talk) { w.say(who, "100", words) } }
	we := func(w *talk) { w.reply(me, "100", "t1") }
	both := func(first, then func(*talk)) func(*talk) { return func(w *talk) { first(w); then(w) } }
	person := forge.Person{ID: "1", Login: "kim"} // Me with a personal token
	stored := func(state precedent.ThreadState, change func(*precedent.Thread)) []precedent.Thread {
		th := known("t1", "100", state)
		change(&th)
		return []precedent.Thread{th}
	}
	asIs := func(state precedent.ThreadState) []precedent.Thread { return stored(state, func(*precedent.Thread) {}) }
	hole := stored(isOpen, func(th *precedent.Thread) { th.Category = precedent.Security })
	heard := stored(isOpen, func(th *precedent.Thread) { th.Messages = []precedent.Message{{ID: "101", Body: "Hm."}} })
	wasClosed := func(state precedent.ThreadState) []precedent.Thread {
		return stored(state, func(th *precedent.Thread) { th.Closed = true })
	}
	closed := func(by forge.Person) *forge.Thread { return &forge.Thread{ID: "c1", Closed: true, ClosedBy: by} }
	open := &forge.Thread{ID: "c1"}
	for _, test := range []struct {
		name   string
		stored []precedent.Thread
		said   func(w *talk)
		conv   *forge.Thread
		as     forge.Person // Me, if it is not the bot
		want   precedent.ThreadState
	}{
		{name: "nothing was said", want: isOpen},
		{name: "a person asked", said: says(ann, "Why?"), want: pending},
		{name: "we answered", said: both(says(ann, "Why?"), we), want: isOpen},
		{name: "a person asked on", said: both(we, says(ann, "Why?")), want: pending},
		{name: "a program spoke", said: says(robot, "Won't fix."), want: isOpen},
		{name: "declined", said: says(dana, "Won't fix."), want: wontFix},
		{name: "declined by the author", said: says(ann, "Won't fix."), want: pending},
		{name: "closed by a person", conv: closed(dana), want: resolved},
		{name: "closed by the author", conv: closed(ann), want: isOpen},
		{name: "closed by the author after the fix", conv: closed(ann), stored: asIs(addressed), want: addressed},
		{name: "a security finding, closed by a writer", conv: closed(dana), stored: hole, want: resolved},
		{name: "a security finding, closed by the author", conv: closed(ann), stored: hole, want: isOpen},
		{name: "closed by us", conv: closed(me), stored: asIs(addressed), want: addressed},
		{name: "closed by us, and thanked", conv: closed(me), said: says(ann, "Thanks!"), want: addressed},
		{name: "closed by us, and declined", conv: closed(me), said: says(dana, "Not a bug."), want: wontFix},
		{name: "by somebody, as we would have", conv: closed(forge.Person{}), stored: asIs(addressed), want: addressed},
		{name: "closed by a person, when we would have", conv: closed(dana), stored: asIs(addressed), want: resolved},
		{name: "closed with our account", as: person, conv: closed(person), stored: asIs(isOpen), want: isOpen},
		{name: "so, when we would have", as: person, conv: closed(person), stored: asIs(addressed), want: addressed},
		{name: "addressed, and asked", conv: open, stored: asIs(addressed), said: says(ann, "Is it?"), want: pending},
		{name: "opened again by a person", conv: open, stored: wasClosed(addressed), want: isOpen},
		{name: "dismissed by a reaction, which Dismiss looks for", stored: stored(wontFix, func(th *precedent.Thread) { th.DismissedBy = "dana" }), want: isOpen},
		{name: "dismissed in words that are still there", conv: open, stored: wasClosed(wontFix), said: says(dana, "Won't fix."), want: wontFix},
		{name: "resolved, and the forge does not tell any more", stored: wasClosed(resolved), want: resolved},
		{name: "a review looked at what was said", said: says(ann, "Hm."), stored: heard, want: isOpen},
		{name: "it was edited since", said: says(ann, "Hm, why?"), stored: heard, want: pending},
		{name: "a person uses our account", as: person, said: says(person, "Why?"), want: pending},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := talk{writer: writer}
			self := w.self()
			if test.as.ID != "" {
				self.Me = test.as
			}
			w.opens(self.Me, "t1")
			if test.said != nil {
				test.said(&w)
			}
			var convs []forge.Thread
			if test.conv != nil {
				conv := *test.conv
				for _, c := range w.comments {
					conv.Comments = append(conv.Comments, c.ID)
				}
				convs = []forge.Thread{conv}
			}
			got := Assemble(w.comments, convs, test.stored, self, mayWrite)
			if len(got) != 1 || got[0].State != test.want {
				t.Errorf("%+v, want one that is %s", got, test.want)
			}
			if test.conv != nil && test.conv.ID != "" && (got[0].Forge != "c1" || got[0].Closed != test.conv.Closed) {
				t.Errorf("conversation %q, closed %v", got[0].Forge, got[0].Closed)
			}
		})
	}
}

func TestGone(t *testing.T) {
	w := talk{writer: writer}
	deleted, inSummary := known("t1", "555", precedent.ThreadOpen), known("t2", "", precedent.ThreadOpen)
	deleted.Messages = []precedent.Message{{ID: "556", Who: "dana", WhoID: "2", Body: "Why?"}}
	stored := []precedent.Thread{deleted, inSummary}
	got := Assemble(nil, nil, stored, w.self(), mayWrite)
	if !got[0].Deleted || got[0].State != precedent.ThreadWontFix || len(got[0].Messages) != 1 || got[1].Deleted ||
		got[1].State != precedent.ThreadOpen {
		t.Errorf("%+v", got)
	}
	for name, self := range map[string]Identity{
		"not all comments were read": {Number: 7, Me: me, Read: writer.Read, Now: now, Partial: true},
		"it was just posted":         {Number: 7, Me: me, Read: writer.Read, Now: start.Add(30 * time.Second)},
	} {
		if got := Assemble(nil, nil, stored, self, mayWrite); got[0].Deleted || got[0].State != precedent.ThreadOpen {
			t.Errorf("%s: %+v", name, got[0])
		}
	}
	// It was not deleted after all, or another comment of ours says the same.
	gone := deleted
	gone.Deleted, gone.State = true, precedent.ThreadWontFix
	w.opens(me, "t1")
	w.opens(me, "t1")
	got = Assemble(w.comments, nil, []precedent.Thread{gone}, w.self(), mayWrite)
	if len(got) != 1 || got[0].Deleted || got[0].State != precedent.ThreadOpen || got[0].Comment != "100" {
		t.Errorf("%+v", got)
	}
	if got := Assemble(nil, nil, []precedent.Thread{gone}, w.self(), mayWrite); !got[0].Deleted {
		t.Errorf("it came back from nowhere: %+v", got[0])
	}
	// Without signatures, a comment that another one of our account replaced was not dismissed by deleting it, and the
	// other one opens no thread.
	self := w.self()
	self.Proven = false
	got = Assemble(w.comments[:1], nil, []precedent.Thread{known("t1", "900", precedent.ThreadOpen)}, self, mayWrite)
	if len(got) != 1 || got[0].Deleted || got[0].Comment != "" || got[0].State != precedent.ThreadOpen {
		t.Errorf("%+v", got)
	}
}

// TestStandsByItsNumber: a comment that the store knows was not deleted because its
// mark cannot be read any more, or because another account posts now.
func TestStandsByItsNumber(t *testing.T) {
	key := needs.Value(comment.NewKey(strings.Repeat("another key", 3)))(t)
	rekeyed, renamed := writer, writer
	rekeyed.Key, renamed.Key, renamed.PullRequest.Repo.Name = key, key, "application"
	former := forge.Person{ID: "9", Login: "former[bot]", Bot: true}
	for name, test := range map[string]struct {
		by     forge.Person
		reader comment.Writer
	}{
		"another key": {me, rekeyed}, "another name of the repository": {me, renamed}, "another account": {former, writer},
	} {
		w := talk{writer: writer}
		w.opens(test.by, "t1")
		w.say(ann, "100", "Why?")
		self := w.self()
		self.Read, self.Proven = test.reader.Read, !test.reader.Key.IsZero()
		got := Assemble(w.comments, nil, []precedent.Thread{known("t1", "100", precedent.ThreadOpen)}, self, mayWrite)
		if len(got) != 1 || got[0].Deleted || got[0].State != precedent.ThreadPending || len(got[0].Messages) != 1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestSharedConversations: where a forge groups by line, two findings share a
// conversation, and people may have opened it.
func TestSharedConversations(t *testing.T) {
	w := talk{writer: writer}
	w.say(ann, "", "I wonder about this line.")
	w.opens(me, "t1")
	w.say(ann, "", "About the first.")
	second := w.opens(me, "t2")
	w.say(dana, "", "Won't fix.")
	w.say(ann, "101", "The first again.")
	conv := forge.Thread{}
	for _, c := range w.comments {
		conv.Comments = append(conv.Comments, c.ID)
	}
	got := Assemble(w.comments, []forge.Thread{conv}, nil, w.self(), mayWrite)
	if len(got) != 2 || len(got[0].Messages) != 2 || len(got[1].Messages) != 1 || got[1].Comment != second {
		t.Fatalf("%+v", got)
	}
	if got[0].State != precedent.ThreadPending || got[1].State != precedent.ThreadWontFix {
		t.Errorf("%s, %s", got[0].State, got[1].State)
	}
}

// TestMessagesHaveNoCredentials: messages are stored, and their credentials are not.
func TestMessagesHaveNoCredentials(t *testing.T) {
	w := talk{writer: writer}
	w.opens(me, "t1")
	w.say(dana, "100", "Won't fix: AKIA"+"QYLPMN5HFIQR7XYA is a fixture.")
	got := Assemble(w.comments, nil, nil, w.self(), mayWrite)
	if said := string(got[0].Messages[0].Body); strings.Contains(said, "QYLPMN5HFIQR7XYA") || got[0].State != precedent.ThreadWontFix {
		t.Errorf("%s: %s", got[0].State, said)
	}
}

// TestFlood: thousands of comments and people cost bounded work.
func TestFlood(t *testing.T) {
	w := talk{writer: writer}
	first := w.opens(me, "t1")
	for i := range 5_000 {
		w.say(forge.Person{ID: precedent.NumberID(int64(1_000 + i)), Login: "dana"}, first,
			"Won't fix. "+strings.Repeat("x", 20_000))
	}
	asked := map[precedent.ForgeID]int{}
	got := Assemble(w.comments, nil, nil, w.self(), func(p forge.Person) bool {
		asked[p.ID]++
		return false
	})
	if len(asked) != maxAsked || len(got[0].Messages) != maxMessages || len(got[0].Messages[0].Body) > maxMessage+3 {
		t.Errorf("%d people asked, %d messages of %d bytes", len(asked), len(got[0].Messages), len(got[0].Messages[0].Body))
	}
	needs.Equal(t, precedent.ThreadPending, got[0].State)
}

func TestApply(t *testing.T) {
	said := []precedent.Message{{ID: "1", Who: "ann", WhoID: "3"}}
	heard := []precedent.Message{{ID: "1", Who: "dana", WhoID: "2", MayWrite: true}}
	for _, test := range []struct {
		from     precedent.ThreadState
		answer   precedent.AnswerState
		messages []precedent.Message
		want     precedent.ThreadState
		reply    string
	}{
		{precedent.ThreadOpen, precedent.Addressed, nil, precedent.ThreadAddressed, ""},
		{precedent.ThreadOpen, precedent.StillThere, nil, precedent.ThreadOpen, ""},
		{precedent.ThreadPending, precedent.StillThere, said, precedent.ThreadOpen, "It is there."},
		{precedent.ThreadPending, precedent.StillThere, said, precedent.ThreadPending, ""},
		{precedent.ThreadPending, precedent.Unanswered, said, precedent.ThreadPending, ""},
		{precedent.ThreadAddressed, precedent.StillThere, nil, precedent.ThreadOpen, ""},
		{precedent.ThreadPending, precedent.DeclinedHere, heard, precedent.ThreadWontFix, ""},
		{precedent.ThreadPending, precedent.DeclinedHere, said, precedent.ThreadOpen, ""},
		{precedent.ThreadResolved, precedent.StillThere, nil, precedent.ThreadResolved, ""},
		{precedent.ThreadWontFix, precedent.Addressed, nil, precedent.ThreadWontFix, ""},
	} {
		given := []precedent.Thread{{ID: "t1", State: test.from, Messages: test.messages}}
		got := Apply(given, &precedent.Review{Head: "head", Threads: []precedent.ThreadAnswer{
			{Thread: "t1", State: test.answer, Reply: test.reply},
			{Thread: "stranger", State: precedent.Addressed},
		}})
		if got[0].State != test.want || given[0].State != test.from {
			t.Errorf("%s, %s: %s, want %s", test.from, test.answer, got[0].State, test.want)
		}
	}
}
