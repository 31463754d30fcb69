package forgetest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
)

// refusesClosed: where comments are not possible, the error has its own kind, and nothing is posted.
func refusesClosed(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	remark := s.World.Remark(p, Bo, goodRemarks[0].Span, "Why?")
	all := func() (errs []error) {
		_, err1 := f.Post(t.Context(), repo(f), till, draftOf(p, goodRemarks[0]))
		_, err2 := f.Comment(t.Context(), repo(f), till, "hello")
		_, err3 := f.Reply(t.Context(), repo(f), till, remark.ID, "hello")
		return []error{err1, err2, err3}
	}
	shop := s.World.Repo("acme", "shop")
	for _, test := range []struct {
		name       string
		close, end func()
	}{
		{
			"locked", func() { p.Locked = true; shop.allow(s.World.Me, forge.Read) },
			func() { p.Locked = false; shop.allow(s.World.Me, forge.Write) },
		},
		{"archived", func() { shop.Archived = true }, func() { shop.Archived = false }},
		{"deleted", func() { delete(shop.Pulls, till) }, func() { shop.Pulls[till] = p }},
	} {
		s.World.Change(test.close)
		for i, err := range all() {
			if forge.KindOf(err) == forge.KindUnsupported {
				continue // there are no replies
			}
			if forge.KindOf(err) != forge.KindClosed && (test.name != "deleted" || forge.KindOf(err) != forge.KindNotFound) {
				t.Errorf("%s, %d: %v (%s)", test.name, i+1, err, forge.KindOf(err))
			}
			refused(t, err, forge.KindClosed, forge.KindNotFound)
		}
		s.World.Change(test.end)
		if said := s.World.By(p, s.World.Me); len(said) != 0 {
			t.Errorf("%s: was said: %+v", test.name, said)
		}
	}
	for i, err := range all() {
		if err != nil && forge.KindOf(err) != forge.KindUnsupported {
			t.Errorf("open again, %d: %v", i+1, err)
		}
	}
	for _, state := range []forge.State{forge.Closed, forge.Merged} { // comments stay possible
		s.World.Change(func() { p.State = state })
		if _, err := f.Comment(t.Context(), repo(f), till, "hello"); err != nil {
			t.Errorf("%s: %v", state, err)
		}
	}
}

func editsAndDeletes(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	posted, err := f.Post(t.Context(), repo(f), till, draftOf(p, goodRemarks[:2]...))
	needs.NoError(t, err)
	m, err := f.Comment(t.Context(), repo(f), till, "first")
	if err != nil || m.Kind != forge.OnThread || m.ID == "" || m.Author.ID != s.World.Me.ID ||
		!strings.Contains(m.URL, f.Host()+"/acme/shop/") {
		t.Fatalf("%+v, %v", m, err)
	}
	s.Clock.Pass(time.Minute)
	comment, line := forge.CommentRef{Kind: forge.OnThread, ID: m.ID}, forge.CommentRef{
		Kind: forge.OnLine,
		ID:   posted.Remarks[0],
	}
	for _, c := range []forge.CommentRef{comment, line} {
		for _, words := range []string{"second", "third"} {
			if err := f.Edit(t.Context(), repo(f), till, c, words); err != nil {
				t.Errorf("edit %+v: %v", c, err)
			}
		}
	}
	words := map[forge.CommentRef]string{}
	said, err := f.Comments(t.Context(), repo(f), till)
	needs.NoError(t, err)
	for _, m := range said {
		words[forge.CommentRef{Kind: m.Kind, ID: m.ID}] = string(m.Body)
	}
	review := forge.CommentRef{Kind: forge.OnReview, ID: posted.Review}
	other := forge.CommentRef{Kind: forge.OnLine, ID: posted.Remarks[1]}
	want := map[forge.CommentRef]string{comment: "third", line: "third", other: goodRemarks[1].Body, review: "Some words."}
	if d := cmp.Diff(want, words); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, c := range []forge.CommentRef{comment, line} {
		deletes(t, s, f, p, c)
	}
	no, err := f.Delete(t.Context(), repo(f), till, review)
	_, folded := s.World.FoldedUp(p)[review]
	still := slices.ContainsFunc(s.World.Shown(p), func(m forge.Comment) bool {
		return m.Kind == forge.OnReview && m.ID == review.ID
	})
	if err != nil || no == "" && still && !folded {
		t.Errorf("the words of the review: %q, %v; seen: %v, folded: %v", no, err, still, folded)
	}
}

