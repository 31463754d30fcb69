package forgetest

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
)

// till is the pull request that the tests write to.
const till = 8

// writing is the part of the suite that makes changes.
func writing(t *testing.T, build Build) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(*testing.T, *Stage, forge.Forge, *Pull)
	}{
		{"a review", postsReview},
		{"a review with remarks outside the diff", rejectsRemarks},
		{"a review without remarks", postsBodyOnly},
		{"too many remarks", tooManyRemarks},
		{"an unknown commit", unknownCommit},
		{"request changes", requestsChanges},
		{"take a request for changes back", takesRequestsBack},
		{"a pending review of a person", leavesPendingReview},
		{"locked, archived and deleted", refusesClosed},
		{"comments are edited and deleted", editsAndDeletes},
		{"only own comments are changed", sparesOthersComments},
		{"conversations", repliesAndResolves},
		{"more conversations than a page", manyConversations},
		{"reactions", readsReactions},
		{"checks", setsChecks},
		{"labels", setsLabels},
		{"long texts", boundsText},
		{"odd texts", keepsOddText},
		{"writers at once", writersAtOnce},
		{"a second between writes", spacesWrites},
		{"other hosts", refusesOtherHosts},
		{"comments without a number", refusesOtherIDs},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, f, p := writable(t, build)
			test.run(t, s, f, p)
		})
	}
	t.Run("faults", func(t *testing.T) { writeFaults(t, build) })
}

// writable returns a stage with Till.
func writable(t *testing.T, build Build) (*Stage, forge.Forge, *Pull) {
	t.Helper()
	s, p := NewStage(t), Till()
	shop := Shop()
	shop.Pulls[till] = p
	s.World.Add(shop)
	return s, build(t, s), p
}

// remarkAt is a remark on lines of a side of a file.
func remarkAt(path string, side precedent.Side, start, end int, body string) forge.Remark {
	return forge.Remark{Span: precedent.Span{Path: path, Side: side, Start: start, End: end}, Body: body}
}

// A remark on each kind of place that there is.
var goodRemarks = []forge.Remark{
	remarkAt("src/till.go", precedent.Right, 3, 3, "one line"),
	remarkAt("src/till.go", precedent.Left, 3, 3, "the old line"),
	remarkAt("src/till.go", precedent.Right, 41, 43, "a range"),
	remarkAt("größe/尺寸.go", precedent.Right, 3, 3, "größe 尺寸 📐"),
	remarkAt("new notes.txt", precedent.Right, 2, 2, "blanks"),
	remarkAt("gone.go", precedent.Left, 1, 2, "a deleted file"),
	remarkAt("src/till.go", precedent.Right, 3, 3, "the same line again"),
	remarkAt("src/till.go", precedent.Right, 1, 1, "context"),
	remarkAt("new notes.txt", precedent.Left, 2, 2, "the old side of a file, by its new name"),
}

var badRemarks = []forge.Remark{
	remarkAt("src/till.go", precedent.Right, 20, 20, "between the hunks"),
	remarkAt("src/till.go", precedent.Right, 999, 999, "behind the end"),
	remarkAt("src/till.go", precedent.Left, 44, 44, "the other side's number"),
	remarkAt("src/till.go", precedent.Right, 4, 42, "over two hunks"),
	remarkAt("src/other.go", precedent.Right, 1, 1, "a file that is not changed"),
	remarkAt("old notes.txt", precedent.Right, 2, 2, "an old name"),
	remarkAt("gone.go", precedent.Right, 1, 1, "the new side of a deleted file"),
	remarkAt("logo.png", precedent.Right, 1, 1, "a line of a picture"),
	remarkAt("src/till.go", precedent.Right, 6, 7, "over the edge of a hunk"),
}

func draftOf(p *Pull, remarks ...forge.Remark) forge.Draft {
	return forge.Draft{Commit: p.Head.SHA, Event: forge.Remarks, Body: "Some words.", Remarks: remarks}
}

