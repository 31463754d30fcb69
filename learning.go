package precedent

import (
	"crypto/sha256"
	"strings"
	"time"
)

// Learning is a directive for reviews that a person gave, or that was proposed from what a
// person said. Only active ones influence reviews. None of them hides findings of high or
// critical severity, or of protected categories.
type Learning struct {
	ID    string        `json:"id"` // see LearningID
	Kind  LearningKind  `json:"kind"`
	State LearningState `json:"state"`
	Scope LearningScope `json:"scope"`
	// Directive says what to do, in the imperative, and Rationale why. Each has at most
	// MaxLearningField characters.
	Directive string `json:"directive"`
	Rationale string `json:"rationale"`
	// Glob limits it to these files, at most MaxLearningGlob characters; empty for all.
	Glob string `json:"glob"`
	// Category limits it to findings of a category; empty for all.
	Category Category `json:"category"`
	// About is the finding that the person spoke of; nil if it was none.
	About *LearningAbout `json:"about"`

	// From is where it comes from.
	From LearningSource `json:"from"`
	// Approver is the person with write permission who made it active; empty if it never was.
	Approver string `json:"approver"`
	// Supersedes is the learning that it replaced, and Contradicts the active one that says the
	// opposite; both may be empty.
	Supersedes  string `json:"supersedes"`
	Contradicts string `json:"contradicts"`
	// PullRequest limits it to one pull request; 0 for all.
	PullRequest int `json:"pull_request"`
	// Private tells that it was made in a repository that is not known to be public.
	Private bool `json:"private"`

	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"` // of the last change of anything above; decides in a merge
	ExpiresAt time.Time `json:"expires_at"` // zero for never
	Version   int       `json:"version"`    // from 1; each change of the directive, rationale, kind, glob or category counts

	// Loaded counts the reviews whose finders were given it, and Used those in which it was
	// cited or changed a finding. They are not part of a version, and not merged.
	Loaded   int       `json:"loaded_count"`
	Used     int       `json:"use_count"`
	LastUsed time.Time `json:"last_used"` // zero for never
}

// LearningAbout identifies the finding that a learning was learned from.
type LearningAbout struct {
	Fingerprint string   `json:"fingerprint"`
	Place       string   `json:"place"`
	Claim       string   `json:"claim"` // its title
	Path        string   `json:"path"`
	Symbol      string   `json:"symbol"`
	Category    Category `json:"category"`
	Severity    Severity `json:"severity"`
}

// LearningSource says who said what where.
type LearningSource struct {
	By          SourceKind `json:"by"`
	Who         string     `json:"who"`    // login, or name in git's configuration
	WhoID       ForgeID    `json:"who_id"` // numeric id on the forge; empty outside of one
	MayWrite    bool       `json:"may_write"`
	PullRequest int        `json:"pull_request"` // 0 for none
	Thread      string     `json:"thread_id"`
	Comment     ForgeID    `json:"comment"`
	Head        string     `json:"head"`  // the pull request's head at the time
	URL         string     `json:"url"`   // page of the comment, or path and line of the file
	Words       string     `json:"words"` // the person's sentence, verbatim but for secrets and hidden characters
}

// SourceKind is how a learning was captured.
type SourceKind string

// The ways to capture a learning.
const (
	FromThread  SourceKind = "thread"  // proposed from an answer to a finding
	FromComment SourceKind = "comment" // a command in a comment, or a maintainer's directive
	FromCommand SourceKind = "command" // precedent learn add
	FromFile    SourceKind = "file"    // .precedent/learnings.yaml at the base commit; not stored
	FromImport  SourceKind = "import"
	FromAgent   SourceKind = "agent" // precedent mcp --write; pending until a person approves it
)

// LearningKind is what a learning does.
type LearningKind string

