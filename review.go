package precedent

import "time"

// ResultSchema names the version of the result that Review marshals to. It is
// a stable contract: fields are added, never renamed.
const ResultSchema = "precedent.review/1"

// Scope says what read the change.
type Scope string

// The scopes: with a model, or with analyzers alone.
const (
	FullScope      Scope = "full"
	AnalyzersScope Scope = "analyzers"
)

// Verdict is the outcome of a review as a whole. Only a complete review can be clean.
type Verdict string

// The verdicts.
const (
	Clean    Verdict = "clean"    // everything enabled read everything, without a live finding
	Findings Verdict = "findings" // complete, with at least one live finding
	// NoFindings is complete and without a live finding, but packages were not checked, or neither a model nor
	// an analyzer that understands the language read all of it.
	NoFindings Verdict = "no-findings"
	Partial    Verdict = "partial" // a finder failed, or a hunk was truncated
	Failed     Verdict = "failed"  // an engine is configured, and no prompted finder succeeded
	Skipped    Verdict = "skipped" // there was nothing to review
)

// Status says how the work of one finder or one engine task ended.
type Status string

// The statuses. Only StatusOK and StatusEmpty are successes. StatusOff means that it was
// turned off, StatusSkipped that it had nothing to do or could not load its input.
const (
	StatusOK         Status = "ok"
	StatusEmpty      Status = "empty" // a valid answer without findings
	StatusRefused    Status = "refused"
	StatusMalformed  Status = "malformed"
	StatusTimeout    Status = "timeout"
	StatusTruncated  Status = "truncated"
	StatusOverBudget Status = "over-budget"
	StatusError      Status = "error"
	StatusOff        Status = "off"
	StatusSkipped    Status = "skipped"
)

// Good tells whether the work ended with a usable answer.
func (s Status) Good() bool { return s == StatusOK || s == StatusEmpty }

// Bad tells whether the work should have been done and was not. It makes a review partial.
func (s Status) Bad() bool { return !s.Good() && s != StatusOff && s != StatusSkipped }

// Usage counts what was sent to and received from models.
type Usage struct {
	Requests         int `json:"requests"`
	InputTokens      int `json:"input_tokens"` // all input, cached or not
	CachedTokens     int `json:"cached_tokens"`
	CacheWriteTokens int `json:"cache_write_tokens"`
	OutputTokens     int `json:"output_tokens"`
}

// Tokens is what a budget counts: all input, and the output.
func (u Usage) Tokens() int { return u.InputTokens + u.OutputTokens }

// Add adds o to u.
func (u *Usage) Add(o Usage) {
	u.Requests += o.Requests
	u.InputTokens += o.InputTokens
	u.CachedTokens += o.CachedTokens
	u.CacheWriteTokens += o.CacheWriteTokens
	u.OutputTokens += o.OutputTokens
}

// AnalyzerEngine stands for the engine in the run of a deterministic finder.
const AnalyzerEngine = "analyzer"

// FinderRun is the work of one finder on one review.
type FinderRun struct {
	Name   string `json:"name"`
	Engine string `json:"engine"` // AnalyzerEngine for a deterministic one
	Model  string `json:"model"`
	Status Status `json:"status"`
	Found  int    `json:"findings"` // before merging
	Usage
	CostUSD float64 `json:"cost_usd"`
	TookMS  int64   `json:"took_ms"`
	Error   string  `json:"error"` // why it failed or was skipped
}

// SkippedFile is a changed file that was not read, with the reason.
type SkippedFile struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// TruncatedHunk is a hunk that should have been read and was not, or not completely.
type TruncatedHunk struct {
	Path   string `json:"path"`
	Hunk   int    `json:"hunk"` // from 1 within its file
	Reason string `json:"reason"`
}

// Coverage says what part of the change was read. It counts all changed files and all their
// hunks, tests and documents included. A hunk counts as read when every finder that had to
// read it gave a valid answer; what a model claims does not count.
type Coverage struct {
	Files     int `json:"files"`
	Hunks     int `json:"hunks"`
	HunksRead int `json:"hunks_read"`
	// HunksBefore were read by a complete review of an earlier head and have not changed since.
	// HunksRead does not include them.
	HunksBefore int             `json:"hunks_read_before"`
	Skipped     []SkippedFile   `json:"skipped"`
	Truncated   []TruncatedHunk `json:"truncated"`
	// NotChecked is what analyzers could not load, such as packages of which a module is
	// missing, and files that could not be read from the work tree. The review is complete without it, but not clean.
	NotChecked []NotChecked `json:"not_checked"`
}

// NotChecked is a package or file that was not checked.
type NotChecked struct {
	Kind   string `json:"kind"` // PackageKind or FileKind
	Path   string `json:"path"` // of the folder or file
	Reason string `json:"reason"`
}

