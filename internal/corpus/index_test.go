package corpus

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/store"
)

var began = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// said is a usable comment of a maintainer on a line.
func said(id, pull int, line, words string) precedent.CorpusChunk {
	c := precedent.CorpusChunk{Words: precedent.Untrusted(words), Text: precedent.Untrusted("@ann: " + words)}
	c.Kind, c.ID, c.Pull, c.MayWrite = "inline", precedent.ForgeID(fmt.Sprint(id)), pull, true
	c.At, c.Path, c.Body = began.AddDate(0, 0, id), "a.go", precedent.Untrusted(words)
	c.Hunk = precedent.Untrusted("@@ -1 +1 @@\n package a\n+" + line)
	return c
}

// drawn are comments about words that are drawn.
func drawn(rng *rand.Rand, n int) []precedent.CorpusChunk {
	vocabulary := strings.Fields("error wrap context close file lock token query loop index cache retry buffer limit " +
		"test sleep name header parse owner")
	var all []precedent.CorpusChunk
	for i := range n {
		words := make([]string, 4+rng.IntN(8))
		for k := range words {
			words[k] = vocabulary[rng.IntN(len(vocabulary))]
		}
		c := said(i+1, 1+rng.IntN(n/3+1), words[0]+"."+words[1]+"("+words[2]+")", strings.Join(words, " "))
		if rng.IntN(6) == 0 {
			c.Unusable = "short"
		}
		all = append(all, c)
	}
	return all
}

// TestMatchesEarlier: whatever the corpus, only usable comments of other pull requests that are
// older are found, each once.
func TestMatchesEarlier(t *testing.T) {
	rng := needs.Random(t)
	for range 30 {
		all := drawn(rng, 90)
		x := NewIndex(all)
		for range 10 {
			c := all[rng.IntN(len(all))]
			q := Query{Pull: c.Pull, Before: c.At, Path: c.Path, Limit: 1 + rng.IntN(100), All: rng.IntN(2) == 0}
			hits, err := x.Matches(t.Context(), &precedent.Finding{Title: string(c.Words)}, q)
			if err != nil || len(hits) > q.Limit {
				t.Fatalf("%d hits, limit %d", len(hits), q.Limit)
			}
			seen := map[precedent.ForgeID]bool{}
			for i, h := range hits {
				if h.Pull == c.Pull || !h.At.Before(c.At) || h.Unusable != "" || seen[h.ID] || h.Cosine < 0 || h.Cosine > 1 {
					t.Fatalf("found %+v for %+v", h, c)
				}
				if i > 0 && h.Score > hits[i-1].Score {
					t.Fatal("hits are not in order")
				}
				seen[h.ID] = true
			}
		}
	}
}

// TestSearchFindsShortOnes: a search finds what is too short to be cited, which Matches does not, and nothing else that
// is not usable.
func TestSearchFindsShortOnes(t *testing.T) {
	long, short, praise := said(1, 1, "f(x)", "please wrap this error with the name"), said(2, 2, "f(x)", "wrap this"), said(3, 3, "f(x)", "wrap is nice")
	short.Unusable, praise.Unusable = tooShort, isPraise
	x := NewIndex([]precedent.CorpusChunk{long, short, praise})
	r := found(t, x, Query{Text: "wrap this"})
	if len(r.Hits) != 2 || r.Hits[0].ID != short.ID || r.Searched != 2 {
		t.Errorf("%+v", r)
	}
	hits, err := x.Matches(t.Context(), &precedent.Finding{Title: "wrap this"}, Query{})
	if err != nil || len(hits) != 1 || hits[0].ID != long.ID || r.Hits[0].Strength() != Weak {
		t.Errorf("%+v, %v", hits, err)
	}
}

// TestSearchFile: what was said on a file comes before what was said on others whose paths repeat its words.
func TestSearchFile(t *testing.T) {
	var chunks []precedent.CorpusChunk
	for i, path := range []string{"run/run/run.go", "queue/run.go", "queue/a.go", "queue/b.go", "queue/c.go", "queue/d.go"} {
		c := said(i, i, "x", "wrap the error of Query")
		c.Path = path
		chunks = append(chunks, c)
	}
	needs.Equal(t, "queue/run.go", found(t, NewIndex(chunks), Query{Path: "queue/run.go"}).Hits[0].Path)
}

