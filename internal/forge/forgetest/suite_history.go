package forgetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
)

// histories tests how a forge lists all comments of a repository.
var histories = []onShop{
	{"everything", historyOfAll},
	{"since a time", historySince},
	{"what people change between two pages", historyChanges},
	{"a page of one second", historyTies},
	{"details", historyDetails},
	{"faults", historyFaults},
}

// pastRead is what the lists returned: the last version of each comment and pull request.
type pastRead struct {
	comments map[forge.CommentRef]forge.NumberedComment
	pulls    map[int]forge.PullRequest
	pages    int
}

// mostPages bounds the pages of a list in these tests, which must end.
const mostPages = 500

// readPast reads all lists to their ends. after is called after each page.
func readPast(t *testing.T, f forge.Forge, since time.Time, after func()) pastRead {
	t.Helper()
	out := pastRead{comments: map[forge.CommentRef]forge.NumberedComment{}, pulls: map[int]forge.PullRequest{}}
	for _, stream := range f.Streams() {
		through, pages := since, 0
		claims := map[forge.CommentRef]time.Time{} // when each was first listed: what was said to be complete
		for q := (forge.HistoryQuery{Stream: stream, Since: since}); ; {
			page, err := f.History(t.Context(), repo(f), q)
			if err != nil {
				t.Fatalf("%s, page %d: %v", stream, pages+1, err)
			}
			updated := map[int]time.Time{}
			for i := range page.Pulls {
				updated[page.Pulls[i].Number] = page.Pulls[i].Updated
			}
			for _, m := range page.Comments {
				ref := forge.CommentRef{Kind: m.Kind, ID: m.ID}
				at := m.Edited
				if of, ok := updated[m.Number]; ok {
					at = of
				}
				if _, again := claims[ref]; !again && at.Before(through) && !at.Before(since) {
					t.Errorf("%s: %+v of %s is listed after everything until %s", stream, ref, at, through)
				}
				claims[ref] = through
				if old, ok := out.comments[ref]; !ok || !m.Edited.Before(old.Edited) {
					out.comments[ref] = m
				}
			}
			for i := range page.Pulls {
				out.pulls[page.Pulls[i].Number] = page.Pulls[i]
			}
			if page.Through.After(through) {
				through = page.Through
			}
			out.pages++
			if pages++; pages > mostPages {
				t.Fatalf("%s does not end: it is at %q", stream, q.Cursor)
			}
			if after != nil {
				after()
			}
			if page.Next == "" {
				break
			}
			q.Cursor = page.Next
		}
	}
	return out
}

// shownPast are the comments that the lists must have: with the places for which they were written.
func shownPast(s *Stage, since time.Time) map[forge.CommentRef]forge.NumberedComment {
	all := map[forge.CommentRef]forge.NumberedComment{}
	s.World.Change(func() {
		r := s.World.Repo("acme", "shop")
		for n, p := range r.Pulls {
			for _, m := range s.told(p, p.Comments) {
				if first, ok := p.placed[m.ID]; ok && m.Kind == forge.OnLine {
					m.Span, m.Commit = first.Span, first.Commit
				}
				if !r.Issues[n] && !p.unsent(m) && !m.Edited.Before(since) && (m.Kind != forge.OnReview || m.Body != "") {
					all[forge.CommentRef{Kind: m.Kind, ID: m.ID}] = forge.NumberedComment{Number: n, Comment: m}
				}
			}
		}
	})
	return all
}

// pastOptions ignore what only some forges tell, and what is tested on its own.
var pastOptions = append([]cmp.Option{cmpopts.IgnoreFields(forge.Comment{}, "Hunk", "Member", "Cut")}, addresses...)

// checkPast compares comments of the lists with those of the world.
func checkPast(t *testing.T, want, got map[forge.CommentRef]forge.NumberedComment) {
	t.Helper()
	wrong := 0
	for ref, m := range want {
		have, ok := got[ref]
		if d := cmp.Diff(m, have, pastOptions...); !ok || d != "" {
			if wrong++; wrong <= 3 {
				t.Errorf("%+v is listed: %v (-want +got):\n%.1500s", ref, ok, d)
			}
		}
	}
	if wrong > 3 {
		t.Errorf("%d comments of %d are missing or wrong", wrong, len(want))
	}
}

