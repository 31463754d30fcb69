package review

import (
	"fmt"
	"math"
	"slices"

	"github.com/precedent-dev/precedent"
)

// Tally counts labelled findings, and those of them that were worth fixing before the
// merge.
type Tally struct{ Worth, Of int }

// Scores is the table of confidence by verdict, category, severity and agreement: the
// chance in percent that the team accepts a finding. It is computed from counts of
// labelled findings:
//
//	P(n of N, prior) = (n + Weight·prior) / (N + Weight)
//
// which is the mean of a Beta distribution whose prior is worth Weight labels. The
// prior of a cell is the row above it, so that a cell with few labels is close to that
// row and one with none is equal to it:
//
//	confirmed                = n of N of all confirmed findings but the minor group
//	confirmed, group         = P(those of the group, confirmed)
//	confirmed, group, severe = P(all severe ones, group)
//	confirmed, group, other  = P(those of the group that are not severe, group)
//	uncertain                = n of N of all findings without a verdict that holds
//
// Each finder beyond the first that makes the same remark multiplies the odds by
// Agreement, up to two of them.
type Scores struct {
	// Confirmed counts the findings that a verifier confirmed, by group of categories.
	Confirmed map[Group]Tally
	// Severe counts those of critical or high severity. SevereGroup is the group that
	// they are in.
	Severe      Tally
	SevereGroup Group
	// Unverified counts the findings that a verifier did not decide.
	Unverified Tally
	// Weight is the number of labels that a prior is worth. It is more than 0.
	Weight float64
	// Agreement is a factor of the odds, at least 1.
	Agreement float64
}

// Group is categories whose findings are counted together, because the labels of one
// are few.
type Group string

// The groups.
const (
	correctness Group = "correctness" // wrong behaviour, and breaches of a rule that the team wrote
	design      Group = "design"
	minor       Group = "minor" // mostly true and mostly not worth a change
	unlabelled  Group = "unlabelled"
)

// groups are those of the categories with labels, and of those that are like them.
var groups = map[precedent.Category]Group{
	precedent.Bugs: correctness, precedent.Crash: correctness, precedent.Race: correctness,
	precedent.Security: correctness,
	precedent.DataLoss: correctness, precedent.Secrets: correctness,
	precedent.Architecture: design,
	precedent.Tests:        minor, precedent.Style: minor, precedent.Guidelines: minor,
}

// ShippedScores returns the table that applies until a repository has its own. The
// counts are of 206 candidates for findings on eight pull requests that were kept for
// this, judged without knowledge of verdict and score; 27 distinct defects were worth
// fixing before the merge. All nine severe ones were wrong behaviour. The labels do
// not count agreement: six products that agree multiply the odds by 1.9 each (137
// golden issues), and finders that share a model agree more easily.
func ShippedScores() Scores {
	return Scores{
		Confirmed:   map[Group]Tally{correctness: {19, 22}, design: {3, 7}, minor: {0, 21}},
		Severe:      Tally{9, 9},
		SevereGroup: correctness,
		Unverified:  Tally{3, 37},
		Weight:      2,
		Agreement:   1.5,
	}
}

// mostWithoutProof is the highest confidence in percent of a finding that no code
// proved. Analyzers prove theirs.
const mostWithoutProof = 97

// mostAgreement is the number of further finders that count as agreement.
const mostAgreement = 2

// confirmed returns the chance, 0 to 1, of a confirmed finding of one finder.
func (s *Scores) confirmed(g Group, severity precedent.Severity) float64 {
	var all Tally
	for other, t := range s.Confirmed {
		if other != minor {
			all.Worth += t.Worth
			all.Of += t.Of
		}
	}
	own := s.Confirmed[g]
	p := s.smooth(own, all.share())
	if severity.AtLeast(precedent.High) {
		return s.smooth(s.Severe, p)
	}
	if g == s.SevereGroup {
		own.Worth -= s.Severe.Worth
		own.Of -= s.Severe.Of
	}
	return s.smooth(own, p)
}

// share returns n of N, and one half without labels.
func (t Tally) share() float64 {
	if t.Of == 0 {
		return 0.5
	}
	return float64(t.Worth) / float64(t.Of)
}

func (s *Scores) smooth(t Tally, prior float64) float64 {
	return (float64(t.Worth) + s.Weight*prior) / (float64(t.Of) + s.Weight)
}

// agreed returns a chance, given the number of finders that made the remark.
func (s *Scores) agreed(p float64, votes int) float64 {
	p = min(max(p, 0), 1)
	factor := math.Pow(s.Agreement, float64(min(max(votes-1, 0), mostAgreement)))
	return p * factor / (1 - p + p*factor)
}

// Of returns the confidence of a finding by its verdict, and the row of the table. A
// finding without a verdict has none: ok is false. Nor has an uncertain one that is severe
// or in a protected category, so that a change cannot hide it by confusing the verifier.
func (s *Scores) Of(f *precedent.Finding) (confidence int, row string, ok bool) {
	switch f.Verifier {
	case precedent.Confirmed:
		g := groupOf(f)
		row = fmt.Sprintf("confirmed, %s, %s", g, f.Severity)
		return s.percent(s.confirmed(g, f.Severity), f.Votes), row, true
	case precedent.Uncertain:
		if f.Category.Protected() || isSevere(f.Severity) {
			break
		}
		return s.percent(s.Unverified.share(), f.Votes), "uncertain", true
	}
	return 0, "", false
}

// percent returns the confidence for a chance.
func (s *Scores) percent(p float64, votes int) int {
	return min(int(math.Round(100*s.agreed(p, votes))), mostWithoutProof)
}

// groupOf returns the group of a finding. A rule that the team wrote is worth following
// by the team's own word, unless it is about taste.
func groupOf(f *precedent.Finding) Group {
	if f.Severity != precedent.Nit && (f.Rule != "" || slices.ContainsFunc(f.Cites,
		func(c precedent.Cite) bool { return c.Kind == "guide" })) {
		return correctness
	}
	if g, ok := groups[f.Category]; ok {
		return g
	}
	return unlabelled
}
