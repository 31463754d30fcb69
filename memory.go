package precedent

import "time"

// Hotspot is a file with a history of findings.
type Hotspot struct {
	Path        string     `json:"path"`
	Findings    int        `json:"findings"`
	Categories  []Category `json:"categories"` // sorted, without repetition
	TopSeverity Severity   `json:"top_severity"`
	Dismissed   int        `json:"dismissed"` // how many of them people declined
	LastSeen    time.Time  `json:"last_seen"`
}

// Rejection is a person's "no" to a finding. It dismisses that one fingerprint
// at once, and counts once against the pattern.
type Rejection struct {
	ID          string    `json:"id"` // UUIDv7
	Finding     string    `json:"finding"`
	Fingerprint string    `json:"fingerprint"`
	Claim       string    `json:"claim"` // what was claimed, in one sentence
	Path        string    `json:"path"`
	Symbol      string    `json:"symbol"`
	Category    Category  `json:"category"`
	Severity    Severity  `json:"severity"` // the pattern is suppressed up to this severity
	Reason      string    `json:"reason"`   // the person's words
	Who         string    `json:"who"`
	At          time.Time `json:"at"`
	ExpiresAt   time.Time `json:"expires_at"`
	Hits        int       `json:"hits"` // how often it hid the finding again
	// Place is the finding's, so that the pattern is known again under another category.
	Place string `json:"-"`
}

// GuideDoc is a guide file as it stands at the base commit.
type GuideDoc struct {
	Path string `json:"path"`
	Dir  string `json:"dir"`  // the folder that it applies to; empty for all
	Text string `json:"text"` // without hidden characters and comments
	Hash string `json:"hash"` // 64 hex digits of the sha256 of its bytes
}

// Rule is one sentence of a repository's guide that a change can break.
type Rule struct {
	ID     string `json:"id"`     // 8 hex digits of the hash of its text and source
	Text   string `json:"text"`   // at most 300 characters
	Source string `json:"source"` // path of the guide file
	Line   int    `json:"line"`   // from 1
	Dir    string `json:"dir"`    // the folder that it applies to; empty for all
}