// Kinds of what was not checked.
const (
	PackageKind = "package"
	FileKind    = "file"
)

// Failure is a step that failed and that the review continued without.
type Failure struct {
	Step  string `json:"step"`
	Error string `json:"error"`
	// Status is how the engine's task ended that failed; empty for other failures.
	Status Status `json:"status"`
}

// PolicyStep is the step of failures that say which part of the policy has no effect.
const PolicyStep = "policy"

// GateResult is the result of the repository's own build and tests before the review.
type GateResult struct {
	Status  string `json:"status"`
	Command string `json:"command"`
	Output  string `json:"output"` // its last 2,000 characters
}

// SuppressedFinding is a finding that memory hid, with the memory that caused it.
type SuppressedFinding struct {
	Finding string  `json:"finding"`
	Title   string  `json:"title"`
	Dropped Dropped `json:"dropped"`
	By      string  `json:"by"`
	Why     string  `json:"why"` // the person's reason
	Who     string  `json:"who"`
}

// MemoryUse is what was recalled for a review and what it did.
type MemoryUse struct {
	Hotspots      []Hotspot      `json:"hotspots"`
	Insights      []Cite         `json:"insights"`
	Learnings     LearningsGiven `json:"learnings"`
	LearningsUsed []LearningUse  `json:"learnings_used"`
	// LearningsPending are what was said on this pull request and waits for somebody with write permission.
	LearningsPending []LearningUse `json:"learnings_pending"`

	Precedents   []Cite              `json:"precedents"` // the cited comments of people
	PrecedentUse CorpusUse           `json:"precedent_use"`
	Suppressed   []SuppressedFinding `json:"suppressed"`
	// Labels counts the outcomes of earlier findings that confidences and threshold were
	// learned from; 0 if there were too few.
	Labels int `json:"labels"`
}

// LearningsGiven counts the learnings that apply to the files of the change, and what of them
// the finders were given.
type LearningsGiven struct {
	Rendered      int `json:"rendered"`
	RenderedBytes int `json:"rendered_bytes"`
	Omitted       int `json:"omitted"` // for lack of room
	OmittedBytes  int `json:"omitted_bytes"`
	// IDs are those that were rendered.
	IDs []string `json:"-"`
}

// LearningUse is a learning that a finding cites or that changed one. The Cite has its id, its
// directive and where it comes from.
type LearningUse struct {
	Cite
	Does     LearningKind  `json:"does"`
	Why      string        `json:"why"` // the person's reason
	Who      string        `json:"who"`
	Scope    LearningScope `json:"scope"`
	Glob     string        `json:"glob"`
	At       time.Time     `json:"at"`
	Findings []string      `json:"findings"` // their ids
}

// Review is one complete review of one change: a value that can be printed, stored and
// compared. Its JSON form is the stable contract that ResultSchema names.
type Review struct {
	Schema      string  `json:"schema"`
	ID          string  `json:"review_id"` // UUIDv7
	Repo        Repo    `json:"repo"`
	PullRequest *int    `json:"pull_request"`
	Base        string  `json:"base"` // object id of the commit that the change is based on
	Head        string  `json:"head"` // object id of the commit, or of the tree for changes that are not committed
	Target      Target  `json:"target"`
	Scope       Scope   `json:"scope"`
	NoEngine    bool    `json:"no_engine"` // no engine was configured, so no specialist read the change
	Verdict     Verdict `json:"verdict"`
	Positive    string  `json:"positive"`  // what the change does best; may be empty
	Threshold   int     `json:"threshold"` // percent
	// ThresholdFrom says who set the threshold, or what it was tuned from.
	ThresholdFrom string      `json:"threshold_from"`
	Findings      []Finding   `json:"findings"`
	Finders       []FinderRun `json:"finders"`
	Coverage      Coverage    `json:"coverage"`
	Memory        MemoryUse   `json:"memory"`
	// TakenAway names the findings of high or critical severity that a model's answer ended, the worst first.
	TakenAway []TakenAway `json:"taken_away"`
	// Threads holds an answer for each thread of the pull request that was open when the review began.
	Threads []ThreadAnswer `json:"threads"`
	Gate    *GateResult    `json:"gate"`
	// Since compares a local review with the one before it; nil if there is none, and for a
	// pull request, where Threads does.
	Since    *SinceLast `json:"since"`
	Failures []Failure  `json:"failures"`
	Usage    Usage      `json:"usage"`
	CostUSD  float64    `json:"cost_usd"`
	TookMS   int64      `json:"took_ms"`

	// At is when the review began.
	At time.Time `json:"-"`
	// RulesChecked are the guide's rules that the finders were given.
	RulesChecked []Rule `json:"-"`
	// Reading is what a review of a local change read; nil for a pull request.
	Reading *Reading `json:"-"`
	// Basis is what the decisions were made from; nil for a review that was saved before it was
	// kept, and if it is too large.
	Basis *Basis `json:"-"`
	// Sightings counts, by finding id, the reviews that showed it, this one included.
	Sightings map[string]int `json:"-"`
}

