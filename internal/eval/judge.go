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

// MostJudged is the maximum number of pairs per case that a judge is asked about:
// five requests. The nearest pairs come first.
const MostJudged = 200

// JudgeName is the task name for the judge of an evaluation.
const JudgeName = "eval"

// Judgement is a judge's answers about the candidates of one case.
type Judgement struct {
	Engine string           `json:"engine"`
	Status precedent.Status `json:"status"` // of the worst request; ok if there was none
	Error  string           `json:"error"`
	All    bool             `json:"all"` // findings below the threshold were judged, too
	// Same are the pairs that make the same point. Asked counts all pairs, and
	// LeftOut those beyond MostJudged. Unproven counts pairs that were called the
	// same with a quote that is in neither remark; they do not count as the same.
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
	Quote   string `json:"quote"`   // the quote that shows it; empty if the judge gave none
}

// The lists of marks.
const (
	goldList     = "gold"
	negativeList = "negative"
)

// Judge asks the engine which candidates and marks make the same point: all pairs in the same file, limited
// to the nearest MostJudged. Only live findings are judged, and with all also those below the threshold. The
// error is that of a cancelled context; other errors are in the judgement.
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
	for i, p := range batch {
		mark := clean(quotedMark(p.mark(c), c.Change))
		asked = append(asked, review.JudgePair(i, &cs.Findings[p.Finding].Finding, &mark))
	}
	a, err := v.ask(ctx, JudgeName, prompt.Judge(asked), len(asked))
	if err != nil {
		return err
	}
	j.Spent.Add(a.spent)
	j.Status, j.Error = a.status, a.message
	for i, p := range batch {
		said := a.answers[i]
		switch {
		case !said.Same:
		case !said.SameRemark(asked[i].Texts...):
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

// judgePairs returns all pairs in the same file, nearest first.
func judgePairs(c *Case, cs *Candidates, all bool) []judgePair {
	var pairs []judgePair
	for i := range cs.Findings {
		f := &cs.Findings[i]
		if !isScored(&f.Finding, all) {
			continue
		}
		for list, marks := range map[string][]Mark{goldList: c.Gold, negativeList: c.Negative} {
			for k := range marks {
				if m := marks[k].span(); m.Path == f.Path {
					pairs = append(pairs, judgePair{Same{Finding: i, List: list, Mark: k}, linesApart(f.Span, m)})
				}
			}
		}
	}
	slices.SortFunc(pairs, func(a, b judgePair) int {
		return cmp.Or(cmp.Compare(a.apart, b.apart), cmp.Compare(a.Finding, b.Finding), cmp.Compare(a.List, b.List), cmp.Compare(a.Mark, b.Mark))
	})
	return pairs
}

// isScored reports whether a finding is scored: a live one, or with all also one that
// only the threshold drops.
func isScored(f *precedent.Finding, all bool) bool {
	return f.Live() || all && (f.Dropped == precedent.BelowThreshold || f.Dropped == precedent.Minor)
}

// quotedMark converts a mark to a finding that quotes its first lines.
func quotedMark(m *Mark, c *diff.Change) precedent.Finding {
	f := goldFinding(m)
	f.Quote = strings.Join(firstLines(c, f.Span), "\n")
	return f
}

// firstLines returns the first three non-blank lines of a span that are in the diff.
func firstLines(c *diff.Change, s precedent.Span) []string {
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