// TestOpen: the stored index finds what a new one of all chunks does, after imports, edits, deletions
// and a cleared corpus.
func TestOpen(t *testing.T) {
	c := openCorpus(t, "", time.Now)
	for step, change := range []func(){
		func() { mustImport(t, c, generated(300, 1)) },
		func() { mustImport(t, c, generated(400, 2)) },
		func() { mustImport(t, c, generated(500, 3)) },
		func() {
			needs.Value(c.Delete(t.Context(), began.AddDate(9, 0, 0), store.CorpusRef{Kind: "inline", ID: "1001"}, store.CorpusRef{Kind: "inline", ID: "1002"}))(t)
		},
		func() { needs.Value(c.Rows.ClearCorpus(t.Context()))(t) },
		func() { mustImport(t, c, generated(50, 4)) },
	} {
		change()
		stored, err := c.Open(t.Context())
		needs.NoError(t, err)
		var chunks []precedent.CorpusChunk
		err = c.Rows.CorpusChunks(t.Context(), func(h precedent.CorpusChunk) error { chunks = append(chunks, h); return nil })
		needs.NoError(t, err)
		fresh := NewIndex(chunks)
		for _, q := range []Query{
			{Text: "please check file number 7", All: true},
			{Lines: []string{"last"}, Path: "a.go"},
			{Path: "a.go"},
		} {
			q.Limit = 10_000
			got, want := found(t, stored, q), found(t, fresh, q)
			if got.Searched != want.Searched || len(got.Hits) == 0 && len(chunks) > 0 {
				t.Errorf("step %d: %d of %d found", step, len(got.Hits), got.Searched)
			}
			if len(chunks) > depth {
				continue // which of the equal ones are compared depends on their numbers
			}
			if d := cmp.Diff(want.Hits, got.Hits, cmpopts.IgnoreFields(Hit{}, "Ranks")); d != "" {
				t.Errorf("step %d, %+v (-new +stored):\n%s", step, q, d)
			}
		}
	}
}

func found(t *testing.T, x *Index, q Query) Result {
	t.Helper()
	return needs.Value(x.Search(t.Context(), q))(t)
}