// TakenAway is a finding of high or critical severity that is not shown, or whose thread is
// closed, because of what a model answered and a quote that code has checked.
type TakenAway struct {
	Finding  string   `json:"finding"` // its id
	Title    string   `json:"title"`
	Severity Severity `json:"severity"`
	Span
	// How is the reason why a finding is not shown, or the state of a thread's finding.
	How string `json:"how"`
	Why string `json:"why"` // in one sentence
	// Quote is the text that it is based on: a line of code, a person's words, or the title of
	// the finding that stands for it.
	Quote string `json:"quote"`
}

// SinceLast says which findings of the last review of the same work are fixed, still there or
// new. Each list has ids of findings.
type SinceLast struct {
	Review  string   `json:"review_id"`
	Fixed   []string `json:"fixed"`
	Still   []string `json:"still_there"`
	New     []string `json:"new"`
	Unknown []string `json:"undetermined"` // their lines changed, and nobody compared them
}

// Reading identifies what a review read, without its text, so that the next one can tell what is unchanged.
type Reading struct {
	// Work names the line of work: a branch, what is staged on it, or a range.
	Work string
	// With identifies the engine, the model and the policy that read it.
	With  string
	Hunks []ReadHunk
}

// ReadHunk is one hunk of the change.
type ReadHunk struct {
	Path               string
	Start, Lines       int    // in the new file
	OldStart, OldLines int    // in the old file
	Hash               string // 32 hex digits of its lines, those around the changed ones included
}

// Holds tells whether the hunk has the first line of a span.
func (h ReadHunk) Holds(s Span) bool {
	start, n := h.Start, h.Lines
	if s.Side == Left {
		start, n = h.OldStart, h.OldLines
	}
	return h.Path == s.Path && start <= s.Start && s.Start < start+n
}

// Target describes the reviewed change for people.
type Target struct {
	// Kind is "commits", "last-commit", "staged", "worktree", "pull-request", or "branch" for the
	// commits of a branch together with everything that is uncommitted.
	Kind string `json:"kind"`
	Head string `json:"head"` // "feature/login", "staged changes", "working tree"
	Base string `json:"base"` // "main", "HEAD", "the empty tree"
	Why  string `json:"why"`  // why this range was chosen if none was given; else empty
	// Paths are the only files and folders that were reviewed; empty for all.
	Paths []string `json:"paths"`
	// Uncommitted counts files with uncommitted changes that are not part of the change.
	Uncommitted int `json:"uncommitted_files"`
	Added       int `json:"added"`   // lines
	Removed     int `json:"removed"` // lines
}

// Live returns the live findings in the order of the review.
func (r *Review) Live() []Finding {
	var live []Finding
	for _, f := range r.Findings {
		if f.Live() {
			live = append(live, f)
		}
	}
	return live
}

// OpenThreads returns the answers about findings of earlier reviews that are open and not
// among the live findings.
func (r *Review) OpenThreads() []ThreadAnswer {
	live := map[string]bool{}
	for _, f := range r.Live() {
		live[f.Thread] = true
	}
	var open []ThreadAnswer
	for _, t := range r.Threads {
		if t.Open() && !live[t.Thread] {
			open = append(open, t)
		}
	}
	return open
}

// Count returns how many findings were dropped for the reason.
func (r *Review) Count(why Dropped) int {
	n := 0
	for _, f := range r.Findings {
		if f.Dropped == why {
			n++
		}
	}
	return n
}

// Exit statuses of commands that review.
const (
	ExitClean      = 0
	ExitFindings   = 1
	ExitUsage      = 2
	ExitIncomplete = 3
)

// ExitStatus is the exit status for a command that printed the review. Incomplete takes precedence over
// findings. Live findings, and those of open threads, count from failOn upwards. A nit never blocks.
func (r *Review) ExitStatus(failOn Severity) int {
	if r.Verdict == Partial || r.Verdict == Failed {
		return ExitIncomplete
	}
	for _, f := range r.Findings {
		if f.Live() && f.Severity.Blocks(failOn) {
			return ExitFindings
		}
	}
	for _, t := range r.OpenThreads() {
		if t.Severity.Blocks(failOn) {
			return ExitFindings
		}
	}
	return ExitClean
}
