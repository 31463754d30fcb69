package eval

import (
	"context"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
)

// BenchmarkDistance is how many lines a finding may be from an expert's remark, as in AACR-Bench's own evaluation.
const BenchmarkDistance = 1

// Options are how candidates are scored.
type Options struct {
	// Near is how many lines a candidate may be from a mark to match it by location;
	// BenchmarkDistance is the usual value.
	Near int
	All  bool   // score findings below the threshold, too
	Seed uint64 // decides every draw
}

// Result is the score of a run over a data set.
type Result struct {
	Cases      int       `json:"cases"`
	Scored     int       `json:"scored"`
	Incomplete []Problem `json:"incomplete"` // partial or failed: their gold marks count as missed
	Missing    []string  `json:"missing"`    // cases without candidates
	Degraded   []Problem `json:"degraded"`   // scored, although a step of the review failed
	Near       int       `json:"near"`
	All        bool      `json:"all"`
	Resamples  int       `json:"resamples"`
	Seed       uint64    `json:"seed"`
	Location   Score     `json:"location"`
	Judge      *Judged   `json:"judge"` // nil if no case was judged
	// OtherChanges replays the marks that experts rejected in earlier changes of the
	// repository, SameChange those of the change itself.
	OtherChanges Replay `json:"replay_other_changes"`
	SameChange   Replay `json:"replay_same_change"`
	Spent        Spent  `json:"spent"` // of all lines of the candidates file
}

// Problem is a case whose review did not finish, or why its score is doubtful.
type Problem struct {
	Case   string `json:"case"`
	Status string `json:"status"`
	Why    string `json:"why"`
}

// Score counts which candidates match which marks, one to one.
type Score struct {
	Cases      int   `json:"cases"`
	Total      Row   `json:"total"`
	Categories []Row `json:"categories"` // those with a candidate or a gold mark
	// Rejected counts the candidates that match a mark that experts rejected, and none that they accepted.
	Rejected int `json:"match_negative"`
}

// Row is the score of one class of remarks. In a category's row, Hits counts its candidates that match a gold
// mark of any category, and Found its gold marks that a candidate of any category matches.
type Row struct {
	Category   string `json:"category"`
	Candidates int    `json:"candidates"`
	Hits       int    `json:"hits"`
	Gold       int    `json:"gold"`
	Found      int    `json:"found"`
	Precision  Ratio  `json:"precision"`
	Recall     Ratio  `json:"recall"`
	F1         Ratio  `json:"f1"`
}

// Judged is the score by a judge.
type Judged struct {
	Score
	Engines  []string  `json:"engines"`
	Unjudged []Problem `json:"unjudged"` // scored by location alone
	Asked    int       `json:"asked"`
	LeftOut  int       `json:"left_out"`
	Unproven int       `json:"unproven"`
}

// scored is a case whose candidates can be scored, with their matches.
type scored struct {
	*Case
	cs     *Candidates
	missed bool  // its review did not finish, so it has no candidates
	counts []int // indexes of the scored findings
	near   matched
	judged *matched // nil unless a judge was asked about all of them
}

// matched is the mark of each scored finding: a gold mark, else a negative one, by its index, or -1.
type matched struct{ gold, negative []int }

// Compute scores candidates. The error is about candidates of another change, or that of a cancelled context.
func Compute(ctx context.Context, cases []Case, file File, o Options) (Result, error) {
	r := Result{
		Cases: len(cases), Near: o.Near, All: o.All, Resamples: Resamples, Seed: o.Seed,
		Incomplete: []Problem{}, Missing: []string{}, Degraded: []Problem{}, Spent: file.Spent,
	}
	all, err := admit(cases, file, o, &r)
	if err != nil {
		return r, err
	}
	r.Scored = len(all) - len(r.Incomplete)
	r.Location = score(all, func(s *scored) *matched { return &s.near }, o.Seed)
	judged := Judged{Engines: []string{}, Unjudged: []Problem{}}
	for i := range all {
		if j := all[i].cs.Judged; j != nil && !all[i].missed {
			judged.add(&all[i], j, o.All)
		}
	}
	if len(judged.Engines) > 0 {
		for i := range all {
			if all[i].missed {
				all[i].judged = &matched{}
			}
		}
		judged.Score = score(all, func(s *scored) *matched { return s.judged }, o.Seed)
		r.Judge = &judged
	}
	r.OtherChanges, r.SameChange, err = replay(ctx, all, o.All, func(s *scored) memory.Judge { return s.cs.Dismissed.answers })
	return r, err
}

