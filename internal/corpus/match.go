package corpus

import (
	"context"

	"github.com/precedent-dev/precedent"
)

// Matches finds the usable comments that may make the same point as a finding, best first. Only
// the finding's title and body are compared, with what the first comment of a conversation says:
// code never is. Query.Path is compared with the path of a comment; Query.Pull and Query.Before
// limit the comments to earlier ones of other pull requests, and Query.Limit their number.
// Query.Text, Query.Lines and Query.All are ignored. Hit.Strength says which may be cited. The
// vectors of an embedding model count if EmbedFindings got that of the finding.
func (x *Index) Matches(_ context.Context, f *precedent.Finding, q Query) []Hit {
	q.All = false
	x.mu.RLock()
	defer x.mu.RUnlock()
	r := x.ranker(&q)
	r.firstOnly = true
	r.text(findingText(f))
	r.vector(x.vectors.of(findingText(f)))
	return r.hits()
}

// Strength says whether a hit of Matches may be cited: a Strong one may, a Candidate if a judge
// says that both make the same point, a Weak one may not. Only the comment of an author who could
// write then is more than Weak, and only if it exists and was neither declined nor reverted. The two
// nearest by the vectors of an embedding model are Candidates.
func (h *Hit) Strength() Strength {
	switch {
	case h.Unusable != "" || !h.DeletedAt.IsZero() || !h.MayWrite:
		return Weak
	case h.Outcome == precedent.CommentDeclined || h.Outcome == precedent.CommentReverted:
		return Weak
	}
	if s := TextStrength(h.Cosine); s != Weak || !h.byVector() {
		return s
	}
	return Candidate
}

// TextStrength is the strength that the similarity of the texts alone allows.
func TextStrength(cosine float64) Strength {
	switch {
	case cosine >= StrongCosine:
		return Strong
	case cosine >= CandidateCosine:
		return Candidate
	}
	return Weak
}

// The least similarities of texts for a citation.
const (
	StrongCosine    = 0.75 // without a judge
	CandidateCosine = 0.35 // with a judge
)
