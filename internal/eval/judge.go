package eval

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/review"
)

// MostJudged bounds the pairs of one case that a judge is asked about: five
// requests. The nearest are asked about first.
const MostJudged = 200

// JudgeName is the name of the task that an engine gets as judge of an evaluation.
const JudgeName = "eval"

// Judgement is what a judge said of the candidates of one case.
type Judgement struct {
	Engine string           `json:"engine"`
	Status precedent.Status `json:"status"` // of the worst request; ok if there was none
	Error  string           `json:"error"`
	All    bool             `json:"all"` // whether findings below the threshold were judged, too
	// Same are the pairs that make the same point; Asked counts all, and LeftOut
	// those beyond MostJudged. Unproven were called the same with words that
	// neither remark has as proof, and do not count.
	Same     []Same `json:"same"`
	Asked    int    `json:"asked"`
	LeftOut  int    `json:"left_out"`
	Unproven int    `json:"unproven"`
	Spent    Spent  `json:"spent"`
}

// Same is a candidate and a mark that make the same point.
type Same struct {
	Finding int    `json:"finding"` // index in the candidates' findings
	List    string `json:"list"`    // gold or negative
	Mark    int    `json:"mark"`    // index in the list
	Quote   string `json:"quote"`   // the words that show it; empty if the judge gave none
}

// The lists of marks.
const (
	goldList     = "gold"
	negativeList = "negative"
)

// Judge asks the engine which candidates and marks make the same point: all
// pairs about one file, the nearest MostJudged of them. Of the findings only
// live ones are judged, or with all also those below the threshold. The error is
// that of a cancelled context; other trouble is in the judgement.
func (v Reviewer) Judge(ctx context.Context, c *Case, cs *Candidates, all bool) (*Judgement, error) {
	j := &Judgement{Engine: v.Engine.Info().Who, Status: precedent.StatusOK, All: all, Same: []Same{}}
	pairs := judgePairs(c, cs, all)
	j.LeftOut = max(len(pairs)-MostJudged, 0)
	pairs = pairs[:len(pairs)-j.LeftOut]
	j.Asked = len(pairs)
	for batch := range slices.Chunk(pairs, prompt.MostPairs) {
		if err := v.judge(ctx, j, c, cs, batch); err != nil {
			return nil, err
		}
		if j.Status != precedent.StatusOK {
			break
		}
	}
	return j, nil
}

// judge asks about one batch of pairs.
func (v Reviewer) judge(ctx context.Context, j *Judgement, c *Case, cs *Candidates, batch []judgePair) error {
	var asked []prompt.Pair
	var marks []precedent.Finding
	for i, p := range batch {
		marks = append(marks, clean(quoting(p.mark(c), c.Change)))
		asked = append(asked, review.JudgePair(i, &cs.Findings[p.Finding].Finding, &marks[i]))
	}
	a, err := v.ask(ctx, JudgeName, prompt.Judge(asked), len(asked))
	if err != nil {
		return err
	}
	j.Spent.Add(a.spent)
	j.Status, j.Error = a.status, a.message
	for i, p := range batch {
		said := a.said[i]
		switch {
		case !said.Same:
		case !said.SameRemark(&cs.Findings[p.Finding].Finding, &marks[i]):
			j.Unproven++
		default:
			j.Same = append(j.Same, Same{p.Finding, p.List, p.Mark, said.Quote})
		}
	}
	return nil
}

// judgePair is a candidate and a mark that may make the same point.
type judgePair struct {
	Same
	apart int // lines
}

func (p *judgePair) mark(c *Case) *Mark {
	if p.List == negativeList {
		return &c.Negative[p.Mark]
	}
	return &c.Gold[p.Mark]
}

// judgePairs returns all pairs about one file, the nearest first.
func judgePairs(c *Case, cs *Candidates, all bool) []judgePair {
	var pairs []judgePair
	for i := range cs.Findings {
		f := &cs.Findings[i]
		if !counts(&f.Finding, all) {
			continue
		}
		for list, marks := range map[string][]Mark{goldList: c.Gold, negativeList: c.Negative} {
			for k := range marks {
				if m := marks[k].span(); m.Path == f.Path {
					pairs = append(pairs, judgePair{Same{Finding: i, List: list, Mark: k}, apart(f.Span, m)})
				}
			}
		}
	}
	slices.SortFunc(pairs, func(a, b judgePair) int {
		return cmp.Or(cmp.Compare(a.apart, b.apart), cmp.Compare(a.Finding, b.Finding), cmp.Compare(a.List, b.List), cmp.Compare(a.Mark, b.Mark))
	})
	return pairs
}

// counts tells whether a finding is scored: a live one, or with all also one
// that only the threshold keeps from being live.
func counts(f *precedent.Finding, all bool) bool {
	return f.Live() || all && f.Dropped == precedent.BelowThreshold
}

// quoting is a mark as a finding that quotes the first lines that it is about.
func quoting(m *Mark, c *diff.Change) precedent.Finding {
	f := ofGold(m)
	f.Quote = strings.Join(shown(c, f.Span), "\n")
	return f
}

// shown returns the first three lines of a span that the diff shows and that say something.
func shown(c *diff.Change, s precedent.Span) []string {
	const most = 3 // as findings quote
	var lines []string
	file := c.File(s.Path)
	if file == nil {
		return nil
	}
	for _, l := range file.Commentable(s.Side) {
		n := l.New
		if s.Side == precedent.Left {
			n = l.Old
		}
		if n >= s.Start && n <= s.End && len(lines) < most && !blank(l.Text) {
			lines = append(lines, l.Text)
		}
	}
	return lines
}
