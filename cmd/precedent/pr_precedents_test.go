package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/store"
)

// overhearing is a witness that keeps what finders are told.
type overhearing struct {
	*witness
	mu     sync.Mutex
	common string
}

func (o *overhearing) Run(ctx context.Context, t engine.Task) (engine.Answer, error) {
	if t.Role == engine.Finder {
		o.mu.Lock()
		o.common = t.Common
		o.mu.Unlock()
	}
	return o.witness.Run(ctx, t)
}

// TestPrecedentsOnAPullRequest: what a maintainer wrote on one pull request primes the finders of
// another and is cited there, in the comment and in the result, unless the team decided otherwise
// since. A comment of the pull request itself is not.
func TestPrecedentsOnAPullRequest(t *testing.T) {
	t.Parallel()
	s := &witnessed{newFilePull(t, map[string]string{"flaws.js": numbered("s", 40, nil)}, map[string]string{"flaws.js": numbered("s", 40, nil), "other.js": "fine()\n"}), nil, "GitHub"}
	s.w = &witness{look: func(string) (string, string) { return "still_there", "" }}
	s.parrot = &parrot{}
	heard := &overhearing{witness: s.w}
	s.app.fixedEngine = heard
	s.withoutSay()
	world := s.door.stage.World
	s.posts("before", precedent.ExitClean)
	const said = "Flaw alpha: alphaone alphatwo alphathree alphafour alphafive."
	earlier := s.nextPull(5)
	cited, own := world.Say(earlier, maintainer, "", said), world.Say(s.pull, maintainer, "", said)
	at := s.app.now().Add(-time.Hour).UTC().Truncate(time.Second)
	wrote := func(number int, id precedent.ForgeID, words string) corpus.Comment {
		return corpus.Comment{CorpusComment: precedent.CorpusComment{
			Kind: string(forge.OnThread), ID: id, Root: id, Pull: number, Author: maintainer.Login, AuthorID: maintainer.ID, MayWrite: true, Body: precedent.Untrusted(words),
			URL: fmt.Sprintf("%s/octo/app/pull/%d#issuecomment-%s", s.door.URL, number, id), At: at, UpdatedAt: at,
		}}
	}
	page := corpus.Page{Comments: []corpus.Comment{wrote(5, cited.ID, said), wrote(7, own.ID, said)}}
	for i, what := range strings.Fields("invoice header button migration client package logger hash response comma clock error configuration vendor lock") {
		for j, how := range strings.Fields("rename simplify test document") {
			c := wrote(3, precedent.ForgeID(fmt.Sprint(9000+10*i+j)), fmt.Sprintf("Please %s the %s before the release, customers asked for bad(%d) there", how, what, i))
			c.Kind, c.Span, c.Hunk = string(forge.OnLine), precedent.Span{Path: "flaws.js", Side: precedent.Right, Start: 11, End: 11}, precedent.Untrusted("@@ -11 +11 @@\n+bad(11)")
			page.Comments = append(page.Comments, c)
		}
	}
	s.inMemory(func(rows *store.Repo) {
		got, err := (&corpus.Corpus{Rows: rows, Now: time.Now}).Save(t.Context(), page)
		if err != nil || got.Stored != len(page.Comments) {
			t.Fatalf("saved %+v, %v", got, err)
		}
	})
	s.w.finds = []told{flawAt("alpha", 11, 11), flawAt("zebra", 30, 30)}
	s.push("More", map[string]string{"flaws.js": flawed("", nil)})
	r := s.result("cited", "--post")
	for _, f := range r.Findings {
		switch f.Title {
		case "Flaw alpha":
			if len(f.Cites) != 1 || f.Cites[0].ID != "issue:"+string(cited.ID) || f.Cites[0].Precedent.Pull != 5 || f.Cites[0].Precedent.Author != maintainer.Login || f.Cites[0].Text != said || !f.Cites[0].Precedent.At.Equal(at) {
				t.Errorf("cites %+v", f.Cites)
			}
		case "Flaw zebra":
			if len(f.Cites) > 0 {
				t.Errorf("cites %+v", f.Cites)
			}
		}
	}
	if use := r.Memory.PrecedentUse; use.Cited != 1 || use.Shown == 0 || use.Searched < 50 || len(use.Failures) > 0 {
		t.Errorf("used %+v", use)
	}
	if !strings.Contains(heard.common, "## Human Review Precedents") || !strings.Contains(heard.common, "before the release") {
		t.Errorf("finders are told\n%s", heard.common)
	}
	if c := s.remark(s.w.finds[0]); c == nil || !strings.Contains(string(c.Body), "previously flagged this pattern") || !strings.Contains(string(c.Body), "PR 5") || strings.Contains(string(c.Body), "@"+maintainer.Login) {
		t.Errorf("the comment is %+v", c)
	}
	if c := s.remark(s.w.finds[1]); c == nil || strings.Contains(string(c.Body), "previously") {
		t.Errorf("the comment is %+v", c)
	}

	// On another pull request the same remark is not cited once people dismissed it.
	for _, c := range world.By(s.pull, forgetest.Bot) {
		if strings.Contains(string(c.Body), "Flaw alpha") && c.Kind == forge.OnLine {
			world.Say(s.pull, maintainer, c.ID, "Won't fix, this is intended in this repository.")
		}
	}
	s.posts("declined", precedent.ExitFindings)
	s.push("Again", map[string]string{"more.js": "bad(1)\n"})
	s.w.finds = []told{{name: "alpha", path: "more.js", quote: "bad(1)", start: 1, end: 1, severity: "high"}}
	s.app.fixedEngine = agreeing{s.w}
	r = s.result("after the rejection", "--post")
	again := 0
	for _, f := range r.Live() {
		if f.Path == "more.js" {
			again++
			if len(f.Cites) > 0 {
				t.Errorf("%s %q cites %+v", f.Severity, f.Title, f.Cites)
			}
		}
	}
	if again != 1 {
		t.Errorf("findings %+v", r.Findings)
	}
}

// result reviews the pull request and reads the result.
func (s *witnessed) result(step string, more ...string) *precedent.Review {
	s.t.Helper()
	status, said := s.run(append([]string{"pr", s.door.URL + "/octo/app/pull/7", "--format", "json"}, more...)...)
	var r precedent.Review
	if err := json.Unmarshal(s.out.Bytes(), &r); err != nil {
		s.t.Fatalf("%s: status %d, %v\n%s", step, status, err, said)
	}
	return &r
}
