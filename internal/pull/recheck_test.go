package pull

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// citedOn is a stage with an earlier pull request, and a publisher of pull request 7.
func citedOn(t *testing.T) (*stage, *forgetest.Pull, *Publisher) {
	t.Helper()
	s := newStage(t)
	old := &forgetest.Pull{PullRequest: forge.PullRequest{
		Number: 3, Title: "Before", Author: forgetest.Ann, State: forge.Merged, Updated: forgetest.Epoch, Base: s.Pull.Base,
		Head: s.Pull.Head,
	}}
	s.World.Change(func() { s.World.Repo("acme", "shop").Pulls[3] = old })
	db := needs.Value(store.OpenMemory(t.Context(), store.Options{Now: s.Clock.Now}))(t)
	t.Cleanup(func() { db.Close() })
	repo := s.repo()
	rows := needs.Value(db.RepoFor(t.Context(), repo))(t)
	return s, old, &Publisher{Rows: rows, Pull: &Pull{
		Env: s.env, Conn: s.connection, Repo: &Repository{Repository: &workspace.Repository{}, Repo: repo},
	}}
}

func citeOf(m forge.Comment, excerpt string) precedent.Cite {
	return precedent.Cite{
		Kind: precedent.CitesPrecedent, ID: fmt.Sprintf("%s:%s", m.Kind, m.ID), Text: excerpt, URL: "https://old.example/x",
		Precedent: &precedent.CitedComment{Pull: 3, AuthorID: m.Author.ID, Author: "former-login", Kind: string(m.Kind)},
	}
}

// TestRecheck: what still holds is cited, as it is now; what was deleted, edited or is somebody
// else's is not, the finding stays, and the review says so. A deletion is recorded.
func TestRecheck(t *testing.T) {
	s, old, p := citedOn(t)
	const words = "Please wrap the error, else nobody knows the file."
	said := make([]forge.Comment, 4)
	for i := range said {
		s.Clock.Pass(time.Minute)
		said[i] = s.World.Say(old, forgetest.Bo, "", words)
	}
	kept := corpus.Corpus{Rows: p.Rows, Now: s.Clock.Now}
	page := corpus.Page{}
	for _, m := range said {
		page.Comments = append(page.Comments, corpus.Comment{CorpusComment: precedent.CorpusComment{
			Kind: string(m.Kind), ID: m.ID, Root: m.ID, Pull: 3, AuthorID: m.Author.ID, Author: m.Author.Login, MayWrite: true,
			Body: m.Body, At: m.At, UpdatedAt: m.Edited,
		}})
	}
	needs.Value(kept.Save(t.Context(), page))(t)
	ref := func(m forge.Comment) forge.CommentRef { return forge.CommentRef{Kind: m.Kind, ID: m.ID} }
	s.World.Remove(old, ref(said[1]))
	s.World.Rewrite(old, ref(said[2]), "Never mind.")
	somebody := citeOf(said[3], words)
	somebody.Precedent.AuthorID = "99"
	elsewhere := citeOf(said[3], words)
	elsewhere.ID, elsewhere.Precedent.Kind = "inline:"+string(said[3].ID), "inline"
	guide := precedent.Cite{Kind: "guide", ID: "CLAUDE.md:1"}
	r := &precedent.Review{Findings: []precedent.Finding{
		{ID: "a", Cites: []precedent.Cite{guide, citeOf(said[0], words), citeOf(said[1], words), citeOf(said[2], words)}},
		{ID: "b", Cites: []precedent.Cite{somebody, citeOf(said[0], words)}},
		{ID: "c", Cites: []precedent.Cite{elsewhere}},
	}}
	r.Memory.Precedents = []precedent.Cite{
		citeOf(said[0], words), citeOf(said[1], words), citeOf(said[2], words), somebody, elsewhere,
	}
	p.recheck(t.Context(), r)
	for i, want := range []int{2, 1, 0} {
		if got := r.Findings[i].Cites; len(got) != want {
			t.Errorf("finding %d cites %+v", i, got)
		}
	}
	if c := r.Findings[0].Cites[1]; c.Precedent.Author != forgetest.Bo.Login || !strings.Contains(c.URL, "/acme/shop/") {
		t.Errorf("cited as it was: %+v of %+v", c, c.Precedent)
	}
	if use := r.Memory.PrecedentUse; use.Cited != 1 || len(r.Memory.Precedents) != 1 || len(r.Failures) != 1 ||
		!strings.HasPrefix(r.Failures[0].Error, "4 comments are not cited: deleted or edited") {
		t.Errorf("%+v, %+v", use, r.Failures)
	}
	var left []precedent.ForgeID
	needs.NoError(t, p.Rows.CorpusChunks(t.Context(), func(c precedent.CorpusChunk) error {
		left = append(left, c.ID)
		return nil
	}))
	if slices.Contains(left, said[1].ID) || !slices.Contains(left, said[0].ID) {
		t.Errorf("the corpus has %v", left)
	}
}

// TestRecheckFails: nothing is cited that could not be checked, and a server that fails is not
// asked about every comment.
func TestRecheckFails(t *testing.T) {
	s, old, p := citedOn(t)
	r := &precedent.Review{}
	for range 4 {
		r.Findings = append(r.Findings, precedent.Finding{Cites: []precedent.Cite{citeOf(s.World.Say(old, forgetest.Bo, "",
			"Wrap the error"), "Wrap the error")}})
	}
	s.Script.Plan(forgetest.Fault{Status: 500, Times: 100})
	before := len(s.Script.Requests())
	p.recheck(t.Context(), r)
	if n := len(s.Script.Requests()) - before; n > 8 {
		t.Errorf("%d requests", n)
	}
	for _, f := range r.Findings {
		if len(f.Cites) > 0 {
			t.Errorf("unchecked: %+v", f.Cites)
		}
	}
	if len(r.Failures) != 1 || !strings.HasPrefix(r.Failures[0].Error,
		"4 comments are not cited, because they could not be read again") || r.Memory.PrecedentUse.Cited != 0 {
		t.Errorf("%+v", r.Failures)
	}
}
