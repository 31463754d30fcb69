package precedent

// Policy is what a repository may say about its own reviews, in .precedent.yaml
// at the base commit. It is an allow-list: nothing in it can name a URL, a
// secret, a model or a program.
type Policy struct {
	// Threshold pins the confidence, 0 to 100, below which findings are not shown; nil leaves it open.
	Threshold *int
	// MaxInline caps the inline comments of one review; 0 means the default, 20.
	MaxInline int
	// Focus lists the categories that the team wants looked at hardest; their findings gain confidence.
	Focus []Category
	// Ignore lists globs of paths whose findings are not shown.
	Ignore []string
	// Finders turns finders on or off by name.
	Finders map[string]bool
	// Instructions are directions for the finders, each for the paths that its glob matches.
	Instructions []Instruction
	// Floors raise or lower what is worth showing: findings milder than the floor of their path are not shown.
	Floors []SeverityFloor
	// Linters names linters that run on the change, among those that the program
	// knows. A policy can name no program.
	Linters []string
	// NoPraise leaves out the one positive remark of a review.
	NoPraise bool
	// RequestChanges makes a posted review ask for changes if it has a finding that
	// a command would exit with 1 for; else it only comments.
	RequestChanges bool
	// Language that findings are written in, as an IETF tag; empty means English.
	Language string
}

// Instruction is a direction for the finders about some paths.
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
