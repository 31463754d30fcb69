package corpus

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/search"
	"github.com/precedent-dev/precedent/internal/store"
)

// Search finds what people wrote about the words, the lines of code and the path of a query, best first, for people
// and for agents, also in few words: what people often ask for is short, and cannot be cited. The last of Query.Lines
// is the line in question. The ranks and priors of a hit explain its place.
func (x *Index) Search(ctx context.Context, q Query) (Result, error) {
	var out Result
	asks := strings.TrimSpace(q.Text) != ""
	r := x.ranker(&q)
	r.short = true
	if asks {
		if failure := r.ask(ctx, []string{q.Text}); failure != "" {
			out.Failures = append(out.Failures, failure)
		}
		r.text(ctx, q.Text)
	}
	if len(q.Lines) > 0 {
		h := &diff.Hunk{}
		for _, l := range q.Lines[max(0, len(q.Lines)-maxQueryLines):] {
			h.Lines = append(h.Lines, diff.Line{Op: diff.Add, Text: l})
		}
		r.code(ctx, codeAt(h, len(h.Lines)-1))
	}
	if !asks && len(q.Lines) == 0 && q.Path != "" {
		for _, c := range r.candidates(ctx, fieldQuery(search.Path, q.Path)) {
			score := c.Ranks[search.Path].Score
			if score /= 1 + score; c.chunk.Path == q.Path {
				score = 1 // more than any other file has
			}
			r.score(c, score, 0)
		}
	}
	usable, short, others := x.terms.Len()
	if out.Searched = usable + short; q.All {
		out.Searched += others
	}
	var err error
	out.Hits, err = r.hits()
	return out, err
}

func fieldQuery(f search.Field, s string) search.Query {
	var q search.Query
	q.Fields[f] = s
	return q
}

// text scores what says the same, by its words and characters, and if an embedding model was asked
// for the vector of the text, by that.
func (r *ranker) text(ctx context.Context, s string) {
	words := bag{}
	words.add(s, 1)
	q, chars := words.query(r.x.terms), textGrams(s)
	for _, c := range r.candidates(ctx, fieldQuery(search.Text, s)) {
		cosine := c.cosine(q)
		r.score(c, cosine+rarities(nil).cosine(c.chars, chars), cosine)
	}
	r.vector(ctx, s)
}

// Matches finds the usable comments that may make the same point as a finding, best first. Only
// the finding's title and body are compared, with what the first comment of a conversation says:
// code never is. Query.Path is compared with the path of a comment; Query.Pull and Query.Before
// limit the comments to earlier ones of other pull requests, and Query.Limit their number.
// Query.Text, Query.Lines and Query.All are ignored. Hit.Strength says which may be cited. The
// vectors of an embedding model count if EmbedFindings got that of the finding.
func (x *Index) Matches(ctx context.Context, f *precedent.Finding, q Query) ([]Hit, error) {
	q.All = false
	r := x.ranker(&q)
	r.firstOnly = true
	r.text(ctx, findingText(f))
	hits, err := r.hits()
	if err != nil || x.regulars == nil {
		return hits, err
	}
	return hits, x.markRegulars(ctx, hits)
}

// regularFrom is in how many pull requests of others a regular reviewer began conversations. On two projects, what
// such people said led to a merged change as often as what members said (72 and 62 % of first comments on lines, 55
// and 68 %), more often than what the rest said (53 and 50 %); the share that may be cited rose from 8 to 89 % and
// from 51 to 71 % (bitcoin-core/secp256k1 and gui).
const regularFrom = 10

// markRegulars sets which hits have an author who reviews regularly. Each login is looked up once.
func (x *Index) markRegulars(ctx context.Context, hits []Hit) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.asked == nil {
		x.asked, x.regular = map[string]bool{}, map[store.CorpusAuthor]bool{}
	}
	var logins []string
	for i := range hits {
		if h := &hits[i]; !h.MayWrite && h.Author != "" && !x.asked[h.Author] && !slices.Contains(logins, h.Author) {
			logins = append(logins, h.Author)
		}
	}
	found, err := x.regulars(ctx, logins, regularFrom)
	if err != nil {
		return err
	}
	maps.Copy(x.regular, found)
	for _, login := range logins {
		x.asked[login] = true
	}
	for i := range hits {
		h := &hits[i]
		h.Regular = x.regular[store.CorpusAuthor{ID: h.AuthorID, Login: h.Author}]
	}
	return nil
}

// Strength says whether a hit of Matches may be cited: a Strong one may, a Candidate if a judge says that both make
// the same point, a Weak one may not. Only the comment of an author who could write then, or who reviews regularly,
// is more than Weak, and only if it exists and was neither declined nor reverted. The two nearest by the vectors of
// an embedding model are Candidates.
func (h *Hit) Strength() Strength {
	switch {
	case h.Unusable != "" || !h.DeletedAt.IsZero() || !h.MayWrite && !h.Regular:
		return Weak
	case h.Outcome == precedent.CommentDeclined || h.Outcome == precedent.CommentReverted:
		return Weak
	case h.Cosine >= StrongCosine:
		return Strong
	case h.Cosine >= CandidateCosine || h.byVector():
		return Candidate
	}
	return Weak
}

// The least similarities of texts for a citation.
const (
	StrongCosine    = 0.75 // without a judge
	CandidateCosine = 0.35 // with a judge
)
