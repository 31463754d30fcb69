package corpus

import (
	"math"
	"time"

	"github.com/precedent-dev/precedent"
)

// The priors: what makes a comment count more or less, whatever it says.
const (
	samePathPrior   = 1.15
	maintainerPrior = 1.1
	notTakenPrior   = 0.5
	halfLife        = 18 * 30 * 24 * time.Hour
	leastRecency    = 0.8 // of a comment of any age: none loses to a newer one that says something else
)

// priors are the factors of a chunk's score, which do not depend on its words.
func (x *Index) priors(c *precedent.CorpusChunk, q *Query) []Prior {
	var out []Prior
	if q.Path != "" && c.Path == q.Path {
		out = append(out, Prior{samePathPrior, "the same file"})
	}
	if c.MayWrite {
		out = append(out, Prior{maintainerPrior, "its author could write to the repository"})
	}
	switch c.Outcome {
	case precedent.CommentDeclined:
		out = append(out, Prior{notTakenPrior, "it was declined"})
	case precedent.CommentReverted:
		out = append(out, Prior{notTakenPrior, "what it led to was reverted"})
	}
	now := q.Before
	if now.IsZero() {
		now = x.newest
	}
	if age := now.Sub(c.At); age > 0 {
		f := leastRecency + (1-leastRecency)*math.Pow(0.5, float64(age)/float64(halfLife))
		out = append(out, Prior{f, "its age"})
	}
	return out
}
