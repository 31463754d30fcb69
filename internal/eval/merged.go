package eval

import (
	"context"
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/thread"
)

// nearLines is how many lines a comment may be from a finding to count as one about its place:
// reviewers often mark the first line of a statement or of a function.
const nearLines = 5

// Merged is a merged pull request, and how it was merged.
type Merged struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	Commit string `json:"merge_commit"`
	Base   string `json:"base"` // of the change
	Head   string `json:"head"`
	Why    string `json:"why"` // why it was not reviewed; empty if it was
	MergedCount
	CostUSD  float64         `json:"cost_usd"`
	Findings []MergedFinding `json:"findings"`
}

// MergedCount counts shown findings: those near which a reviewer commented, those whose lines differ in the
// merged tree, and those of which neither is known.
type MergedCount struct {
	Shown     int `json:"shown"`
	Commented int `json:"commented"`
	Changed   int `json:"changed"`
	Neither   int `json:"neither"`
}

// MergedFinding is a shown finding, and what people did at its place.
type MergedFinding struct {
	Title    string             `json:"title"`
	Severity precedent.Severity `json:"severity"`
	Path     string             `json:"path"`
	Line     int                `json:"line"` // 0 for the file
	Comment  string             `json:"comment_url"`
	Changed  bool               `json:"changed"`
}

// Compare compares the review with the comments on the pull request, of which own are by the account that posts
// reviews, and with the merged tree. Comments of the author and of programs do not count, nor do answers to ours.
func (m *Merged) Compare(r *precedent.Review, comments []forge.Comment, author, own precedent.ForgeID, read func(commit, path string) ([]byte, error)) {
	remarks := remarksOf(comments, author, own)
	thread.Relocate(remarks, thread.Trees{Head: m.Head, Base: m.Base, Read: read})
	live := r.Live()
	merged := make([]precedent.Thread, len(live))
	for i, f := range live {
		merged[i] = precedent.Thread{Commit: m.Head, Span: f.Span, Quote: f.Quote}
	}
	thread.Relocate(merged, thread.Trees{Head: m.Commit, Base: m.Base, Read: read})
	for i, f := range live {
		found := MergedFinding{Title: f.Title, Severity: f.Severity, Path: f.Path, Line: f.Start, Changed: merged[i].Changed}
		for _, c := range remarks {
			if isNear(c.Current, f.Span) {
				found.Comment = c.URL
				m.Commented++
				break
			}
		}
		m.Shown++
		switch {
		case found.Changed:
			m.Changed++
		case found.Comment == "":
			m.Neither++
		}
		m.Findings = append(m.Findings, found)
	}
}

// remarksOf are the comments of reviewers on lines.
func remarksOf(comments []forge.Comment, author, own precedent.ForgeID) []precedent.Thread {
	ours := map[precedent.ForgeID]bool{}
	var remarks []precedent.Thread
	for _, c := range comments { // the oldest first: a reply comes after what it replies to
		switch {
		case own != "" && c.Author.ID == own:
			ours[c.ID] = true
		case c.Kind == forge.OnLine && !ours[c.ReplyTo] && !c.Author.Bot && c.Author.ID != author:
			remarks = append(remarks, precedent.Thread{Commit: c.Commit, Span: c.Span, URL: c.URL})
		}
	}
	return remarks
}

// isNear reports whether two places are in one file, and at most nearLines apart.
func isNear(a, b precedent.Span) bool {
	return a.Path == b.Path && a.Side == b.Side && a.Start > 0 && b.Start > 0 && a.Start <= b.End+nearLines && b.Start <= a.End+nearLines
}

// MergedReplay is the result of reviewing merged pull requests again.
type MergedReplay struct {
	Requests int         `json:"requests"` // to the engine, as estimated
	Estimate *float64    `json:"estimated_usd"`
	Pulls    []Merged    `json:"pull_requests"`
	Total    MergedCount `json:"total"`
	Reviewed int         `json:"reviewed"`
	CostUSD  float64     `json:"cost_usd"`
}

// MergedRun is what reviews the pull requests.
type MergedRun struct {
	// Estimate returns the number of requests, and their cost if the prices are known.
	Estimate func(ctx context.Context, base, head string) (requests int, usd *float64, err error)
	// Review reviews a change for at most so many dollars; 0 for no limit.
	Review func(ctx context.Context, base, head string, usd float64) (*precedent.Review, error)
}

// Plan adds up what the reviews would send.
func (r *MergedReplay) Plan(ctx context.Context, run MergedRun) error {
	cost := 0.0
	r.Requests, r.Estimate = 0, &cost
	for i := range r.Pulls {
		p := &r.Pulls[i]
		if p.Why != "" {
			continue
		}
		requests, usd, err := run.Estimate(ctx, p.Base, p.Head)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			p.Why = err.Error()
		case requests > 0 && usd == nil:
			r.Estimate = nil
		case requests > 0 && r.Estimate != nil:
			cost += *usd
		}
		r.Requests += requests
	}
	return nil
}

// Add counts a pull request that was reviewed, or was not for some reason.
func (r *MergedReplay) Add(m *Merged) {
	if m.Why == "" {
		r.Reviewed++
	}
	r.CostUSD += m.CostUSD
	r.Total.Shown += m.Shown
	r.Total.Commented += m.Commented
	r.Total.Changed += m.Changed
	r.Total.Neither += m.Neither
}

// Show prints a replay.
func (r *MergedReplay) Show(p *report.Page) error {
	rows := [][]string{}
	row := func(ink report.Ink, cells ...any) {
		line := make([]string, len(cells))
		for i, c := range cells {
			line[i] = p.Inkf(ink, "%v", c)
		}
		rows = append(rows, line)
	}
	row(report.Faint, "pull", "found", "comment", "changed", "neither", "")
	for i := range r.Pulls {
		m := &r.Pulls[i]
		last := m.Title
		if m.Why != "" {
			last = "not reviewed"
		}
		row(report.Plain, fmt.Sprintf("#%d", m.Number), m.Shown, m.Commented, m.Changed, m.Neither, last)
	}
	row(report.Bold, "all", r.Total.Shown, r.Total.Commented, r.Total.Changed, r.Total.Neither,
		fmt.Sprintf("%d of %d reviewed, $%.2f", r.Reviewed, len(r.Pulls), r.CostUSD))
	p.Table(rows)
	p.Para("", p.Ink(report.Plain, "comment: a reviewer commented within 5 lines; changed: the lines are different in "+
		"the merged tree. Agreement with comments is not precision."))
	for i := range r.Pulls {
		if why := r.Pulls[i].Why; why != "" {
			p.Para(p.Inkf(report.Bold, "  %-9s", "unknown"), p.Inkf(report.Plain, "#%d was not reviewed: %s", r.Pulls[i].Number, why))
		}
		for _, f := range r.Pulls[i].Findings {
			what := "neither"
			switch {
			case f.Comment != "":
				what = "comment"
			case f.Changed:
				what = "changed"
			}
			p.Para(p.Inkf(report.Bold, "  %-9s", what), p.Inkf(report.Plain, "#%d %s %s:%d  %s", r.Pulls[i].Number, f.Severity, f.Path, f.Line, f.Title))
		}
	}
	return p.Err()
}
