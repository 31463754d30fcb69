package corpus

import (
	"context"

	"github.com/precedent-dev/precedent"
)

// Matches finds the usable comments that may make the same point as a finding, best first. Only
// the finding's title and body are compared with texts: code never is. Query.Path is compared with
// the path of a comment; Query.Pull and Query.Before limit the comments to earlier ones of other
// pull requests, and Query.Limit their number. Query.Text and Query.Lines are ignored.
// Hit.Strength says which of them may be cited.
func (x *Index) Matches(_ context.Context, f *precedent.Finding, q Query) []Hit {
	q.All = false
	return x.scan(f.Title+"\n"+f.Body, q)
}

// Strength says whether a hit of Matches may be cited: a Strong one may, a Candidate if a judge
// says that both make the same point, a Weak one may not. Only the comment of an author who could
// write then is more than Weak, and only if it still exists and was neither declined nor reverted.
func (h *Hit) Strength() Strength {
	switch {
	case h.Unusable != "" || !h.DeletedAt.IsZero() || !h.MayWrite:
		return Weak
	case h.Outcome == precedent.CommentDeclined || h.Outcome == precedent.CommentReverted:
		return Weak
	case h.Cosine >= strongCosine:
		return Strong
	case h.Cosine >= candidateCosine:
		return Candidate
	}
	return Weak
}

// The least similarities of texts for a citation.
const (
	strongCosine    = 0.70 // without a judge
	candidateCosine = 0.35 // with a judge
)