// deletes deletes a comment. Afterwards it is gone, or the result says why not.
func deletes(t *testing.T, s *Stage, f forge.Forge, p *Pull, c forge.CommentRef) {
	t.Helper()
	no, err := f.Delete(t.Context(), repo(f), till, c)
	there := slices.ContainsFunc(s.World.Shown(p), func(m forge.Comment) bool { return m.Kind == c.Kind && m.ID == c.ID })
	if err != nil || there != (no != "") {
		t.Errorf("delete %+v: %q, %v, still there: %v", c, no, err, there)
	}
	if there {
		return
	}
	if no, err := f.Delete(t.Context(), repo(f), till, c); err != nil || no != "" { // deleting twice succeeds
		t.Errorf("delete %+v again: %q, %v", c, no, err)
	}
	refused(t, f.Edit(t.Context(), repo(f), till, c, "x"), forge.KindClosed, forge.KindNotFound)
	if c.Kind == forge.OnLine {
		_, err = f.Reply(t.Context(), repo(f), till, c.ID, "x")
		refused(t, err, forge.KindClosed, forge.KindNotFound, forge.KindUnsupported)
		if e, ok := errors.AsType[*forge.Error](err); ok && e.Kind == forge.KindClosed && e.Status != http.StatusNotFound {
			t.Errorf("%v: as if nothing could be said on the pull request", err)
		}
	}
}

// sparesOthersComments: comments by others are not changed.
func sparesOthersComments(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	line, thread := s.World.Remark(p, Bo, goodRemarks[0].Span, "Why?"), s.World.Say(p, Bo, "", "Hello")
	before := s.World.Shown(p)
	for _, m := range []forge.Comment{line, thread} {
		c := forge.CommentRef{Kind: m.Kind, ID: m.ID}
		err := f.Edit(t.Context(), repo(f), till, c, "x")
		refused(t, err, forge.KindAuth, forge.KindRefused, forge.KindInvalid)
		if no, err := f.Delete(t.Context(), repo(f), till, c); err == nil && no == "" {
			t.Errorf("%+v was deleted", m)
		}
	}
	if d := cmp.Diff(before, s.World.Shown(p)); d != "" {
		t.Errorf("(-before +after):\n%s", d)
	}
}

// repliesAndResolves tests replies, and conversations resolved and reopened by us and by others.
func repliesAndResolves(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	posted, err := f.Post(t.Context(), repo(f), till, draftOf(p, goodRemarks[0], goodRemarks[3]))
	needs.NoError(t, err)
	root := posted.Remarks[0]
	theirs := s.World.Say(p, Bo, root, "I do not think so.")
	ours, err := f.Reply(t.Context(), repo(f), till, root, "But look.")
	if forge.KindOf(err) == forge.KindUnsupported { // the account replies on the forge's pages
		ours, err = s.World.Say(p, s.World.Me, root, "But look."), nil
	}
	if err != nil || ours.Kind != forge.OnLine || ours.ID == "" || string(ours.Body) != "But look." ||
		ours.Span.Path != goodRemarks[0].Path {
		t.Fatalf("%+v, %v", ours, err)
	}
	s.Clock.Pass(time.Minute)
	s.World.Rewrite(p, forge.CommentRef{Kind: forge.OnLine, ID: theirs.ID}, "I do think so.")
	said, err := f.Comments(t.Context(), repo(f), till)
	needs.NoError(t, err)
	for _, m := range said {
		if m.Kind == forge.OnLine && m.ID == theirs.ID && (string(m.Body) != "I do think so." || m.Edited.Before(m.At)) {
			t.Errorf("what was changed is %+v", m)
		}
		if want := (m.ID == theirs.ID || m.ID == ours.ID) && m.Kind == forge.OnLine; want != (m.ReplyTo == root) {
			t.Errorf("%+v answers %s", m, m.ReplyTo)
		}
	}
	find := func() forge.Thread {
		t.Helper()
		all, err := f.Threads(t.Context(), repo(f), till)
		if err != nil || len(all) != 2 || !slices.Equal(all[0].Comments, []precedent.ForgeID{root, theirs.ID, ours.ID}) ||
			!slices.Equal(all[1].Comments, posted.Remarks[1:]) {
			t.Fatalf("%v, %+v", err, all)
		}
		return all[0]
	}
	if c := find(); c.Closed {
		t.Errorf("a new conversation is %+v", c)
	}
	for _, closed := range []bool{true, true, false, false, true} {
		no, err := f.Resolve(t.Context(), repo(f), till, find(), closed)
		needs.NoError(t, err)
		if no != "" {
			break // which this forge cannot do
		}
		if c := find(); c.Closed != closed {
			t.Errorf("set to %v, a conversation is %+v", closed, c)
		}
		if c := find(); closed && c.ClosedBy.ID != "" && c.ClosedBy.ID != s.World.Me.ID {
			t.Errorf("was closed by %+v", c.ClosedBy)
		}
	}
	s.World.Reopen(p, root)
	s.World.Close(p, root, Bo)
	if c := find(); c.Closed && c.ClosedBy.ID != "" && c.ClosedBy.ID != Bo.ID {
		t.Errorf("was closed by %+v, not Bo", c.ClosedBy)
	}
}

