package precedent

import (
	"encoding/json"
	"time"
)

// Explanation is everything that led to a finding being shown or hidden, as decided by the
// last review that had it.
type Explanation struct {
	Finding Finding    `json:"finding"`
	Trail   []Decision `json:"trail"`
	// Duplicates are the findings of the review that were dropped in favour of this one.
	Duplicates []Finding `json:"duplicates"`
	Review     ReviewRef `json:"review"`
	Seen       int       `json:"seen"` // reviews that showed it
	FirstSeen  time.Time `json:"first_seen"`
	LastSeen   time.Time `json:"last_seen"`
	// Dismissal is the current dismissal of this finding, or nil. The next review applies it.
	Dismissal *Dismissal `json:"dismissal"`
	// Retired says why an earlier dismissal of it was ended; empty if none was.
	Retired string `json:"retired"`
	// Dismissals are those that the trail names and that still hold.
	Dismissals []Dismissal `json:"rejections"`
	// Counterfactual is what would have been decided without what the caller named; nil if the
	// caller named nothing.
	Counterfactual *Counterfactual `json:"counterfactual"`
}

// Basis is what the decisions of a review were made from, apart from what its findings hold:
// with it they can be made again without an engine.
type Basis struct {
	Threshold     int    // percent
	ThresholdFrom string // who set it
	Tuned         bool   // by what became of findings
	MaxInline     int
	// Scores is the table of scores that applied, and its refit, as JSON of the review package.
	Scores json.RawMessage
	// Guide counts the guide files that finders were given.
	Guide int `json:",omitempty"`
	// Focus, Ignore, Floors and Minor are those of the policy.
	Focus  []Category      `json:",omitempty"`
	Ignore []string        `json:",omitempty"`
	Floors []SeverityFloor `json:",omitempty"`
	Minor  MinorDisplay    `json:",omitempty"`
	// Dismissals and Learnings are those that spoke of a finding of the review.
	Dismissals []Dismissal `json:"Rejections,omitempty"` // as stored reviews have it
	Learnings  []Learning  `json:",omitempty"`
}

// FindingBasis is what the decisions about one finding were made from after memory was asked.
// The numbers of decisions say how long its trail was when a stage began.
type FindingBasis struct {
	Confidence int      `json:",omitempty"` // before memory was asked
	Balance    int      `json:",omitempty"` // before memory was asked
	Severity   Severity // before a verifier stated it afresh
	Asked      int      // decisions before memory and policy were asked
	Scored     int      // decisions before the score
	Weighed    int      // decisions after focus and memory changed the confidence
	Selected   int      // decisions before it was chosen how to show it
	// Exact is the dismissal of exactly this finding, Patterns are those that cover it, newest
	// first, and Learnings those that speak of it, all by their ids.
	Exact     string   `json:",omitempty"`
	Patterns  []string `json:",omitempty"`
	Learnings []string `json:",omitempty"`
	// Matches are the comments of people that make the same point, best first. They are cited
	// unless a dismissal or a learning is against that.
	Matches []CorpusMatch `json:",omitempty"`
	// Kept tells that an earlier review scored it, and that no verifier was to read it again.
	Kept bool `json:",omitempty"`
	// Commentable tells that its lines can have a comment.
	Commentable bool `json:",omitempty"`
}

// CorpusMatch is a comment of a person that makes the same point as a finding.
type CorpusMatch struct {
	Cite
	Why string // why it counts as the same point, in one sentence
}

// Counterfactual says what a review would have decided about a finding without some of what influenced it.
type Counterfactual struct {
	Without []string `json:"without"` // ids of memories, "threshold" or "policy"
	// Silent are those of them that had no say about the finding.
	Silent []string `json:"silent"`
	Before Fate     `json:"before"`
	After  Fate     `json:"after"`
	// Removed and Added are the decisions that differ.
	Removed []Decision `json:"removed"`
	Added   []Decision `json:"added"`
	// Unknown says why the outcome cannot be known without a model; empty if it is known. Then
	// After has the confidence before a verifier reads the finding.
	Unknown string `json:"unknown"`
	// Others are other findings of the review that would be shown differently.
	Others []FateOf `json:"others"`
}

// Fate is how a review shows a finding.
type Fate struct {
	Placement  Placement `json:"placement"`
	Confidence int       `json:"confidence"`
	Threshold  int       `json:"threshold"`
	Dropped    Dropped   `json:"dropped"` // empty for a live finding
	DroppedBy  string    `json:"dropped_by"`
	Why        string    `json:"why"` // why it is dropped, in a sentence
}

// FateOf is the fate of another finding, before and after.
type FateOf struct {
	Finding string `json:"finding"`
	Title   string `json:"title"`
	Before  Fate   `json:"before"`
	After   Fate   `json:"after"`
}

// ReviewRef identifies a review and its threshold.
type ReviewRef struct {
	ID        string    `json:"id"`
	At        time.Time `json:"at"`
	Base      string    `json:"base"`
	Head      string    `json:"head"`
	Scope     Scope     `json:"scope"`
	Threshold int       `json:"threshold"`
	// ThresholdFrom is that of the review.
	ThresholdFrom string `json:"threshold_from"`
}
