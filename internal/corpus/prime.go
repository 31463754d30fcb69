package corpus

import (
	"context"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
)

// Limits of priming.
const (
	leastUsable = 50   // usable chunks, below which there are too few to tell a norm
	maxNorms    = 8    // that finders are told
	maxTokens   = 1200 // of all norms together, by the estimate of prompts
)

// Prime finds what people said before about code like the added lines of a change, as at most
// eight norms of at most 1,200 tokens together, the most relevant first. Query.Pull and
// Query.Before limit the comments to earlier ones of other pull requests; its other fields are
// ignored. However large the change, the work is bounded.
func (x *Index) Prime(_ context.Context, change *diff.Change, q Query) Priming {
	p := Priming{Searched: x.Len()}
	if p.Searched < leastUsable {
		p.Off = "the corpus has fewer than 50 usable comments"
		return p
	}
	var b strings.Builder
	for i := range change.Files {
		for l := range change.Files[i].AddedLines() {
			if b.Len() < 64<<10 {
				b.WriteString(l.Text + "\n")
			}
		}
	}
	q.Limit, q.All = maxNorms, false
	for _, h := range x.scan(b.String(), q) {
		p.Norms = append(p.Norms, Norm{Text: h.Words, Sources: []precedent.CorpusChunk{h.CorpusChunk}})
	}
	return p
}
