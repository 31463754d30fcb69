package pull

import (
	"context"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// PastSchema names the version of the JSON form of a PastReplay.
const PastSchema = "precedent.replay-forge/1"

// MaxPast bounds the pull requests of one replay from the forge.
const MaxPast = 200

// Past are merged pull requests, to be reviewed again. Nothing about them is posted, saved or
// learned; only the answers of the engine are kept, so that an interrupted replay can go on, and
// what they cost counts for the limits of the day and of the pull request.
type Past struct {
	reviewer   *workspace.Env
	connection workspace.Connection
	repo       *Repository
	job        run.Job
	since      time.Time
	pulls      []forge.PullRequest // the last merged first
}

// ReadPast lists the pull requests that were merged since a time, the most recently updated
// first, at most limit. The repository stays the caller's.
func ReadPast(ctx context.Context, r *workspace.Env, c workspace.Connection, repo *Repository, since time.Time, limit int, job run.Job) (*Past, error) {
	job.Resume = true
	p := &Past{reviewer: r, connection: c, repo: repo, job: job, since: since}
	listed, err := c.Merged(ctx, repo.Repo, since, min(limit, MaxPast))
	if workspace.IsTooLarge(err) {
		r.Notice(ctx, "%v", err)
	} else if err != nil {
		return nil, c.Explain(err)
	}
	for _, pull := range listed { // a comment updates a pull request that was merged before
		if pull.MergedAt.IsZero() || !pull.MergedAt.Before(since) {
			p.pulls = append(p.pulls, pull)
		}
	}
	return p, nil
}

// PastEstimate adds up the estimates of the reviews of a replay.
type PastEstimate struct {
	Engine       string          `json:"engine"` // or why there is none
	PullRequests int             `json:"pull_requests"`
	Requests     int             `json:"requests"`
	Kept         int             `json:"stored_answers"`
	Usage        precedent.Usage `json:"usage"`
	CostUSD      *float64        `json:"cost_usd"` // null if the prices are unknown
	Unread       int             `json:"unread_hunks"`
	// Failed are the pull requests that could not be prepared.
	Failed int `json:"failed_pull_requests"`
}

// Estimate prepares each pull request, and adds up what their reviews would send. It sends
// nothing to the engine.
func (p *Past) Estimate(ctx context.Context) (PastEstimate, error) {
	cost := 0.0
	out := PastEstimate{PullRequests: len(p.pulls), CostUSD: &cost}
	for i := range p.pulls {
		err := p.prepare(ctx, p.pulls[i].Number, func(_ *Pull, x *Prepared) error {
			e := review.Plan(ctx, x.Input)
			out.Engine = x.Engine
			out.Requests += e.Requests
			out.Kept += e.Kept
			out.Unread += e.Unread
			out.Usage.Add(e.Usage)
			switch {
			case out.CostUSD == nil || e.Requests == 0:
			case e.CostUSD == nil:
				out.CostUSD = nil
			default:
				cost += *e.CostUSD
			}
			return nil
		})
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		if err != nil {
			p.reviewer.Notice(ctx, "#%d: %v", p.pulls[i].Number, err)
			out.Failed++
		}
	}
	return out, nil
}

// prepare prepares a pull request, calls use, and closes it.
func (p *Past) prepare(ctx context.Context, number int, use func(*Pull, *Prepared) error) error {
	pull, err := Read(ctx, p.reviewer, p.connection, p.repo, number)
	if err != nil {
		return err
	}
	defer pull.Close()
	x, err := pull.preparePast(ctx, p.job)
	if err != nil {
		return err
	}
	defer x.Close()
	return use(pull, x)
}

// preparePast prepares a merged pull request for a review that knows none of the comments on it:
// the finders must not read what they are compared with.
func (p *Pull) preparePast(ctx context.Context, job run.Job) (*Prepared, error) {
	s, err := p.Gather(ctx, Purpose{Engine: job.Engine.Enabled(), past: true})
	if err != nil {
		return nil, err
	}
	return p.prepare(ctx, s, job)
}

// PastReplay compares reviews of merged pull requests with what people did on them.
type PastReplay struct {
	Schema   string       `json:"schema"`
	Since    time.Time    `json:"since"`
	Estimate PastEstimate `json:"estimate"`
	Pulls    []PastPull   `json:"pull_requests"`
	Total    PastCount    `json:"total"`
	// Reviewed counts the pull requests that were read whole.
	Reviewed int             `json:"reviewed"`
	Usage    precedent.Usage `json:"usage"`
	CostUSD  float64         `json:"cost_usd"`
}

// PastPull is a pull request of a replay.
type PastPull struct {
	Number   int               `json:"number"`
	Title    string            `json:"title"`
	URL      string            `json:"url"`
	MergedAt time.Time         `json:"merged_at"`
	Head     string            `json:"head"`
	Verdict  precedent.Verdict `json:"verdict"` // empty if it was not reviewed
	Why      string            `json:"why"`     // why it was not reviewed
	PastCount
	CostUSD  float64       `json:"cost_usd"`
	Findings []PastFinding `json:"findings"`
	// Gone are the findings that were posted then, and that this review does not have.
	Gone []PastFinding `json:"gone"`
}

// PastCount counts findings.
type PastCount struct {
	Shown int `json:"shown"` // by the replay
	// Commented are those near which a reviewer commented, Changed those whose lines differ in the
	// merged tree, and Neither those of which neither is known.
	Commented int `json:"commented"`
	Changed   int `json:"changed"`
	Neither   int `json:"neither"`
	// Then are the findings that were posted before the merge; of these, Again are found again,
	// and people accepted or rejected some. New are found now on pull requests that had posts.
	Then     int `json:"posted_then"`
	Again    int `json:"again"`
	New      int `json:"new"`
	Accepted int `json:"accepted_then"`
	Rejected int `json:"rejected_then"`
}

func (c *PastCount) add(o PastCount) {
	c.Shown += o.Shown
	c.Commented += o.Commented
	c.Changed += o.Changed
	c.Neither += o.Neither
	c.Then += o.Then
	c.Again += o.Again
	c.New += o.New
	c.Accepted += o.Accepted
	c.Rejected += o.Rejected
}

// PastFinding is a finding of a replay, or one that was posted then.
type PastFinding struct {
	Finding  string             `json:"finding"`
	Title    string             `json:"title"`
	Severity precedent.Severity `json:"severity"`
	Path     string             `json:"path"`
	Line     int                `json:"line"` // 0 for the file
	// NearComment tells that a reviewer commented near it, and CommentURL where. Changed tells
	// that its lines differ in the merged tree; nil if that is not known.
	NearComment bool   `json:"near_comment"`
	CommentURL  string `json:"comment_url"`
	Changed     *bool  `json:"changed"`
	// Posted tells that it was posted before the merge, and Outcome what became of it then.
	Posted  bool                  `json:"posted_then"`
	Outcome precedent.OutcomeKind `json:"outcome"`
}

// Replay reviews the pull requests, one after the other, and compares the findings with what
// people did. All reviews together cost at most the limit of one review.
func (p *Past) Replay(ctx context.Context, e PastEstimate) (PastReplay, error) {
	out := PastReplay{Schema: PastSchema, Since: p.since, Estimate: e, Pulls: []PastPull{}}
	limit := p.job.Settings.MaxCost.Value
	for i := range p.pulls {
		listed := &p.pulls[i]
		one := PastPull{
			Number: listed.Number, Title: text.Cut(text.Collapse(text.VisibleLine(string(listed.Title))), MaxTitle), URL: listed.URL,
			MergedAt: listed.MergedAt, Head: listed.Head.SHA, Findings: []PastFinding{}, Gone: []PastFinding{},
		}
		left := limit - out.CostUSD
		var err error
		if limit > 0 && left <= 0 {
			one.Why = "the limit of the cost is reached"
		} else {
			p.reviewer.Notice(ctx, "reviewing #%d, %d of %d", one.Number, i+1, len(p.pulls))
			err = p.prepare(ctx, one.Number, func(pull *Pull, x *Prepared) error {
				if x.Budget != nil && limit > 0 {
					x.Budget.USD = left
				}
				return pull.replay(ctx, x, &one, &out.Usage)
			})
		}
		out.CostUSD += one.CostUSD
		if ctx.Err() != nil {
			return out, workspace.Hinted(ctx.Err(), "the answers so far are stored: the same command goes on from them")
		}
		if err != nil {
			one.Why = err.Error()
		}
		if one.Verdict != "" && one.Verdict != precedent.Partial && one.Verdict != precedent.Failed {
			out.Reviewed++
		}
		out.Total.add(one.PastCount)
		out.Pulls = append(out.Pulls, one)
	}
	return out, nil
}

// replay reviews the pull request without saving the review.
func (p *Pull) replay(ctx context.Context, x *Prepared, one *PastPull, usage *precedent.Usage) error {
	r, err := x.Read(ctx, run.Watch{})
	if x.Budget != nil {
		_, one.CostUSD = x.Budget.Spent()
	}
	if err != nil {
		return err
	}
	one.Head, one.Verdict = r.Head, r.Verdict
	usage.Add(r.Usage)
	return p.compare(ctx, x.State, r, one)
}