// talk adds n comments of each kind to pull requests 10 to 19, a minute apart, and a few on issues.
func talk(s *Stage, n int) {
	s.World.Change(func() {
		r := s.World.Repo("acme", "shop")
		r.Issues = map[int]bool{20: true}
		for number := 10; number <= 20; number++ {
			p := Shop().Pulls[1].PullRequest
			p.Number = number
			r.Pulls[number] = &Pull{PullRequest: p}
		}
		for i := range n {
			p := r.Pulls[10+i%10]
			id := int64(20_000 + i)
			p.Comments = append(p.Comments, remark(id, forge.OnReview, i), remark(id+100_000, forge.OnLine, i),
				remark(id+200_000, forge.OnThread, i))
			p.Updated = Epoch.Add(time.Duration(i)*time.Minute + 10*time.Second)
		}
		r.Pulls[20].Comments = []forge.Comment{remark(999_999, forge.OnThread, 3)}
		s.Clock.Pass(time.Duration(n+1) * time.Minute)
	})
}

func historyOfAll(t *testing.T, s *Stage, f forge.Forge) {
	talk(s, 320)
	s.World.Change(func() { // a review by another account that was not sent yet
		p := s.World.Repo("acme", "shop").Pulls[11]
		p.Reviews = map[precedent.ForgeID]Review{"777": {Author: Cy, State: Pending, Commit: p.Head.SHA}}
		p.Comments = append(p.Comments, forge.Comment{
			ID: "777", Kind: forge.OnReview, Author: Cy, Body: "secret", At: Epoch, Edited: Epoch,
		})
	})
	got := readPast(t, f, Epoch.Add(-time.Hour), nil)
	want := shownPast(s, time.Time{})
	checkPast(t, want, got.comments)
	if len(got.comments) != len(want) {
		t.Errorf("%d comments, want %d", len(got.comments), len(want))
	}
	for n, p := range Shop().Pulls {
		by := p.PullRequest
		if told := s.told(p, []forge.Comment{{Author: by.Author}}); len(told) == 1 {
			by.Author = told[0].Author
		}
		have, ok := got.pulls[n]
		if !ok || have.Title != by.Title || have.Author != by.Author || have.State != by.State ||
			!have.MergedAt.Equal(by.MergedAt) || have.Body != by.Body {
			t.Errorf("#%d is %+v", n, have)
		}
	}
	if _, ok := got.pulls[20]; ok {
		t.Error("an issue is listed as a pull request")
	}
}

// historySince: what was edited later is listed, also of old comments. Where pull requests have
// the comments, those that were not edited may be listed, too.
func historySince(t *testing.T, s *Stage, f forge.Forge) {
	talk(s, 150)
	since := s.Clock.Now()
	s.Clock.Pass(time.Minute)
	p := s.World.Repo("acme", "shop").Pulls[12]
	s.World.Rewrite(p, forge.CommentRef{Kind: forge.OnThread, ID: "220002"}, "This is better.")
	line := s.World.Remark(p, Bo, precedent.Span{Path: "src/till.go", Side: precedent.Right, Start: 903, End: 903},
		"Why here?")
	s.World.Say(p, Cy, line.ID, "Because.")
	s.Clock.Pass(time.Minute)
	// Its zone does not matter.
	got := readPast(t, f, since.In(time.FixedZone("east", 3600)), nil)
	want := shownPast(s, since)
	if len(want) != 3 {
		t.Fatalf("the world has %d such comments", len(want))
	}
	checkPast(t, want, got.comments)
	if len(got.comments) > 3*16 {
		t.Errorf("%d comments", len(got.comments))
	}
	whole, err := f.History(t.Context(), repo(f), forge.HistoryQuery{Stream: forge.StreamWhole, Since: since})
	if err != nil || !slices.ContainsFunc(whole.Comments, func(m forge.NumberedComment) bool { return m.ID == "220002" }) {
		t.Errorf("on pull requests as a whole: %d comments, %v", len(whole.Comments), err)
	}
}