func postsReview(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	me, err := f.Me(t.Context())
	if err != nil || me != s.World.Me {
		t.Errorf("the account that posts is %+v, %v, want %+v", me, err, s.World.Me)
	}
	d := draftOf(p, append(slices.Clone(goodRemarks), remarkAt("src/till.go", precedent.Right, 0, 0,
		"the file as a whole"))...)
	posted, err := f.Post(t.Context(), repo(f), till, d)
	needs.NoError(t, err)
	onFile := len(goodRemarks) // which not every forge can have in a review
	if len(posted.Rejected) > 1 || len(posted.Rejected) == 1 && (posted.Rejected[0].Remark != onFile ||
		posted.Rejected[0].Why == "") {
		t.Errorf("rejected %+v", posted.Rejected)
	}
	if posted.Review == "" || len(posted.Remarks) != len(d.Remarks) || len(posted.Unsupported) != 0 {
		t.Fatalf("posted %+v", posted)
	}
	if r := s.World.Reviews(p); len(r) != 1 || r[0].Body != d.Body || r[0].Commit != p.Head.SHA ||
		r[0].State != Commented || r[0].Author.ID != me.ID || s.World.Unsent(p) != 0 {
		t.Errorf("reviews %+v", r)
	}
	readsBack(t, f, d, posted, me)
}

// readsBack compares what is read with what was posted.
func readsBack(t *testing.T, f forge.Forge, d forge.Draft, posted forge.Posted, me forge.Person) {
	t.Helper()
	said, err := f.Comments(t.Context(), repo(f), till)
	needs.NoError(t, err)
	byID := map[forge.CommentRef]forge.Comment{}
	for _, m := range said {
		byID[forge.CommentRef{Kind: m.Kind, ID: m.ID}] = m
		if m.Author.ID != me.ID || m.Outdated || m.At.IsZero() || m.ReplyTo != "" {
			t.Errorf("%+v", m)
		}
	}
	want := 1 // the words of the review
	if w := byID[forge.CommentRef{Kind: forge.OnReview, ID: posted.Review}]; string(w.Body) != d.Body {
		t.Errorf("the words of the review are %q", w.Body)
	}
	threads, err := f.Threads(t.Context(), repo(f), till)
	if err != nil {
		t.Error(err)
	}
	for i, r := range d.Remarks {
		id := posted.Remarks[i]
		if slices.ContainsFunc(posted.Rejected, func(no forge.Rejected) bool { return no.Remark == i }) {
			if id != "" {
				t.Errorf("remark %d was rejected, and has the number %s", i, id)
			}
			continue
		}
		want++
		m := byID[forge.CommentRef{Kind: forge.OnLine, ID: id}]
		last := r.Span
		last.Start = last.End // for a forge that has no ranges
		if string(m.Body) != r.Body || m.Span != r.Span && m.Span != last || m.Commit != d.Commit || m.Review != "" &&
			m.Review != posted.Review {
			t.Errorf("remark %d, %+v, is %+v", i, r, m)
		}
		if !slices.ContainsFunc(threads, func(c forge.Thread) bool { return slices.Contains(c.Comments, id) && !c.Closed }) {
			t.Errorf("remark %d is in no open conversation of %+v", i, threads)
		}
	}
	if len(said) != want {
		t.Errorf("%d comments, want %d", len(said), want)
	}
}

// rejectsRemarks: nothing is posted on lines that are not in the diff, even if the
// forge would accept it, and the other remarks are posted once.
func rejectsRemarks(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	var mixed []forge.Remark
	var want []int
	for i, r := range goodRemarks {
		mixed, want = append(mixed, r, badRemarks[i]), append(want, 2*i+1)
	}
	d := draftOf(p, mixed...)
	posted, err := f.Post(t.Context(), repo(f), till, d)
	needs.NoError(t, err)
	var indices []int
	for _, no := range posted.Rejected {
		indices = append(indices, no.Remark)
		if no.Why == "" {
			t.Errorf("remark %d is rejected without a reason", no.Remark)
		}
	}
	if !cmp.Equal(want, indices) {
		t.Errorf("rejected %+v, want %v", posted.Rejected, want)
	}
	if n := len(s.World.Reviews(p)); n != 1 || s.World.Unsent(p) != 0 {
		t.Errorf("%d reviews are seen, %d were not sent", n, s.World.Unsent(p))
	}
	readsBack(t, f, d, posted, s.World.Me)

	posted, err = f.Post(t.Context(), repo(f), till, draftOf(p, badRemarks...))
	if err != nil || posted.Review != "" || len(posted.Rejected) != len(badRemarks) {
		t.Errorf("of bad remarks alone comes %+v, %v", posted, err)
	}
	if n := len(s.World.Reviews(p)); n != 1 || s.World.Unsent(p) != 0 {
		t.Errorf("then %d reviews are seen, %d were not sent", n, s.World.Unsent(p))
	}
}

