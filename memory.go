package precedent

import "time"

// Hotspot is a file with a history of findings.
type Hotspot struct {
	Path        string     `json:"path"`
	Findings    int        `json:"findings"`
	Categories  []Category `json:"categories"` // sorted, without repetition
	TopSeverity Severity   `json:"top_severity"`
	Dismissed   int        `json:"dismissed"` // how many of them people dismissed
	LastSeen    time.Time  `json:"last_seen"`
}

// Dismissal is the record that a person said that a finding, or all of a rule, does
// not apply. That of a finding hides its fingerprint at once, and counts once against similar
// findings. That of a rule hides findings below high outside of protected categories.
type Dismissal struct {
	ID          string    `json:"id"` // UUIDv7
	Finding     string    `json:"finding"`
	Fingerprint string    `json:"fingerprint"`
	Claim       string    `json:"claim"` // what was claimed, in one sentence
	Path        string    `json:"path"`
	Symbol      string    `json:"symbol"`
	Category    Category  `json:"category"`
	Severity    Severity  `json:"severity"` // similar findings are suppressed up to this severity
	Reason      string    `json:"reason"`   // in the person's words
	Who         string    `json:"who"`
	At          time.Time `json:"at"`
	ExpiresAt   time.Time `json:"expires_at"`
	Hits        int       `json:"hits"` // how often it hid the finding again
	// Accepted counts similar findings that people accepted since: each halves the weight of
	// the dismissal against similar findings.
	Accepted int `json:"accepted_since"`
	// Rule is set if all findings of an analyzer's rule were dismissed, of a finder ("finder/tests") or of a
	// category ("category/style"), and not one finding: then Finding and Fingerprint only identify the dismissal.
	Rule string `json:"rule"`
	// Glob limits the similar findings, or those of the rule, to these files; empty for no limit.
	// A path without wildcards is that file, or everything in that folder.
	Glob string `json:"glob"`
	// Source is the page of the comment that the finding was read from; empty if the memory had it.
	Source string `json:"source"`
	// Place is that of the finding: it matches similar findings of another category, too.
	Place string `json:"-"`
}

// GuideDoc is a guide file of the base commit.
type GuideDoc struct {
	Path string `json:"path"`
	Dir  string `json:"dir"`  // the folder that it applies to; empty for all
	Text string `json:"text"` // without hidden characters and comments
	Hash string `json:"hash"` // 64 hex digits of the sha256 of its bytes
}

// Rule is one sentence of a repository's guide that a change can violate.
type Rule struct {
	ID     string `json:"id"`     // 8 hex digits of the hash of its text and source
	Text   string `json:"text"`   // at most 300 characters
	Source string `json:"source"` // path of the guide file
	Line   int    `json:"line"`   // from 1
	Dir    string `json:"dir"`    // the folder that it applies to; empty for all
}