// historyChanges: nothing is skipped that nobody touched, whatever happens to others between two
// pages, and what was edited is listed by this pass or the next.
func historyChanges(t *testing.T, s *Stage, f forge.Forge) {
	const many = 160 // of each kind
	talk(s, many)
	untouched := shownPast(s, time.Time{})
	began := s.Clock.Now()
	turn := 0
	got := readPast(t, f, Epoch.Add(-time.Hour), func() {
		s.Clock.Pass(time.Second)
		r := s.World.Repo("acme", "shop")
		if turn++; turn > 40 {
			return
		}
		for i := range 3 {
			n := (turn*3 + i) * 7 % many
			p := r.Pulls[10+n%10]
			for offset, kind := range map[int]forge.CommentKind{
				20_000: forge.OnReview, 120_000: forge.OnLine, 220_000: forge.OnThread,
			} {
				ref := forge.CommentRef{Kind: kind, ID: precedent.NumberID(int64(offset + n))}
				switch {
				case i == 0 && kind != forge.OnReview:
					s.World.Remove(p, ref)
				case i == 1 && kind != forge.OnReview:
					s.World.Rewrite(p, ref, fmt.Sprint("edited in turn ", turn))
				case i == 2:
					continue
				}
				delete(untouched, ref)
			}
			s.World.Say(p, Bo, "", fmt.Sprint("said in turn ", turn))
		}
	})
	checkPast(t, untouched, got.comments)
	s.Clock.Pass(time.Minute)
	later := readPast(t, f, began, nil)
	checkPast(t, shownPast(s, began), later.comments)
}

// historyTies: more comments than a page has were written in one second, and some are deleted
// while they are listed.
func historyTies(t *testing.T, s *Stage, f forge.Forge) {
	talk(s, 20)
	s.World.Change(func() {
		r := s.World.Repo("acme", "shop")
		at := Epoch.Add(10 * time.Minute)
		for i := range 330 {
			p := r.Pulls[10+i%10]
			for k, kind := range []forge.CommentKind{forge.OnReview, forge.OnLine, forge.OnThread} {
				m := remark(int64(500_000+k*1000+i), kind, i)
				m.At, m.Edited = at, at
				if kind == forge.OnLine { // on lines of their own
					m.Span.Start, m.Span.End = m.Span.Start+2000, m.Span.End+2000
				}
				p.Comments = append(p.Comments, m)
			}
		}
		// Pull requests, too, are updated in one second.
		for n := 30; n < 160; n++ {
			p := Shop().Pulls[1].PullRequest
			p.Number, p.Updated = n, at
			r.Pulls[n] = &Pull{PullRequest: p, Comments: []forge.Comment{remark(int64(600_000+n), forge.OnReview, 10)}}
		}
		for _, p := range r.Pulls { // Gitea lists comments by their time
			slices.SortStableFunc(p.Comments, func(a, b forge.Comment) int { return a.At.Compare(b.At) })
		}
	})
	want := shownPast(s, time.Time{})
	turn := 0
	got := readPast(t, f, Epoch.Add(-time.Hour), func() {
		turn++
		if turn%2 == 0 || turn > 40 {
			return
		}
		p := s.World.Repo("acme", "shop").Pulls[10+turn%10]
		for k, kind := range []forge.CommentKind{forge.OnReview, forge.OnLine, forge.OnThread} {
			ref := forge.CommentRef{Kind: kind, ID: precedent.NumberID(int64(500_000 + k*1000 + turn))}
			if kind != forge.OnReview {
				s.World.Remove(p, ref)
			}
			delete(want, ref)
		}
	})
	checkPast(t, want, got.comments)
}

// historyDetails: the hunk ends with the commented line, texts are bounded, and a comment stays at
// the line for which it was written when its code moves.
func historyDetails(t *testing.T, s *Stage, f forge.Forge) {
	p := Till()
	s.World.Change(func() { s.World.Repo("acme", "shop").Pulls[till] = p })
	s.Clock.Pass(10 * time.Hour)
	first := s.World.Remark(p, Bo, goodRemarks[0].Span, "Why?")
	s.World.Say(p, Ann, first.ID, "Because of the sum, which is too large for an int.")
	s.World.Push(p, sha("d"), strings.Replace(tillDiff, "@@ -1,5 +1,6 @@\n package till\n",
		"@@ -1,5 +1,7 @@\n+// Till.\n package till\n", 1))
	big := s.World.Say(p, Cy, "", strings.Repeat("ä", forge.MaxBody))
	s.Clock.Pass(time.Minute)
	want := shownPast(s, time.Time{})
	for ref, m := range want {
		if m.ID == big.ID {
			m.Body = m.Body[:forge.MaxBody]
			want[ref] = m
		}
	}
	got := readPast(t, f, Epoch.Add(-time.Hour), nil)
	checkPast(t, want, got.comments)
	m := got.comments[forge.CommentRef{Kind: forge.OnLine, ID: first.ID}]
	if lines := strings.Split(string(m.Hunk), "\n"); m.Hunk != "" && !strings.HasPrefix(lines[len(lines)-1], "+") {
		t.Errorf("the hunk is %q", m.Hunk)
	}
	if cut := got.comments[forge.CommentRef{Kind: forge.OnThread, ID: big.ID}]; !cut.Cut {
		t.Error("a text that was cut does not say so")
	}
}

