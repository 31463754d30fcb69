package eval

import (
	"fmt"
	"os"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/corpus"
)

func TestTune(t *testing.T) {
	dir := os.Getenv("TUNE")
	if dir == "" {
		t.Skip()
	}
	files, _, err := readReviews([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		step := 1
		if len(f.all) > 1500 {
			step = 4
		}
		var own []precedent.CorpusChunk
		for _, c := range f.all {
			c := c.CorpusChunk
			c.Hunk, c.Path, c.Body = "", "", c.Words
			own = append(own, c)
		}
		x := corpus.NewIndex(own)
		var ranks []int
		for i := range f.all {
			c := &f.all[i]
			if c.Unusable != "" || len(c.hunk.Lines) == 0 || i%step != 0 {
				continue
			}
			ranks = append(ranks, rankOf(x.About(t.Context(), &c.hunk, f.at(c), corpus.Query{Path: c.Path, Limit: 1000}), func(h *corpus.Hit) bool { return h.ID == c.ID }))
		}
		fmt.Println("own", f.name, x.Len(), show(ranks))
		x = corpus.NewIndex(f.chunks())
		var all, usable, text []int
		for i := range f.all {
			c := &f.all[i]
			if f.precedents(&c.CorpusChunk, false) == 0 {
				continue
			}
			q := corpus.Query{Path: c.Path, Pull: c.Pull, Before: c.At, Limit: 1000, All: true}
			same := func(h *corpus.Hit) bool { return f.same(&h.CorpusChunk, &c.CorpusChunk) }
			all = append(all, rankOf(x.About(t.Context(), &c.hunk, f.at(c), q), same))
			if f.precedents(&c.CorpusChunk, true) == 0 {
				continue
			}
			q.All = false
			usable = append(usable, rankOf(x.About(t.Context(), &c.hunk, f.at(c), q), same))
			text = append(text, rankOf(x.Matches(t.Context(), &precedent.Finding{Body: string(c.Words)}, q), same))
		}
		fmt.Println("precedent all", f.name, show(all))
		fmt.Println("precedent usable", f.name, show(usable))
		fmt.Println("text usable", f.name, show(text))
	}
}

func rankOf(hits []corpus.Hit, right func(*corpus.Hit) bool) int {
	for i := range hits {
		if right(&hits[i]) {
			return i + 1
		}
	}
	return 0
}

func show(ranks []int) string {
	n := float64(len(ranks))
	var mrr, r1, r5, r10, r50, any float64
	for _, r := range ranks {
		if r == 0 {
			continue
		}
		any++
		mrr += 1 / float64(r)
		if r <= 1 {
			r1++
		}
		if r <= 5 {
			r5++
		}
		if r <= 10 {
			r10++
		}
		if r <= 50 {
			r50++
		}
	}
	return fmt.Sprintf("n %.0f MRR %.3f R@1 %.3f R@5 %.3f R@10 %.3f R@50 %.3f any %.3f", n, mrr/n, r1/n, r5/n, r10/n, r50/n, any/n)
}
