package corpus

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/prompt"
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
	vocabulary := strings.Fields("error wrap context close file lock token query loop index cache retry buffer limit test sleep name header parse owner")
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
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, seed))
	for range 30 {
		all := drawn(rng, 90)
		x := NewIndex(all)
		for range 10 {
			c := all[rng.IntN(len(all))]
			q := Query{Pull: c.Pull, Before: c.At, Path: c.Path, Limit: 1 + rng.IntN(100), All: rng.IntN(2) == 0}
			hits := x.Matches(context.Background(), &precedent.Finding{Title: string(c.Words)}, q)
			if len(hits) > q.Limit {
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

// TestUpdate: an index that was updated finds what a new one does.
func TestUpdate(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	all := drawn(rng, 80)
	x := NewIndex(all[:50])
	edited := all[3]
	edited.Words = "close the lock before the token is parsed"
	deleted := all[7]
	deleted.DeletedAt = began
	x.Update(append(slices.Clone(all[50:]), edited, deleted), []string{ChunkID(&all[9])})
	var left []precedent.CorpusChunk
	for i, c := range all {
		switch i {
		case 3:
			left = append(left, edited)
		case 7, 9:
		default:
			left = append(left, c)
		}
	}
	fresh := NewIndex(left)
	if x.Len() != fresh.Len() {
		t.Fatalf("%d usable, want %d", x.Len(), fresh.Len())
	}
	for _, q := range []Query{{Text: "close the lock", All: true}, {Lines: []string{"	lock.close(file)"}}, {Path: "a.go"}} {
		got, want := x.Search(context.Background(), q).Hits, fresh.Search(context.Background(), q).Hits
		if len(got) != len(want) || len(got) == 0 {
			t.Fatalf("%+v: %d hits, want %d", q, len(got), len(want))
		}
		for i := range got {
			if got[i].ID != want[i].ID || got[i].Score-want[i].Score > 1e-9 {
				t.Errorf("%+v: hit %d is %s, want %s", q, i, got[i].ID, want[i].ID)
			}
		}
	}
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

// TestPriors: the same words count more in the same file, by who may write, when newer, and less
// if they were declined; and no prior outweighs other words.
func TestPriors(t *testing.T) {
	const words = "wrap the error of Query before it is returned"
	for name, edit := range map[string]func(*precedent.CorpusChunk){
		"path":     func(c *precedent.CorpusChunk) { c.Path = "b.go" },
		"writer":   func(c *precedent.CorpusChunk) { c.MayWrite = false },
		"declined": func(c *precedent.CorpusChunk) { c.Outcome = precedent.CommentDeclined },
		"age":      func(c *precedent.CorpusChunk) { c.At = c.At.AddDate(-3, 0, 0) },
	} {
		better, worse, other := said(1, 1, "x", words), said(2, 2, "x", words), said(3, 3, "x", "the cache is never emptied, so it grows")
		worse.At = better.At
		edit(&worse)
		hits := NewIndex([]precedent.CorpusChunk{worse, better, other}).Matches(context.Background(), &precedent.Finding{Title: words}, Query{Path: "a.go"})
		if len(hits) < 2 || hits[0].ID != "1" || hits[1].ID != "2" || hits[0].Score <= hits[1].Score {
			t.Errorf("%s: %+v", name, hits)
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
	p := NewIndex(all).Prime(context.Background(), change, Query{Pull: 72})
	if len(p.Norms) == 0 || len(p.Norms[0].Sources) != 2 || p.Off != "" || p.Searched != 84 {
		t.Fatalf("%+v", p)
	}
	for _, n := range p.Norms {
		if strings.Contains(string(n.Text), "heed") {
			t.Errorf("a stranger is heeded: %+v", n)
		}
	}
	checkPriming(t, &p, 72)
	if p := NewIndex(all[:leastUsable-1]).Prime(context.Background(), change, Query{}); p.Off == "" || len(p.Norms) > 0 {
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
	if got := addedLines(added("a.go", lines...)); len(got) != maxPrimed {
		t.Errorf("%d lines are compared", len(got))
	}
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
		p := x.Prime(context.Background(), added(text, strings.Split(text, "\n")...), Query{Pull: 3})
		checkPriming(t, &p, 3)
		x.Matches(context.Background(), &precedent.Finding{Title: text, Body: text}, Query{Path: text})
		x.Search(context.Background(), Query{Text: text, Lines: strings.Split(text, "\n"), Path: text, Limit: -1})
	})
}