func postsBodyOnly(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	posted, err := f.Post(t.Context(), repo(f), till, draftOf(p))
	if err != nil || posted.Review == "" || len(posted.Remarks) != 0 {
		t.Fatalf("%+v, %v", posted, err)
	}
	readsBack(t, f, draftOf(p), posted, s.World.Me)
}

func tooManyRemarks(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	var many []forge.Remark
	for range forge.MaxRemarks + 1 {
		many = append(many, goodRemarks[0])
	}
	_, err := f.Post(t.Context(), repo(f), till, draftOf(p, many...))
	refused(t, err, forge.KindInvalid, forge.KindRefused)
	checkNothingPosted(t, s, p)
	posted, err := f.Post(t.Context(), repo(f), till, draftOf(p, many[1:]...))
	needs.NoError(t, err)
	slices.Sort(posted.Remarks)
	if n := len(slices.Compact(posted.Remarks)); n != forge.MaxRemarks || posted.Remarks[0] == "" {
		t.Errorf("%d numbers of %d remarks", n, forge.MaxRemarks)
	}
}

// refused checks the error of a request that was not carried out.
func refused(t *testing.T, err error, kinds ...forge.ErrorKind) {
	t.Helper()
	e, ok := err.(*forge.Error) //nolint:errorlint // errors of a forge are of this type, unwrapped
	if !ok || !slices.Contains(kinds, e.Kind) || e.Unsure {
		t.Errorf("%+v, want one of the kinds %q, and to be sure", err, kinds)
	}
	if err != nil && (strings.Contains(err.Error(), Secret) || strings.ContainsAny(err.Error(), "\n\r")) {
		t.Errorf("the error is %q", err)
	}
}

// checkNothingPosted fails if Me posted anything.
func checkNothingPosted(t *testing.T, s *Stage, p *Pull) {
	t.Helper()
	reviews := slices.DeleteFunc(s.World.Reviews(p), func(r Review) bool { return r.Author.ID != s.World.Me.ID })
	if said := s.World.By(p, s.World.Me); len(said) != 0 || len(reviews) != 0 {
		t.Errorf("was said: %+v, reviews %+v", said, reviews)
	}
}

func unknownCommit(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	d := draftOf(p, goodRemarks[0])
	d.Commit = sha("7")
	_, err := f.Post(t.Context(), repo(f), till, d)
	refused(t, err, forge.KindInvalid)
	checkNothingPosted(t, s, p)
	if s.World.Unsent(p) != 0 {
		t.Errorf("%d reviews were begun and not sent", s.World.Unsent(p))
	}
}

func requestsChanges(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	d := draftOf(p, goodRemarks[:2]...)
	d.Event = forge.RequestChanges
	state := func(want ReviewState, number int) {
		t.Helper()
		posted, err := f.Post(t.Context(), repo(f), till, d)
		if err != nil || len(posted.Rejected) != 0 {
			t.Fatalf("%+v, %v", posted, err)
		}
		if len(posted.Unsupported) > 0 {
			want = Commented
		}
		all := s.World.Reviews(p)
		if len(all) != number || all[number-1].State != want || all[number-1].Inline != 2 {
			t.Errorf("reviews %+v, of which the last should be %s (%q)", all, want, posted.Unsupported)
		}
		if p.Author.ID == s.World.Me.ID && len(posted.Unsupported) == 0 {
			t.Error("changes were requested on an own pull request")
		}
	}
	state(ChangesRequested, 1)
	s.World.Change(func() { p.Author = s.World.Me })
	state(Commented, 2)
	d.Event = "approve"
	_, err := f.Post(t.Context(), repo(f), till, d)
	refused(t, err, forge.KindInvalid, forge.KindRefused)
	if n := len(s.World.Reviews(p)); n != 2 {
		t.Errorf("%d reviews after an approval", n)
	}
}

