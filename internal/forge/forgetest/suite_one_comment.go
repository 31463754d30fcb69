package forgetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent/internal/forge"
)

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