// admit returns the cases that can be scored, and those whose review did not finish,
// without their candidates. It records in the result what is wrong with the others.
func admit(cases []Case, file File, o Options, r *Result) ([]scored, error) {
	var all []scored
	for i := range cases {
		c := &cases[i]
		cs, ok := file.Lines[c.Name]
		switch {
		case !ok:
			r.Missing = append(r.Missing, c.Name)
			continue
		case cs.Sum != c.Sum:
			return nil, fmt.Errorf("score %s: its candidates are for another patch", c.Name)
		case !cs.Complete():
			r.Incomplete = append(r.Incomplete, Problem{c.Name, string(cs.Verdict), cs.problem()})
			all = append(all, scored{Case: c, cs: &cs, missed: true})
			continue
		}
		for _, f := range cs.Failures {
			r.Degraded = append(r.Degraded, Problem{c.Name, f.Step, f.Error})
		}
		s := scored{Case: c, cs: &cs}
		for k := range cs.Findings {
			if isScored(&cs.Findings[k].Finding, o.All) {
				s.counts = append(s.counts, k)
			}
		}
		s.near = s.byLocation(o.Near)
		all = append(all, s)
	}
	return all, nil
}

// add adds a judge's answers about a case.
func (r *Judged) add(s *scored, j *Judgement, all bool) {
	if !slices.Contains(r.Engines, j.Engine) {
		r.Engines = append(r.Engines, j.Engine)
	}
	switch {
	case j.Status != precedent.StatusOK:
		r.Unjudged = append(r.Unjudged, Problem{s.Name, string(j.Status), j.Error})
		return
	case all && !j.All:
		r.Unjudged = append(r.Unjudged, Problem{s.Name, "partial", "findings below the threshold were not judged"})
		return
	}
	r.Asked += j.Asked
	r.LeftOut += j.LeftOut
	r.Unproven += j.Unproven
	m := s.byJudge(j)
	s.judged = &m
}

// score sums up the cases with matches.
func score(all []scored, of func(*scored) *matched, seed uint64) Score {
	r := Score{Categories: []Row{}}
	var totals []tally
	byClass := map[class][]tally{}
	for i := range all {
		s := &all[i]
		m := of(s)
		if m == nil {
			continue
		}
		r.Cases++
		var total tally
		by := map[class]*tally{}
		for _, cl := range classes {
			by[cl] = &tally{}
		}
		for k, f := range s.counts {
			cl := classOf(string(s.cs.Findings[f].Category))
			by[cl].candidates++
			if m.gold[k] >= 0 {
				by[cl].hits++
				by[classOf(s.Gold[m.gold[k]].Category)].found++
			} else if m.negative[k] >= 0 {
				r.Rejected++
			}
		}
		for _, g := range s.Gold {
			by[classOf(g.Category)].gold++
		}
		for _, cl := range classes {
			total.add(*by[cl])
			byClass[cl] = append(byClass[cl], *by[cl])
		}
		totals = append(totals, total)
	}
	r.Total = row("all", totals, seed)
	for _, cl := range classes {
		if c := row(string(cl), byClass[cl], seed); c.Candidates+c.Gold > 0 {
			r.Categories = append(r.Categories, c)
		}
	}
	return r
}

func row(name string, cases []tally, seed uint64) Row {
	var t tally
	for _, c := range cases {
		t.add(c)
	}
	r := Row{Category: name, Candidates: t.candidates, Hits: t.hits, Gold: t.gold, Found: t.found}
	r.Precision, r.Recall, r.F1 = intervals(cases, seed)
	return r
}
