package precedent

import "time"

// Policy is what a repository may set for its own reviews, in .precedent.yaml at the base commit. It is an
// allow-list: none of it can name a URL, a secret, a model, or a program outside of the gate's sandbox.
type Policy struct {
	// Threshold sets the confidence, 0 to 100, below which findings are not shown; nil leaves it open.
	Threshold *int
	// MaxInline caps the inline comments of one review; 0 means the default, 20.
	MaxInline int
	// Focus lists categories that matter most to the team; their findings gain confidence.
	Focus []Category
	// Ignore lists globs of paths whose findings are not shown.
	Ignore []string
	// Finders turns finders on or off by name.
	Finders map[string]bool
	// Instructions are directions for the finders, each for the paths that its glob matches.
	Instructions []Instruction
	// Floors hide findings that are milder than the floor of their path.
	Floors []SeverityFloor
	// Maintainers lists logins of people who count as having write permission where the forge
	// does not tell who has it. What a forge tells counts more.
	Maintainers []string
	// Linters names the linters to run on the change, among those that Precedent supports. A
	// policy cannot name a program.
	Linters []string
	// Minor says how minor findings are shown; empty means MinorFold.
	Minor MinorDisplay
	// NoPraise omits the positive remark of a review.
	NoPraise bool
	// RequestChanges makes a posted review request changes if a command would exit with 1 for
	// its findings; else it only comments.
	RequestChanges bool
	// PassWithoutModel makes the check of a clean review a success although no model read the
	// change; else it is neutral.
	PassWithoutModel bool
	// Precedents says how the comments of people are cited; empty means PrecedentsQuiet.
	Precedents CitationDisplay
	// Learnings says which learnings count.
	Learnings LearningPolicy
	// Language that findings are written in, as an IETF tag; empty means English.
	Language string
	// Reviews says what leads to a review on a server; nil leaves it to the operator.
	Reviews *ReviewTriggers
	// Labels are the labels of the cycle on a server; those that are empty are the operator's.
	Labels LabelNames
	// Gate says what to build and test before a review.
	Gate Gate
	// Fix says what a fix round may change.
	Fix FixPolicy
}

// FixPolicy says what a fix round may change, when it may push, and how long the cycle of reviews and fixes goes on.
type FixPolicy struct {
	// Off allows no fixes. With Broken, the policy has an error, so that it is not known what it allows;
	// Broken says which one.
	Off    bool
	Broken string
	// LockFiles allows changes of lock files.
	LockFiles bool
	// Ungated allows to push what no gate has built and tested.
	Ungated bool
	// MaxFiles and MaxLines bound a change; 0 means the default, 20 and 500, which is also the most.
	MaxFiles, MaxLines int
	// MaxCycles is how many cycles of reviews and fixes there may be before people have to look; 0 means the default, 5.
	MaxCycles int
	// CITimeout is how long the checks of a fix may take; 0 means the default, 10 minutes.
	CITimeout time.Duration
}

// LabelNames are the labels that say where a pull request is in the cycle of reviews and fixes.
type LabelNames struct {
	ReviewNeeded, Changes, CIPending, HumanReview, Intervention string
}

// ReviewTriggers says what leads to a review of an open pull request on a server.
type ReviewTriggers struct {
	// On lists the occasions; none means that only commands review.
	On []ReviewTrigger
	// Drafts are reviewed, too, when they are opened and pushed to. Who labels a draft or asks for
	// a review gets one in any case.
	Drafts bool
}

// ReviewTrigger is an occasion for a review.
type ReviewTrigger string

// The occasions.
const (
	OnOpen    ReviewTrigger = "open"    // it has no review yet
	OnReady   ReviewTrigger = "ready"   // it has no review yet, and is not a draft
	OnPush    ReviewTrigger = "push"    // it has commits that were pushed after its last review
	OnRequest ReviewTrigger = "request" // our account is asked to review it
	OnCommand ReviewTrigger = "command" // a person asks for it in a comment
	OnLabel   ReviewTrigger = "label"   // it has the label for it
)

// ReviewOccasions are all occasions.
var ReviewOccasions = []ReviewTrigger{OnOpen, OnReady, OnPush, OnRequest, OnCommand, OnLabel}

// Gate is what a policy says about building and testing a change.
type Gate struct {
	// Off runs no command. With Broken, the policy has an error, so that it is not known what to run; Broken
	// says which one.
	Off    bool
	Broken string
	// Commands are run instead of those that the documents name.
	Commands []GateCommand
	// Dependencies says which dependencies the commands get; empty means DependenciesBase.
	Dependencies GateDependencies
	// Timeout is the time limit of a command; 0 means 5 minutes.
	Timeout time.Duration
	// FailFlaky makes a command that fails and then passes fail the gate.
	FailFlaky bool
}

// GateCommand is a command of a gate.
type GateCommand struct {
	Name string
	Run  string // one line for a shell, at most 500 characters
}

// GateDependencies says which dependencies the commands of a gate get.
type GateDependencies string

// The dependencies of a gate.
const (
	DependenciesBase GateDependencies = "base" // those that the lock files of the base list
	DependenciesHead GateDependencies = "head" // those that the lock files of the change list
	DependenciesOff  GateDependencies = "off"  // none
)

// MinorDisplay says how findings are shown that a verifier confirmed and that most teams
// would not change code for, such as a missing test or a better name.
type MinorDisplay string

// The ways to show minor findings.
const (
	MinorFold MinorDisplay = "fold" // in a list of their own, which a forge shows folded
	MinorShow MinorDisplay = "show" // like all others
	MinorOff  MinorDisplay = "off"  // not at all; the verifier does not read them
)

// Instruction is an instruction to the finders for some paths.
type Instruction struct {
	Paths string // glob
	Text  string // at most 2,000 characters
}

// SeverityFloor hides findings milder than Severity under the paths of a glob.
// It never hides the protected categories.
type SeverityFloor struct {
	Paths    string // glob
	Severity Severity
}

// LearningPolicy says which learnings a review of the repository uses.
type LearningPolicy struct {
	// Off uses none. They stay stored.
	Off bool
	// Global uses those that other repositories of the owner share, too.
	Global bool
	// MaxAgeDays leaves out those that nobody changed for so many days; 0 for none.
	MaxAgeDays int
	// Capture says what becomes of reasons that people give without asking for it to be remembered;
	// empty means CaptureAuto.
	Capture LearningCapture
}

// LearningCapture says what becomes of the reason with which somebody dismisses a finding on a pull request.
type LearningCapture string

// CaptureAuto makes the reason of an administrator, or of one of the policy's maintainers, an active learning, and that
// of anybody else a pending one.
// CaptureAsk makes all pending, and CaptureOff none.
const (
	CaptureAuto LearningCapture = "auto"
	CaptureAsk  LearningCapture = "ask"
	CaptureOff  LearningCapture = "off"
)