// historyFaults: a page that failed can be asked for again, and what cannot be listed is refused.
func historyFaults(t *testing.T, s *Stage, f forge.Forge) {
	talk(s, 250)
	bad := forge.HistoryQuery{Stream: "none"}
	if _, err := f.History(t.Context(), repo(f), bad); forge.KindOf(err) != forge.KindRefused {
		t.Errorf("of an unknown list: %v", err)
	}
	stream := f.Streams()[0]
	for _, cursor := range []string{
		"x", "2026-03-04T05:06:07Z -1 0 0", "2026-03-04T05:06:07Z 0 0", "9 9 9 9", strings.Repeat("9", 99),
	} {
		if _, err := f.History(t.Context(), repo(f), forge.HistoryQuery{
			Stream: stream,
			Cursor: cursor,
		}); forge.KindOf(err) != forge.KindRefused {
			t.Errorf("from %q: %v", cursor, err)
		}
	}
	gone := repo(f)
	gone.Name = "gone"
	if _, err := f.History(t.Context(), gone, forge.HistoryQuery{Stream: stream}); forge.KindOf(err) != forge.KindNotFound {
		t.Errorf("of a missing repository: %v", err)
	}
	gone.Name = "../shop"
	if _, err := f.History(t.Context(), gone, forge.HistoryQuery{Stream: stream}); forge.KindOf(err) != forge.KindRefused {
		t.Errorf("of a bad name: %v", err)
	}
	for _, stream := range f.Streams() {
		q := forge.HistoryQuery{Stream: stream, Since: Epoch}
		s.Script.Plan(Fault{Status: 500, Times: 100})
		if _, err := f.History(t.Context(), repo(f), q); forge.KindOf(err) != forge.KindServer {
			t.Errorf("%s from a broken server: %v", stream, err)
		}
		s.Script.Forget()
		s.Script.Plan(Fault{Cut: 100}, Fault{Drop: true}, Fault{Status: 429, Header: map[string]string{"Retry-After": "5"}})
		if page, err := f.History(t.Context(), repo(f), q); err != nil || len(page.Comments) == 0 {
			t.Errorf("%s after faults that pass: %d comments, %v", stream, len(page.Comments), err)
		}
	}
	historyGap(t, s, f)
}

// historyGap is row 9 of the fault matrix: if a page fails, what was read before is valid, the same cursor
// reads on, and nothing is missing at the end.
func historyGap(t *testing.T, s *Stage, f forge.Forge) {
	for _, stream := range f.Streams() {
		read := func(fail int) (all map[forge.CommentRef]bool, pages int) { // the same may come again
			all = map[forge.CommentRef]bool{}
			for q := (forge.HistoryQuery{Stream: stream, Since: Epoch}); pages < mostPages; {
				if pages++; pages == fail {
					s.Script.Plan(Fault{Status: 500, Times: 100})
					if page, err := f.History(t.Context(), repo(f), q); forge.KindOf(err) != forge.KindServer || page.Next != "" ||
						!page.Through.IsZero() {
						t.Errorf("%s, page %d: %+v, %v", stream, pages, page, err)
					}
					s.Script.Forget()
				}
				page, err := f.History(t.Context(), repo(f), q)
				needs.NoError(t, err)
				for _, m := range page.Comments {
					all[forge.CommentRef{Kind: m.Kind, ID: m.ID}] = true
				}
				if q.Cursor = page.Next; q.Cursor == "" {
					break
				}
			}
			return all, pages
		}
		want, pages := read(0)
		if got, _ := read(min(3, pages)); !maps.Equal(want, got) {
			t.Errorf("%s of %d pages: %d comments with a page that failed, %d without", stream, pages, len(got), len(want))
		}
	}
}
