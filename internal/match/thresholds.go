package match

// The thresholds: every figure that decides whether two remarks are the same.
//
// A similarity is the cosine of the split tokens of two texts, 0 to 1: of title and body or, for a claim, of
// a finding's title and the claim that was dismissed. Place alone is not enough, because a third of all valid
// remarks have another one within three lines; text alone confuses one site with its sibling.
//
// The figures in the last column are of 235 pairs of review comments of two projects, 128 of which make the
// same point (eval dedup, eval suppress), and of 142 remarks on 19 pull requests of AACR-Bench (eval anchor
// and the same two). eval dedup and eval suppress print the values around each of them.
const (
	// Above each: what it decides | who uses it | how it was measured.
	//
	// lines and category in common: the same from here           | merge                       | dedup: precision 95 %, 2 %
	// of distinct pairs merged
	SameWords = 0.70
	// lines and category in common: the same if no judge answers | merge, threads, memory      | dedup: precision 82 %, 14
	// % of distinct pairs merged
	Overlap = 0.55
	// lines in common: a judge is asked from here | merge, threads | dedup: 2 of 128 pairs are lost below
	Grey = 0.25
	// one first line: the same from here | threads, dismissals | dedup: unrelated remarks stay below
	SamePlace = 0.25
	// near lines, or none to compare: a judge is asked from here | merge, threads              | dedup: as Overlap
	Near = 0.55
	// lines between two findings that are near                   | merge, threads              | not measured
	NearLines = 40
	// lines that a remark strays that is made again, unjudged    | threads                     | not measured
	StrayLines = 3
	// other files: linked from here, never merged                | merge                       | dedup: precision 87 %
	Sibling = 0.60
	// a claim and all of a finding: a judge is asked from here   | dismissals                  | suppress: 99 % of what is
	// covered, 2 questions a finding (50 dismissals)
	AskClaim = 0.20
	// claims: a verifier is told, a learning is tried, from here | dismissals, learnings       | suppress: 95 % of what is
	// covered, 11 % of the rest (50 dismissals)
	LikeClaim = 0.30
	// claims about one symbol: the same from here, unjudged      | dismissals                  | suppress: hides 0.4 % of
	// the rest (50 dismissals)
	SameClaim = 0.60
	// titles of other changes: one pattern from here            | insights                    | cluster: precision 75 %,
	// 55 % of same pairs together
	SamePattern = 0.50
	// a directive and a finding: a judge is asked from here      | learnings                   | decision 42
	LikeDirective = 0.10
	// directives: the same from here                            | learnings                     | not measured
	EqualDirective = 0.85
	// opposite directives: a person is asked from here          | learnings                  | decision 42
	OneSubject = 0.50
	// lines looked at on each side of a line that moved          | threads                     | real edits
	NeighbourSpan = 3
	// of them that both sides must have                          | threads                     | real edits
	NeighbourNeed = 2
	// characters of a line that is known without neighbours      | threads                     | real edits
	UniqueLine = 12
)