// manyConversations has more than a page of conversations, and one that is longer than a page.
func manyConversations(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	var want [][]precedent.ForgeID
	for i := range 120 {
		span := goodRemarks[i%len(goodRemarks)].Span
		if i > 0 { // on a line of their own each, for a forge that groups by lines
			span.Path = fmt.Sprintf("f%d.go", i)
		}
		s.Clock.Pass(time.Second)
		want = append(want, []precedent.ForgeID{s.World.Remark(p, Bo, span, "Why?").ID})
	}
	for range 130 {
		s.Clock.Pass(time.Second)
		want[0] = append(want[0], s.World.Say(p, Ann, want[0][0], "Because.").ID)
	}
	all, err := f.Threads(t.Context(), repo(f), till)
	var got [][]precedent.ForgeID
	for _, c := range all {
		got = append(got, c.Comments)
	}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v (-want +got):\n%.2000s", err, d)
	}
}

func readsReactions(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	posted, err := f.Post(t.Context(), repo(f), till, draftOf(p, goodRemarks[0]))
	needs.NoError(t, err)
	m, err := f.Comment(t.Context(), repo(f), till, "hello")
	needs.NoError(t, err)
	for _, c := range []forge.CommentRef{{Kind: forge.OnLine, ID: posted.Remarks[0]}, {Kind: forge.OnThread, ID: m.ID}} {
		if got, err := f.Reactions(t.Context(), repo(f), till, c); err != nil || len(got) != 0 {
			t.Errorf("at first: %+v, %v", got, err)
		}
		s.World.React(p, c, Bo, "+1")
		s.World.React(p, c, Cy, "-1")
		s.World.React(p, c, Cy, "-1")
		got, err := f.Reactions(t.Context(), repo(f), till, c)
		slices.SortFunc(got, func(a, b forge.Reaction) int { return a.Who.ID.Compare(b.Who.ID) })
		if err != nil || len(got) != 2 || got[0].Who != Bo || got[0].Content != "+1" || got[1].Who != Cy ||
			got[1].Content != "-1" {
			t.Errorf("%+v, %v", got, err)
		}
		for i := range int64(120) { // more than a page
			s.World.React(p, c, forge.Person{ID: precedent.NumberID(10_000 + i), Login: fmt.Sprint("fan", i)}, "heart")
		}
		if got, err := f.Reactions(t.Context(), repo(f), till, c); err != nil || len(got) != 122 {
			t.Errorf("%d reactions of 122, %v", len(got), err)
		}
	}
	all, err := f.Comments(t.Context(), repo(f), till)
	needs.NoError(t, err)
	for _, c := range all { // callers request reactions only of comments with votes
		if n := c.Votes; c.Kind == forge.OnLine && c.ID == posted.Remarks[0] && n != 2 && n != -1 {
			t.Errorf("%d votes, want 2, or -1 if the forge does not tell", n)
		}
	}
}