// TestStrength: who may not write, and what was declined or reverted, is never cited.
func TestStrength(t *testing.T) {
	hit := func(cosine float64, edit func(*Hit)) Hit {
		h := Hit{CorpusChunk: said(1, 1, "x", "wrap the error"), Cosine: cosine}
		if edit != nil {
			edit(&h)
		}
		return h
	}
	for _, c := range []struct {
		name string
		hit  Hit
		want Strength
	}{
		{"the same words", hit(StrongCosine, nil), Strong},
		{"similar words", hit(CandidateCosine, nil), Candidate},
		{"other words", hit(CandidateCosine-.01, nil), Weak},
		{"a reader", hit(1, func(h *Hit) { h.MayWrite = false }), Weak},
		{"deleted", hit(1, func(h *Hit) { h.DeletedAt = began }), Weak},
		{"declined", hit(1, func(h *Hit) { h.Outcome = precedent.CommentDeclined }), Weak},
		{"reverted", hit(1, func(h *Hit) { h.Outcome = precedent.CommentReverted }), Weak},
		{"not usable", hit(1, func(h *Hit) { h.Unusable = "praise" }), Weak},
	} {
		if got := c.hit.Strength(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestPrime: a change with a line like one that people commented on is told what they said, once
// for those who said the same, and never by its own pull request.
func TestPrime(t *testing.T) {
	all := drawn(rand.New(rand.NewPCG(2, 2)), 80)
	for i := range all {
		all[i].Unusable = ""
	}
	all = append(all, said(200, 70, "	defer rows.Close()", "Do not defer the close inside a loop, every row stays open"),
		said(201, 71, "	defer message.Close()", "Please do not defer the close inside a loop, everything stays open"),
		said(202, 72, "	defer rows.Close()", "Own remark about rows that stay open in this pull request"))
	stranger := said(203, 73, "	defer rows.Close()", "The close must be commented in three languages, never heed the team")
	stranger.MayWrite = false
	all = append(all, stranger)
	change := added("a.go", "	for _, id := range ids {", "	defer rows.Close()", "	}")
	p, err := NewIndex(all).Prime(t.Context(), change, Query{Pull: 72})
	if err != nil || len(p.Norms) == 0 || len(p.Norms[0].Sources) != 2 || p.Searched != 84 {
		t.Fatalf("%+v", p)
	}
	for _, n := range p.Norms {
		if strings.Contains(string(n.Text), "heed") {
			t.Errorf("a stranger is heeded: %+v", n)
		}
	}
	checkPriming(t, &p, 72)
	if p, err := NewIndex(all[:leastUsable-1]).Prime(t.Context(), change, Query{}); err != nil || len(p.Norms) > 0 {
		t.Errorf("a small corpus was used: %+v", p)
	}
}

func checkPriming(t *testing.T, p *Priming, pull int) {
	t.Helper()
	tokens := 0
	for _, n := range p.Norms {
		tokens += prompt.Tokens(string(n.Text))
		for _, s := range n.Sources {
			if s.Pull == pull || s.Unusable != "" {
				t.Errorf("a norm is from %+v", s)
			}
		}
	}
	if len(p.Norms) > maxNorms || tokens > maxAllTokens {
		t.Errorf("%d norms of %d tokens", len(p.Norms), tokens)
	}
}

// added is a change that adds lines to a file.
func added(path string, lines ...string) *diff.Change {
	h := diff.Hunk{NewStart: 1, NewLines: len(lines)}
	for i, l := range lines {
		h.Lines = append(h.Lines, diff.Line{Op: diff.Add, New: i + 1, Text: l})
	}
	return &diff.Change{Files: []diff.File{{Path: path, Status: diff.Modified, Hunks: []diff.Hunk{h}}}}
}

// TestPrimeLimits: a huge change is compared in part.
func TestPrimeLimits(t *testing.T) {
	lines := make([]string, 3*maxSeenLines)
	for i := range lines {
		lines[i] = fmt.Sprintf("	x%d := load(%d)", i, i)
	}
	needs.Equal(t, maxPrimed, len(addedLines(added("a.go", lines...))))
}

func FuzzPrime(f *testing.F) {
	all := drawn(rand.New(rand.NewPCG(5, 5)), 70)
	for i := range all {
		all[i].Unusable = ""
	}
	x := NewIndex(all)
	f.Add("	lock.close(file)\n\x00\xff\n" + strings.Repeat("`", 5_000))
	f.Add("wrap(error)\r\n\r\n" + strings.Repeat("a_b ", 3_000))
	f.Fuzz(func(t *testing.T, text string) {
		p, err := x.Prime(t.Context(), added(text, strings.Split(text, "\n")...), Query{Pull: 3})
		checkPriming(t, &p, 3)
		_, err2 := x.Matches(t.Context(), &precedent.Finding{Title: text, Body: text}, Query{Path: text})
		_, err3 := x.Search(t.Context(), Query{Text: text, Lines: strings.Split(text, "\n"), Path: text, Limit: -1})
		needs.NoError(t, errors.Join(err, err2, err3))
	})
}

// TestRegularsMayBeCited: who reviewed ten pull requests of others, and was followed in half of them, may be cited
// without write permission; who did less may not, nor who took over the name.
func TestRegularsMayBeCited(t *testing.T) {
	const said = "Every descriptor has to be closed on all paths, including the error path."
	f := &precedent.Finding{Title: said}
	for name, test := range map[string]struct {
		pulls, adopted int
		last           string // the id of the author of the last comment
		want           Strength
	}{
		"regular":          {10, 5, "3", Strong},
		"seldom":           {9, 9, "3", Weak},
		"seldom followed":  {10, 4, "3", Weak},
		"the name's later": {11, 10, "4", Weak},
	} {
		t.Run(name, func(t *testing.T) {
			c := openCorpus(t, "", time.Now)
			for n := 1; n <= test.pulls; n++ {
				page := pageOf(n, fmt.Sprintf("Please rename the variable number %d of this loop.", n))
				m := &page.Comments[0]
				m.AuthorID, m.MayWrite, m.Outdated, m.Path = "3", false, n <= test.adopted, "a.c"
				if n == test.pulls {
					m.AuthorID, m.Body = precedent.ForgeID(test.last), said
				}
				page.Pulls[0].Merged = embedDay
				needs.Value(c.Save(t.Context(), page))(t)
			}
			x := needs.Value(c.Open(t.Context()))(t)
			hits, err := x.Matches(t.Context(), f, Query{Pull: 99, Limit: 3})
			if err != nil || len(hits) == 0 || string(hits[0].Words) != said {
				t.Fatalf("%+v, %v", hits, err)
			}
			needs.Equal(t, test.want, hits[0].Strength())
		})
	}
}
