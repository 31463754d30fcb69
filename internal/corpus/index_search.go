package corpus

import (
	"context"
	"strings"

	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/search"
)

// Search finds what people wrote about the words, the lines of code and the path of a query, best
// first, for people and for agents. The last of Query.Lines is the line in question. The ranks and
// priors of a hit explain its place.
func (x *Index) Search(ctx context.Context, q Query) Result {
	var failures []string
	if strings.TrimSpace(q.Text) != "" {
		if failure := x.vectors.ask(ctx, []string{q.Text}); failure != "" {
			failures = append(failures, failure)
		}
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	r := x.ranker(&q)
	if strings.TrimSpace(q.Text) != "" {
		r.text(q.Text)
		r.vector(x.vectors.of(q.Text))
	}
	if len(q.Lines) > 0 {
		h := &diff.Hunk{}
		for _, l := range q.Lines[max(0, len(q.Lines)-maxQueryLines):] {
			h.Lines = append(h.Lines, diff.Line{Op: diff.Add, Text: l})
		}
		r.code(codeAt(q.Path, h, len(h.Lines)-1))
	}
	if len(r.found) == 0 && strings.TrimSpace(q.Text) == "" && len(q.Lines) == 0 && q.Path != "" {
		r.path(q.Path)
	}
	searched := x.usable.Len()
	if q.All {
		searched += x.others.Len()
	}
	return Result{Hits: r.hits(), Searched: searched, Failures: failures}
}

// path scores what is about the file, or one with a similar path.
func (r *ranker) path(path string) {
	lists := []search.List{search.PathWords}
	for _, h := range r.find(search.Query{Path: path, Lists: lists, Fused: lists, Depth: codeDepth, Limit: codeDepth}) {
		r.add(h, h.Score)
	}
}

// textDepth is how many chunks of each list are compared with a text.
const textDepth = 100

// text scores what says the same.
func (r *ranker) text(s string) {
	words := bag{}
	words.add(s, 1)
	q := words.query(r.x.usable)
	lists := []search.List{search.TextWords, search.TextChars}
	for _, h := range r.find(search.Query{Text: s, Lists: lists, Fused: lists, Depth: textDepth, Limit: textDepth * len(lists)}) {
		chars := h.Cosine
		h.Cosine = r.profile(h.ID).cosine(q)
		r.add(h, h.Cosine+chars)
	}
}