// setsChecks: setting a check again does not add one, and the last one counts.
func setsChecks(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	shop := s.World.Repo("acme", "shop")
	seen := func() (n int, result string) {
		for _, k := range s.World.ChecksOf(shop, p.Head.SHA) {
			n, result = n+1, k.Conclusion
		}
		contexts := map[string]bool{}
		for _, k := range s.World.StatusesOf(shop, p.Head.SHA) { // of which the newest of a context counts
			contexts[k.Context], result = true, k.State
		}
		return n + len(contexts), result
	}
	check := forge.Check{
		Name: "precedent", Commit: p.Head.SHA, Review: "r1", Result: forge.Failure, Title: "2 findings",
		Body: "Words.", URL: "https://" + f.Host() + "/x",
	}
	last := ""
	for _, k := range []struct {
		review string
		result forge.CheckResult
	}{{"r1", forge.Failure}, {"r1", forge.Failure}, {"r2", forge.Success}, {"r3", forge.Neutral}} {
		check.Review, check.Result = k.review, k.result
		no, err := f.Check(t.Context(), repo(f), check)
		needs.NoError(t, err)
		if no != "" {
			if n, _ := seen(); n != 0 {
				t.Errorf("%q, and there are %d checks", no, n)
			}
			return
		}
		n, result := seen()
		if n != 1 || (result == "success") != (k.result == forge.Success) || last == string(forge.Failure) &&
			k.review != "r1" && result == last {
			t.Errorf("after %+v there are %d checks, and the result is %q", k, n, result)
		}
		last = result
	}
}

// oneComment: every comment can be read alone and is what the list has, also after an edit; one
// that was deleted, is on another pull request or is of another kind does not exist.
func oneComment(t *testing.T, s *Stage, f forge.Forge) {
	read := 0
	for number, p := range Shop().Pulls {
		for _, want := range s.told(p, p.Comments) {
			ref := forge.CommentRef{Kind: want.Kind, ID: want.ID}
			got, err := f.ReadComment(t.Context(), repo(f), number, ref)
			if err != nil {
				t.Errorf("#%d, %+v: %v", number, ref, err)
				continue
			}
			read++
			if d := cmp.Diff(want, got, addresses...); d != "" {
				t.Errorf("#%d, %+v (-want +got):\n%s", number, ref, d)
			}
			if _, err := f.ReadComment(t.Context(), repo(f), number%3+1, ref); number != number%3+1 &&
				forge.KindOf(err) != forge.KindNotFound {
				t.Errorf("#%d, %+v is on another pull request, too: %v", number, ref, err)
			}
		}
	}
	if read < 5 {
		t.Errorf("the world has only %d comments", read)
	}
	p := s.World.Repo("acme", "shop").Pulls[1]
	for _, m := range []forge.Comment{
		s.World.Say(p, Bo, "", "Please wrap it."),
		s.World.Remark(p, Bo, goodRemarks[0].Span, "Please wrap it."),
	} {
		ref := forge.CommentRef{Kind: m.Kind, ID: m.ID}
		s.Clock.Pass(time.Minute)
		s.World.Rewrite(p, ref, "Please wrap the error.")
		if got, err := f.ReadComment(t.Context(), repo(f), 1, ref); err != nil ||
			string(got.Body) != "Please wrap the error." || got.Author.ID != Bo.ID {
			t.Errorf("after an edit, %+v is %+v, %v", ref, got, err)
		}
		s.World.Change(func() { p.remove(ref) })
		for _, gone := range []forge.CommentRef{ref, {Kind: m.Kind, ID: "99999"}} {
			if _, err := f.ReadComment(t.Context(), repo(f), 1, gone); forge.KindOf(err) != forge.KindNotFound {
				t.Errorf("%+v, which does not exist: %v", gone, err)
			}
		}
	}
	for _, bad := range []forge.CommentRef{{Kind: forge.OnThread, ID: "../7"}, {Kind: forge.OnLine}} {
		if _, err := f.ReadComment(t.Context(), repo(f), 1, bad); forge.KindOf(err) != forge.KindRefused {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
