package review

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/text"
)

// judgePrecedents asks in one request which comments make the same point as a finding, and returns
// what it could not find out. A yes needs a quote that is in the comment.
func (x *reader) judgePrecedents(ctx context.Context, doubts []*hitPair) (failure string) {
	if len(doubts) == 0 {
		return ""
	}
	slices.SortStableFunc(doubts, func(a, b *hitPair) int {
		return cmp.Or(
			cmp.Compare(a.rank, b.rank), // the best comment of each finding first
			cmp.Compare(a.finding.Severity.Rank(), b.finding.Severity.Rank()),
			-cmp.Compare(a.finding.Confidence, b.finding.Confidence),
			byContent(a.finding, b.finding),
		)
	})
	doubts = doubts[:min(len(doubts), prompt.MostPairs)]
	pairs := make([]prompt.Pair, len(doubts))
	for i, p := range doubts {
		pairs[i] = p.pair(i, x.secrets)
	}
	before := len(x.failures)
	for i, said := range x.compare(ctx, prompt.Precedents(pairs), len(pairs),
		"pairs of a finding and a comment of a person, so only certain matches were cited") {
		p := doubts[i]
		p.judged = true
		if p.same = said.Covered(pairs[i].Texts...) && speaksOf(said.Quote, p.finding); p.same {
			p.quote = said.Quote
		}
	}
	if len(x.failures) > before {
		return x.failures[before].Error
	}
	return ""
}

// pair returns what a judge is shown of the finding, whose secrets must be redacted already, and
// of the comment.
func (p *hitPair) pair(i int, b redactor) prompt.Pair {
	h := &p.hit
	where := fmt.Sprintf("pull request %d", h.Pull)
	if h.Path != "" {
		where = h.String() + ", " + where
	}
	said := words(&h.CorpusChunk)
	b.redact(&said)
	return prompt.CommentPair(match.PairID(i), remark(p.finding), precedent.Untrusted(said), where)
}

// speaksOf reports whether a quote has a word in common with a finding. The sentence of a comment
// that tells a judge what to answer has none.
func speaksOf(quote string, f *precedent.Finding) bool {
	return text.Cosine(text.NewVector(quote), text.NewVector(f.Title+"\n"+f.Body)) > 0
}

// quotedIn reports whether a judge of an earlier review found the same point in a sentence that the
// comment still has.
func (p *hitPair) quotedIn(cites []precedent.Cite) bool {
	id := commentID(&p.hit.CorpusChunk)
	for _, c := range cites {
		if c.ID != id || c.Precedent == nil {
			continue
		}
		said := match.Answer{Same: true, Quote: c.Precedent.Quote}
		if said.Covered(words(&p.hit.CorpusChunk)) && speaksOf(said.Quote, p.finding) {
			p.quote = c.Precedent.Quote
			return true
		}
	}
	return false
}