// The kinds. DontFlag, Lenient and Exception are quieter: they lower or hide findings.
const (
	LearnDo         LearningKind = "do"         // check for this
	LearnDontFlag   LearningKind = "dont_flag"  // do not report this
	LearnStricter   LearningKind = "stricter"   // findings gain confidence
	LearnLenient    LearningKind = "lenient"    // findings lose confidence
	LearnFocus      LearningKind = "focus"      // look here first
	LearnConvention LearningKind = "convention" // how the team does it
	LearnException  LearningKind = "exception"  // this is intended here
)

// LearningKinds lists all kinds.
var LearningKinds = []LearningKind{
	LearnDo, LearnDontFlag, LearnStricter, LearnLenient, LearnFocus, LearnConvention, LearnException,
}

// Quieter tells whether learnings of the kind can lower or hide findings.
func (k LearningKind) Quieter() bool {
	return k == LearnDontFlag || k == LearnLenient || k == LearnException
}

// LearningState is the state of a learning.
type LearningState string

// The states. Only active learnings influence reviews. Forgotten is final.
const (
	LearningPending    LearningState = "pending" // until a person with write permission approves it
	LearningActive     LearningState = "active"
	LearningSuperseded LearningState = "superseded"
	LearningExpired    LearningState = "expired"
	LearningForgotten  LearningState = "forgotten"
)

// LearningScope is where a learning applies.
type LearningScope string

// The scopes. In a memory of several repositories, learnings of the owner load only where the policy of a repository
// allows it; on a person's computer, those of the owner and their own load in reviews of local changes.
const (
	RepositoryScope LearningScope = "repository"
	OwnerScope      LearningScope = "owner"
	MeScope         LearningScope = "me" // all repositories of one person's computer
)

// Bounds of a learning, in characters.
const (
	MaxLearningField = 20_000 // directive, rationale and words; a prompt has 2,000 of each learning
	MaxLearningGlob  = 500
)

// LearningID makes the id of a learning from its source and its words: FindingIDLen digits in
// Crockford's base 32. The same words in the same place are the same learning on every machine.
func LearningID(source, words string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{"precedent.learning/1", source, words}, "\x00")))
	return base32ID(sum[:])
}

// Insight is a pattern that was found across changes. Its text has no code. It tells finders
// where to look, and changes neither the confidence nor the state of a finding.
type Insight struct {
	ID    string       `json:"id"` // see InsightID
	State InsightState `json:"state"`
	// Text names the pattern in one sentence, and Scope the files that it is about: a path, a
	// glob, or empty for all.
	Text     string   `json:"text"`
	Scope    string   `json:"scope"`
	Category Category `json:"category"` // the most frequent one
	// Findings are the fingerprints of the findings that it summarises, Citations the ids of those that show
	// it best, PullRequests where they were shown, and People who answered them, each sorted.
	Findings     []string `json:"findings"`
	Citations    []string `json:"citations"`
	PullRequests []int    `json:"pull_requests"`
	People       []string `json:"people"`
	// Changes counts the pull requests and the lines of work of local reviews.
	Changes int `json:"changes"`
	// Accepted and Rejected count what people decided about the findings.
	Accepted int `json:"accepted"`
	Rejected int `json:"rejected"`
	// Engine tells that a model wrote the text; else it was made from counts.
	Engine bool `json:"engine"`
	// Dismissed is set if a person rejected it. It is paused until that is undone.
	Dismissed *InsightDismissal `json:"dismissed"`
	CreatedAt time.Time         `json:"created_at"`
	UpdatedAt time.Time         `json:"updated_at"` // of its last change
}

// InsightDismissal says who rejected an insight, and why.
type InsightDismissal struct {
	Who    string    `json:"who"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// InsightState is the state of an insight.
type InsightState string

// The states. Only active insights are shown to finders.
const (
	InsightCandidate InsightState = "candidate" // too little evidence yet
	InsightActive    InsightState = "active"
	InsightPaused    InsightState = "paused" // people rejected it, or its latest findings
)

// InsightID makes the id of an insight from the fingerprint of its first finding:
// FindingIDLen digits in Crockford's base 32.
func InsightID(fingerprint string) string {
	sum := sha256.Sum256([]byte("precedent.insight/1\x00" + fingerprint))
	return base32ID(sum[:])
}
