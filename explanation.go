package precedent

import "time"

// Explanation is everything that led to a finding being shown or hidden, as the
// review that saw it last decided.
type Explanation struct {
	Finding Finding    `json:"finding"`
	Trail   []Decision `json:"trail"`
	// Duplicates are the review's findings that were dropped in favour of this one.
	Duplicates []Finding `json:"duplicates"`
	Review     ReviewRef `json:"review"`
	Seen       int       `json:"seen"` // reviews that showed it
	FirstSeen  time.Time `json:"first_seen"`
	LastSeen   time.Time `json:"last_seen"`
	// Dismissal is the rejection of this very finding that holds now, or nil:
	// the next review goes by it.
	Dismissal *Rejection `json:"dismissal"`
	// Rejections are the rejections that the trail names and that still hold.
	Rejections []Rejection `json:"rejections"`
}

// ReviewRef names a review and the bounds that it decided by.
type ReviewRef struct {
	ID        string    `json:"id"`
	At        time.Time `json:"at"`
	Base      string    `json:"base"`
	Head      string    `json:"head"`
	Scope     Scope     `json:"scope"`
	Threshold int       `json:"threshold"`
}