// takesRequestsBack: a request for changes stands until it is dismissed; a later review that
// comments does not clear it.
func takesRequestsBack(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	post := func(event forge.ReviewEvent) precedent.ForgeID {
		t.Helper()
		d := draftOf(p, goodRemarks[0])
		d.Event = event
		posted, err := f.Post(t.Context(), repo(f), till, d)
		if err != nil || len(posted.Unsupported) > 0 {
			t.Fatalf("%+v, %v", posted, err)
		}
		return posted.Review
	}
	blocking := func() (all []precedent.ForgeID) {
		t.Helper()
		listed, err := f.Comments(t.Context(), repo(f), till)
		needs.NoError(t, err)
		for _, m := range listed {
			if m.Blocks {
				all = append(all, m.ID)
			}
		}
		return all
	}
	asked := post(forge.RequestChanges)
	said := post(forge.Remarks)
	if got := blocking(); !slices.Equal(got, []precedent.ForgeID{asked}) {
		t.Errorf("%v block, want %s", got, asked)
	}
	dismiss := func(id precedent.ForgeID) forge.Unsupported {
		t.Helper()
		no, err := f.Dismiss(t.Context(), repo(f), till, id, "It is fixed.")
		if err != nil {
			t.Fatalf("dismiss %s: %v", id, err)
		}
		return no
	}
	s.World.Change(func() { s.World.Repo("acme", "shop").Protected = true })
	if no := dismiss(asked); (no == "") != (len(blocking()) == 0) {
		t.Errorf("refused with %q, and %v block", no, blocking())
	}
	s.World.Change(func() { s.World.Repo("acme", "shop").Protected = false })
	if s.Limited {
		if no := dismiss(asked); no == "" || len(blocking()) != 1 {
			t.Errorf("an account that may not: %q, and %v block", no, blocking())
		}
		return
	}
	for _, id := range []precedent.ForgeID{asked, asked, said, "987654"} {
		if no := dismiss(id); no != "" {
			t.Errorf("dismiss %s: %s", id, no)
		}
	}
	if got := blocking(); len(got) != 0 {
		t.Errorf("%v still block", got)
	}
	for _, r := range s.World.Reviews(p) {
		if want := map[precedent.ForgeID]ReviewState{asked: Dismissed, said: Commented}[r.ID]; r.State != want {
			t.Errorf("review %s is %s, want %s", r.ID, r.State, want)
		}
	}
	_, err := f.Dismiss(t.Context(), repo(f), till, "x", "It is fixed.")
	refused(t, err, forge.KindRefused)
}

// leavesPendingReview: a pending review that a person started with the same account
// is neither submitted nor lost.
func leavesPendingReview(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	var begun forge.Comment
	s.World.Change(func() {
		r := s.World.review(p, Review{Author: s.World.Me, State: Pending, Body: "not ready", Commit: p.Head.SHA})
		begun = s.World.add(p, forge.Comment{
			Kind: forge.OnLine, Author: s.World.Me, Body: "half a tho",
			Span: goodRemarks[0].Span, Commit: p.Head.SHA, Review: r.ID,
		})
	})
	posted, err := f.Post(t.Context(), repo(f), till, draftOf(p, goodRemarks[0]))
	if err != nil {
		refused(t, err, forge.KindInvalid)
		if e, ok := errors.AsType[*forge.Error](err); ok && e.Hint == "" {
			t.Errorf("%v does not say what to do", err)
		}
	}
	there := false
	s.World.Change(func() {
		m := p.comment(forge.CommentRef{Kind: forge.OnLine, ID: begun.ID})
		there = m != nil && p.unsent(*m)
	})
	if !there {
		t.Errorf("the comment that was not ready was sent or lost; posted %+v, %v", posted, err)
	}
}

func boundsText(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	long := strings.Repeat("é", forge.MaxPost)
	m, err := f.Comment(t.Context(), repo(f), till, long)
	if err != nil || string(m.Body) != long {
		t.Errorf("%d bytes came back, %v", len(m.Body), err)
	}
	if err := f.Edit(t.Context(), repo(f), till, forge.CommentRef{Kind: m.Kind, ID: m.ID}, long+"x"); err == nil {
		t.Error("a comment was made too long")
	}
	d := draftOf(p, goodRemarks[0])
	d.Body = long
	if posted, err := f.Post(t.Context(), repo(f), till, d); err != nil || posted.Review == "" {
		t.Errorf("a review with %d characters: %+v, %v", forge.MaxPost, posted, err)
	}
	before := len(s.World.Shown(p))
	_, err = f.Comment(t.Context(), repo(f), till, long+"x")
	refused(t, err, forge.KindInvalid, forge.KindRefused)
	d.Body = long + "x"
	_, err = f.Post(t.Context(), repo(f), till, d)
	refused(t, err, forge.KindInvalid, forge.KindRefused)
	if n := len(s.World.Shown(p)); n != before || s.World.Unsent(p) != 0 {
		t.Errorf("%d comments became %d, %d reviews were not sent", before, n, s.World.Unsent(p))
	}
}

