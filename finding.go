package precedent

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Side is a side of a diff.
type Side string

// The sides, as forges name them: the new file is RIGHT, the old one LEFT.
const (
	Right Side = "RIGHT"
	Left  Side = "LEFT"
)

// Span is a range of lines on one side of a changed file. Start and End count
// from 1 and include both ends; 0 in both means the file as a whole.
type Span struct {
	Path  string `json:"path"`
	Side  Side   `json:"side"`
	Start int    `json:"start_line"`
	End   int    `json:"end_line"`
}

// String returns the place as path, path:line or path:start-end.
func (s Span) String() string {
	path := s.Path
	if !utf8.ValidString(path) {
		path = QuotePath(path)
	}
	switch {
	case s.Start == 0:
		return path
	case s.End > s.Start:
		return fmt.Sprintf("%s:%d-%d", path, s.Start, s.End)
	default:
		return fmt.Sprintf("%s:%d", path, s.Start)
	}
}

// QuotePath quotes a path as git does in lists and patches: control characters and bytes that are not UTF-8 become
// octal escapes, so that the path can be typed.
func QuotePath(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for len(path) > 0 {
		r, size := utf8.DecodeRuneInString(path)
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + path[:size])
		case r < ' ' || r == 0x7f || r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\%03o`, path[0])
		default:
			b.WriteString(path[:size])
		}
		path = path[size:]
	}
	b.WriteByte('"')
	return b.String()
}

// Overlaps tells whether both spans share a line on the same side of the same file.
func (s Span) Overlaps(o Span) bool {
	return s.Path == o.Path && s.Side == o.Side && s.Start <= o.End && o.Start <= s.End
}

// Severity says how bad a finding is if it is true.
type Severity string

// The severities, worst first.
const (
	Critical Severity = "critical"
	High     Severity = "high"
	Medium   Severity = "medium"
	Low      Severity = "low"
	Nit      Severity = "nit"
)

// Severities lists all severities, worst first.
var Severities = []Severity{Critical, High, Medium, Low, Nit}

// Rank orders severities: 0 is critical, larger is milder. Any other text ranks after nit.
func (s Severity) Rank() int {
	if i := slices.Index(Severities, s); i >= 0 {
		return i
	}
	return len(Severities)
}

// FailNever is the value of --fail-on with which no finding decides the exit status.
const FailNever Severity = "none"

// Blocks tells whether a finding of the severity decides the exit status. A nit never does.
func (s Severity) Blocks(failOn Severity) bool {
	return s != Nit && failOn != FailNever && s.AtLeast(failOn)
}

// AtLeast tells whether s is as bad as o or worse.
func (s Severity) AtLeast(o Severity) bool { return s.Rank() <= o.Rank() }

// Category says what kind of defect a finding is about.
type Category string

// The categories: a closed list, because memory, policy and calibration count by it.
const (
	Architecture Category = "architecture"
	Bugs         Category = "bugs"
	Security     Category = "security"
	Secrets      Category = "secrets"
	DataLoss     Category = "data-loss"
	Crash        Category = "crash"
	Race         Category = "race"
	Performance  Category = "performance"
	Types        Category = "types"
	Tests        Category = "tests"
	Style        Category = "style"
	Guidelines   Category = "guidelines"
	PolicyEdit   Category = "policy"
)

// Categories lists all categories.
var Categories = []Category{
	Architecture, Bugs, Security, Secrets, DataLoss, Crash, Race, Performance, Types, Tests,
	Style, Guidelines, PolicyEdit,
}

// Protected tells whether memory may never hide findings of the category, however often people
// dismissed similar ones.
func (c Category) Protected() bool {
	switch c {
	case Security, Secrets, DataLoss, Crash, Race:
		return true
	}
	return false
}

// Dropped is the reason why a finding is not shown; empty for a live one.
type Dropped string

// The reasons, in the order in which the stages can give them. The first one wins. The threads
// and earlier reviews of a pull request are consulted before verification.
const (
	TurnedOff      Dropped = "turned_off"      // a comment in the code turns the rule off, which only rules of Go and linters allow
	NoEvidence     Dropped = "no_evidence"     // its quote is not in the change, or none of its evidence could be checked
	Duplicate      Dropped = "duplicate"       // another finding makes the same remark; DroppedBy is its id
	IgnoredPath    Dropped = "ignored_path"    // the policy ignores the file
	UnchangedCode  Dropped = "unchanged_code"  // the change neither touched nor affected the code
	Rejected       Dropped = "rejected"        // people dismissed similar findings; DroppedBy is the dismissal's id
	ByLearning     Dropped = "learning"        // a learning says not to flag it; DroppedBy is the learning's id
	Dismissed      Dropped = "dismissed"       // a person dismissed exactly this finding; DroppedBy is the dismissal's id
	Refuted        Dropped = "refuted"         // the verifier refuted it
	BelowThreshold Dropped = "below_threshold" // its confidence is below the threshold
	Minor          Dropped = "minor"           // it is confirmed and below the threshold, because teams mostly leave such things
)

// Placement says how a finding is shown.
type Placement string

// The ways to show a finding. A live one is inline, file or summary; a dropped
// one is hidden, or collapsed when it is minor or shown as an audit sample.
const (
	Inline    Placement = "inline"
	WholeFile Placement = "file"
	Summary   Placement = "summary"
	Collapsed Placement = "collapsed"
	Hidden    Placement = "hidden"
)

// Origin says why a later review of a pull request has a finding that earlier ones did not have.
type Origin string

// The origins; the empty one is the change itself.
const (
	MissedBefore Origin = "missed_before" // in code that a complete review read, and that has not changed since
	CausedByFix  Origin = "caused_by_fix" // in lines that were changed to fix a finding
)

// Check is what a verifier concluded about a finding.
type Check string

// The verifier's answers; Unchecked means that no verifier looked at the finding.
const (
	Confirmed Check = "confirmed"
	Denied    Check = "refuted"
	Uncertain Check = "uncertain"
	Unchecked Check = "none"
)

// Evidence is a line that a finding points at as proof.
type Evidence struct {
	Path  string `json:"path"`
	Line  int    `json:"line"` // from 1
	Quote string `json:"quote"`
	// Side is LEFT for a line of the base, and empty for one of the head.
	Side Side `json:"side"`
}

// String returns the place as path:line.
func (e Evidence) String() string {
	s := fmt.Sprintf("%s:%d", e.Path, e.Line)
	if e.Side == Left {
		s += " before the change"
	}
	return s
}

// CitesPrecedent is the kind of a Cite of a person's comment.
const CitesPrecedent = "precedent"

// Cite names a memory or a guide rule that is relevant to a finding.
type Cite struct {
	Kind string `json:"kind"` // learning, precedent, insight or guide
	ID   string `json:"id"`
	Text string `json:"text"`
	URL  string `json:"url"`
	// Precedent is where a cited comment of a person comes from; nil for other kinds.
	Precedent *CitedComment `json:"precedent,omitempty"`
}

// Decision is one step that led to a finding being shown or hidden. The explain command prints all of them.
type Decision struct {
	Step  string `json:"step"`            // find, place, merge, threads, verify, cite, score, suppress, precedents or select
	Text  string `json:"text"`            // one sentence for a person
	Delta int    `json:"delta,omitempty"` // change of the confidence, in percent points
	By    string `json:"by,omitempty"`    // id of the memory or finding that caused it
}

// Finding is one remark about one place. The same type is used from the finder to the database
// to the comment.
type Finding struct {
	// ID is 10 base-32 characters made from the repository and the fingerprint: the same on every machine.
	ID string `json:"id"`
	// Fingerprint is 32 hex digits that identify the place and the category.
	Fingerprint string   `json:"fingerprint"`
	Finder      string   `json:"finder"`
	Category    Category `json:"category"`
	Severity    Severity `json:"severity"`
	// Confidence is the chance in percent, 0 to 100, that the team accepts the finding.
	Confidence int `json:"confidence"`
	// Weighed is what the policy's focus and people's dismissals added to the confidence after
	// it was scored, in percent points; negative if they lowered it.
	Weighed int `json:"weighed"`
	// Refit is what the outcomes of the repository's earlier findings added to the confidence, in
	// percent points; negative if they lowered it.
	Refit int `json:"-"`
	Span
	// Quote is the flagged text, verbatim: one to three lines, the flagged one first.
	Quote  string `json:"quote"`
	Symbol string `json:"symbol"`
	Title  string `json:"title"` // at most 90 characters
	Body   string `json:"body"`  // why it matters and when it fails
	// Suggestion holds lines that could replace the span; empty for none.
	Suggestion string `json:"suggestion"`
	// Sketch holds suggested lines that cannot replace the span as they are; empty
	// for none. It is shown, and never applied.
	Sketch   string     `json:"sketch"`
	Rule     string     `json:"rule"` // the analyzer's rule, or the guide's
	Evidence []Evidence `json:"evidence"`
	Cites    []Cite     `json:"cites"`
	// Breaks is the line outside the change on which the defect shows; its path is empty if the defect is on
	// the lines of the span. The span then has the changed line that causes it.
	Breaks Evidence `json:"breaks"`
	// Votes is the number of distinct finders that made the remark, at least 1.
	Votes    int   `json:"votes"`
	Verifier Check `json:"verifier"`
	// Now tells that a verifier found it worth a change before the merge, and Later that it found it true, but not
	// worth that. Neither is set if the verifier did not say, or was not asked.
	Now   bool `json:"now,omitempty"`
	Later bool `json:"later,omitempty"`
	// Dropped is empty for a live finding; DroppedBy names what caused it.
	Dropped   Dropped   `json:"dropped"`
	DroppedBy string    `json:"dropped_by"`
	Placement Placement `json:"placement"`
	// Thread is the id of the thread of the pull request that already holds the finding; empty
	// for a new one. The finding is not posted again.
	Thread string `json:"thread_id"`
	// Origin says why an earlier review of the pull request did not have the finding.
	Origin Origin `json:"origin"`

	// Balance is the sum of what the decisions before the score found for and against it, in
	// percent points. The score applies it.
	Balance int `json:"-"`
	// Analyzer is set for findings of deterministic analyzers: their
	// confidence is fixed and no verifier reads them.
	Analyzer bool `json:"-"`
	// Place is the result of the function Place for the flagged line; empty if there is none.
	// The fingerprint is made from it.
	Place string `json:"-"`
	// Secrets are the credentials that the analyzer found. Redaction replaces them wherever
	// they occur, and clears the field.
	Secrets []string `json:"-"`
	// Inexact reports whether the finder's quote differed from the line it was placed on, so that
	// Quote was replaced by the file's own text.
	Inexact bool `json:"-"`
	// DroppedWhy is the sentence that explains Dropped; empty for a live finding.
	DroppedWhy string `json:"-"`
	// Kept tells that it is from the last review of the same work, and was not looked for again
	// because its lines have not changed.
	Kept bool `json:"-"`
	// Basis is what the decisions were made from after memory was asked; nil if the finding was
	// dropped before.
	Basis *FindingBasis `json:"-"`
	// Trail holds the decisions in order. It is stored with the review, apart from the result.
	Trail []Decision `json:"-"`
}

// Live tells whether the finding is to be shown or posted.
func (f *Finding) Live() bool { return f.Dropped == "" }

// Note appends a decision to the finding's trail.
func (f *Finding) Note(step, format string, args ...any) {
	f.Trail = append(f.Trail, Decision{Step: step, Text: fmt.Sprintf(format, args...)})
}

// Decide appends a decision to the finding's trail, and adds its delta to the balance.
func (f *Finding) Decide(d Decision) {
	f.Trail = append(f.Trail, d)
	f.Balance += d.Delta
}

// Weigh changes the confidence for a decision about the scored finding.
func (f *Finding) Weigh(to int, d Decision) {
	d.Delta = to - f.Confidence
	f.Trail = append(f.Trail, d)
	f.Confidence, f.Weighed = to, f.Weighed+d.Delta
}

// Drop records why the finding is not shown and what caused that. The first reason wins: a
// finding that was dropped before is left as it is.
func (f *Finding) Drop(step string, why Dropped, by, format string, args ...any) {
	if f.Dropped != "" {
		return
	}
	f.Dropped, f.DroppedBy, f.Placement = why, by, Hidden
	f.DroppedWhy = fmt.Sprintf(format, args...)
	f.Trail = append(f.Trail, Decision{Step: step, Text: f.DroppedWhy, By: by})
}

// identityVersion tags the hashes below. A new tag invalidates every stored identity, so it
// may change only together with a migration.
const identityVersion = "precedent.place/1"

// Place identifies a line by its path, its text, and the previous and next non-blank line of
// the same side's file, with white space collapsed. It holds no line number, so it survives
// shifts, and no prose, so it survives a rewording of the remark.
func Place(path, line, prev, next string) string {
	h := sha256.New()
	for _, s := range []string{identityVersion, path, collapse(line), collapse(prev), collapse(next)} {
		h.Write([]byte(strconv.Itoa(len(s))))
		h.Write([]byte{0})
		h.Write([]byte(s))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Fingerprint identifies a finding within its repository by its place, its category, and its
// ordinal (from 0) among the lines of the file with the same place. It is 32 hex digits.
func Fingerprint(place string, c Category, ordinal int) string {
	sum := sha256.Sum256([]byte(identityVersion + "\x00" + place + "\x00" + string(c) + "\x00" + strconv.Itoa(ordinal)))
	return hex.EncodeToString(sum[:16])
}

// MaxNamesakes bounds the findings of one category at one place that are told apart.
const MaxNamesakes = 50

// Moved reports whether a finding has a fingerprint that its place does not give: it kept that of an earlier review
// when its file was renamed, or when a line next to it changed.
func Moved(place string, c Category, fingerprint string) bool {
	for ordinal := range MaxNamesakes {
		first := Fingerprint(place, c, ordinal)
		if first == fingerprint {
			return false
		}
		for n := 1; n < MaxNamesakes; n++ {
			if Fingerprint(first, c, n) == fingerprint {
				return false
			}
		}
	}
	return place != "" && fingerprint != ""
}

// idEncoding is lower-case Crockford base 32, which leaves out i, l, o and u because they are easily misread.
var idEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// FindingIDLen is the length of a finding's id in characters.
const FindingIDLen = 10

// FindingID is the id that people see: 10 base-32 characters (50 bits) of the hash of
// repository and fingerprint.
func FindingID(r Repo, fingerprint string) string {
	sum := sha256.Sum256([]byte(r.String() + "\x00" + fingerprint))
	return base32ID(sum[:])
}

// base32ID is the beginning of a hash, for people.
func base32ID(sum []byte) string { return idEncoding.EncodeToString(sum)[:FindingIDLen] }

func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }
