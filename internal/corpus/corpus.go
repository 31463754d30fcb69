// Package corpus keeps what people wrote in reviews of a repository, and finds what they said
// before about the same thing: to tell finders what to check (Index.Prime), and to cite it with a
// finding (Index.Matches).
package corpus

import (
	"time"

	"github.com/precedent-dev/precedent"
)

// Query is what to search for.
type Query struct {
	Text  string   // words of a finding or of a person
	Lines []string // of code
	Path  string
	// Pull is a pull request whose own comments do not count; 0 for none.
	Pull int
	// Before leaves out comments that are not older; zero for none.
	Before time.Time
	Limit  int
	// All also returns what is not usable as a precedent.
	All bool
}

// Hit is a chunk that was found.
type Hit struct {
	precedent.CorpusChunk
	Score  float64 // the larger, the better; comparable within one search only
	Cosine float64 // similarity of the texts, from 0 to 1
	Ranks  []Rank
	// Priors are the factors that the score was multiplied with, each with its reason.
	Priors []Prior
	// Regular tells that the author reviews the repository regularly. Matches sets it for those who may not write.
	Regular bool
}

// Rank is the place of a hit in a list of those that a search compared.
type Rank struct {
	List  string  `json:"list"`
	Rank  int     `json:"rank"` // from 1
	Score float64 `json:"score"`
}

// Prior is a factor of a score that does not depend on the query's words.
type Prior struct {
	Factor float64 `json:"factor"`
	Why    string  `json:"why"`
}

// Result is what a search found.
type Result struct {
	Hits     []Hit
	Searched int      // chunks that could have been found
	Failures []string // what the search went on without, such as an embedding endpoint; each a sentence
}

// Norm is what people asked for again and again, or once, as an instruction to check.
type Norm struct {
	Text    precedent.Untrusted // one or two sentences, secrets removed
	Sources []precedent.CorpusChunk
}

// Priming is what finders are told before they read a change.
type Priming struct {
	Norms    []Norm // the most relevant first
	Searched int
}

// Strength says whether a hit may be cited with a finding.
type Strength int

// The strengths. Of a Candidate a judge decides; a Strong one needs none.
const (
	Weak Strength = iota
	Candidate
	Strong
)
