package precedent

import "time"

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
	// Dismissal is the current rejection of this finding, or nil. The next review applies it.
	Dismissal *Rejection `json:"dismissal"`
	// Rejections are those that the trail names and that still hold.
	Rejections []Rejection `json:"rejections"`
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