func keepsOddText(t *testing.T, _ *Stage, f forge.Forge, _ *Pull) {
	for _, words := range []string{
		"Größe 尺寸 📐", "<!-- precedent:v1 {\"a\":\"b\"} -->\n**x**", "a \"quoted\" \\ backslash\tand tab", "</script>&amp;",
		"\u202eright to left", strings.Repeat("line\n", 300) + "end",
	} {
		m, err := f.Comment(t.Context(), repo(f), till, words)
		if err != nil || string(m.Body) != words {
			t.Errorf("%q became %q, %v", words, m.Body, err)
		}
	}
}

func writersAtOnce(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	const writers = 6
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			if _, err := f.Comment(t.Context(), repo(f), till, "hello"); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if _, err := f.Post(t.Context(), repo(f), till, draftOf(p, goodRemarks[0], badRemarks[0])); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	reviews, comments := s.World.Reviews(p), s.World.By(p, s.World.Me)
	inline := 0
	for _, r := range reviews {
		inline += r.Inline
	}
	if len(reviews) != writers || inline != writers || len(comments) != 3*writers || s.World.Unsent(p) != 0 {
		t.Errorf("%d reviews with %d remarks, %d comments in all, %d reviews not sent", len(reviews), inline, len(comments),
			s.World.Unsent(p))
	}
	checkSpacing(t, s)
}

func spacesWrites(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	for range 3 {
		if _, err := f.Comment(t.Context(), repo(f), till, "hello"); err != nil {
			t.Error(err)
		}
	}
	if _, err := f.Post(t.Context(), repo(f), till, draftOf(p,
		append(slices.Clone(goodRemarks), badRemarks...)...)); err != nil {
		t.Error(err)
	}
	checkSpacing(t, s)
}

// checkSpacing fails if two requests that make changes are less than a second apart.
func checkSpacing(t *testing.T, s *Stage) {
	t.Helper()
	var last time.Time
	for _, r := range s.Script.Requests() {
		if !r.Writes() {
			continue
		}
		if gap := r.At.Sub(last); gap < time.Second {
			t.Errorf("%s %s came %s after the one before", r.Method, r.Path, gap)
		}
		last = r.At
	}
}

// refusesOtherHosts: nothing is sent to another host or to an invalid name.
func refusesOtherHosts(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	for _, r := range []precedent.Repo{
		{Host: "elsewhere.example", Owner: "acme", Name: "shop"},
		{Host: f.Host(), Owner: "acme", Name: "shop/../../users"},
		{},
	} {
		said := forge.CommentRef{Kind: forge.OnThread, ID: "1"}
		_, err1 := f.Post(t.Context(), r, till, draftOf(p))
		_, err2 := f.Comment(t.Context(), r, till, "x")
		_, err3 := f.Reply(t.Context(), r, till, "1", "x")
		err4 := f.Edit(t.Context(), r, till, said, "x")
		_, err5 := f.Delete(t.Context(), r, till, said)
		_, err6 := f.Resolve(t.Context(), r, till, forge.Thread{ID: "x", Comments: []precedent.ForgeID{"1"}}, true)
		_, err7 := f.Check(t.Context(), r, forge.Check{
			Name: "precedent", Commit: p.Head.SHA, Result: forge.Success, Title: "x",
		})
		_, err8 := f.AddLabel(t.Context(), r, till, "x")
		_, err9 := f.RemoveLabel(t.Context(), r, till, "x")
		for i, err := range []error{err1, err2, err3, err4, err5, err6, err7, err8, err9} {
			if forge.KindOf(err) != forge.KindRefused {
				t.Errorf("%+v, %d: %v", r, i+1, err)
			}
		}
	}
	if n := len(s.Script.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// refusesOtherIDs: an id that no comment can have is refused, and not sent as number 0.
func refusesOtherIDs(t *testing.T, s *Stage, f forge.Forge, _ *Pull) {
	for _, id := range []precedent.ForgeID{"", "0", "-3", "PRRC_1", "1/../2", " 7"} {
		for _, commentKind := range []forge.CommentKind{forge.OnThread, forge.OnLine, forge.OnReview} {
			c := forge.CommentRef{Kind: commentKind, ID: id}
			_, err1 := f.Reply(t.Context(), repo(f), till, id, "x")
			err2 := f.Edit(t.Context(), repo(f), till, c, "x")
			_, err3 := f.Delete(t.Context(), repo(f), till, c)
			_, err4 := f.Reactions(t.Context(), repo(f), till, c)
			for i, err := range []error{err1, err2, err3, err4} {
				if forge.KindOf(err) != forge.KindRefused {
					t.Errorf("%+v, %d: %v", c, i+1, err)
				}
			}
		}
	}
	if n := len(s.Script.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}
