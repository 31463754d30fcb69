package pull

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// Pull is a pull request as the forge knows it, with the memory of its repository.
// It serves one run: the permission of each person is requested once.
type Pull struct {
	forge.PullRequest // read once; again only if its head moves while it is fetched

	Env       *workspace.Env
	Conn      workspace.Connection
	Workspace *workspace.Workspace
	Repo      *Repository
	Writer    comment.Writer // knows our comments
	People    workspace.Permissions
	// SpentTokens and SpentUSD are what answers to comments cost before the review.
	SpentTokens int
	SpentUSD    float64
}

// Read reads the pull request, and opens the memory of its repository, which stays the caller's.
func Read(ctx context.Context, r *workspace.Env, c workspace.Connection, repo *Repository, number int) (*Pull, error) {
	w, err := r.OpenForReview(ctx, repo.Repository)
	if err != nil {
		return nil, err
	}
	p := &Pull{Env: r, Conn: c, Workspace: w, Repo: repo, Writer: comment.Writer{
		PullRequest: comment.PullRequest{Repo: repo.Repo, Number: number}, Links: []string{c.Host()}, Own: c.Secrets,
		Version: r.Version, Key: c.Key, FixedLines: c.Pages().FixedLines,
	}}
	p.People = workspace.Permissions{
		Known: map[precedent.ForgeID]forge.Permission{},
		Ask: func(ctx context.Context, who forge.Person) (forge.Permission, error) {
			return c.Permission(ctx, repo.Repo, who)
		},
	}
	p.Number = number
	if err = p.read(ctx); err == nil {
		err = p.followName(ctx)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// followName uses the present name of a repository that was renamed or moved from here on.
// What the memory has under its number or its former name stays its own.
func (p *Pull) followName(ctx context.Context) error {
	m := p.Workspace.Memory
	if now := p.Base.Repo; !workspace.SameRepo(now, p.Repo.Repo) {
		p.Env.Notice(ctx, "%s is called %s now", p.Repo.Repo, now)
		p.Repo.IDs, p.Repo.Repo = append([]precedent.Repo{now}, p.Repo.IDs...), now
		m.Repo, m.Aliases = now, p.Repo.IDs[1:]
	}
	p.Writer.PullRequest.Repo, p.Writer.PullRequest.RepoID = p.Repo.Repo, p.Base.RepoID
	var err error
	if p.Base.RepoID != "" {
		err = m.DB.Follow(ctx, precedent.NumberedRepo(p.Repo.Repo.Host, p.Base.RepoID), p.Repo.IDs...)
	}
	err = errors.Join(err, m.Open(ctx))
	if err != nil && ctx.Err() == nil { // the review goes on without what it had under another name
		p.Workspace.Failures = append(p.Workspace.Failures, precedent.Failure{Step: "memory", Error: err.Error()})
		return nil
	}
	return err
}

// Close closes the memory.
func (p *Pull) Close() { p.Workspace.Memory.DB.Close() }

func (p *Pull) read(ctx context.Context) error {
	pr, err := p.Conn.PullRequest(ctx, p.Repo.Repo, p.Number)
	if err != nil {
		return p.Conn.Explain(err)
	}
	p.PullRequest = pr
	return nil
}

// Prepare fetches everything that a review needs which is not posted. It reads the
// whole pull request, whatever an earlier review has read.
func (p *Pull) Prepare(ctx context.Context, job run.Job) (*Prepared, error) {
	s, err := p.Gather(ctx, Purpose{Engine: job.Engine.Enabled()})
	if err != nil {
		return nil, err
	}
	s.Earlier.since = nil
	return p.prepare(ctx, s, job)
}

// Prepared is a pull request with everything that its review needs.
type Prepared struct {
	*run.Prepared
	State *State
}

func (p *Pull) prepare(ctx context.Context, s *State, job run.Job) (*Prepared, error) {
	change, err := s.change(ctx)
	if err != nil {
		return nil, err
	}
	shown, err := s.forgeChange(ctx)
	if err != nil {
		return nil, err
	}
	x := run.New(p.Env, p.Workspace.IDs[0], s.Subject, change, job)
	x.Number, x.Visibility, x.Before = &p.Number, p.Base.Visibility, p.MergedAt
	x.Posted = p.PostedSpending(job.Settings)
	x.Input.ForgeChange = shown
	p.fillInput(&x.Input, s)
	if err = x.ReadBase(ctx, s.hasBase(ctx)); err == nil {
		err = x.Complete(ctx, p.Workspace, job)
	}
	if err != nil {
		x.Close()
		return nil, err
	}
	p.deduct(x.Budget)
	run.RecheckRules(s.Earlier.since, s.Earlier.rules, x.Input.Guide.Rules)
	return &Prepared{Prepared: x, State: s}, nil
}

// Bounds of what is shown of a pull request's words.
const (
	MaxTitle  = 120      // characters, for people
	maxIntent = 32 << 10 // characters, as many as of commit messages
)

// fillInput puts into the input what only a pull request has.
func (p *Pull) fillInput(in *review.Input, s *State) {
	in.Target = precedent.Target{
		Kind: string(s.Range.Kind),
		Head: fmt.Sprintf("#%d %s", p.Number, text.Cut(text.Collapse(text.VisibleLine(string(p.Title))), MaxTitle)),
		Base: p.Base.Name,
	}
	in.Intent = precedent.Untrusted(text.Cut(string(p.Title)+"\n\n"+string(p.Body), maxIntent))
	in.Discussion = s.discussion
	in.Threads, in.Since, in.Author = s.Earlier.Threads, s.Earlier.since, p.Author.ID
	in.Failures = slices.Concat(s.failures, p.People.Failures())
	if s.Patched {
		in.Incomplete = true
		in.Read = func(precedent.Side, string) ([]byte, error) { return nil, errNotFetched }
		in.Tree = func(context.Context) (string, error) { return "", errNotFetched }
	}
}

// Purpose is what a pull request is looked at for.
type Purpose struct {
	Posts  bool // the review is posted
	Engine bool // a model reads
}

// State is a pull request as it is now: its commits, what people said, and what earlier reviews left.
type State struct {
	fetched
	Comments   []forge.Comment
	partial    bool // there are more comments, which could not be read
	discussion precedent.Discussion
	Earlier    earlier
	failures   []precedent.Failure
	// Language and learningsOff are those of the policy.
	Language     string
	LearningsOff bool
	Capture      precedent.LearningCapture // the policy's
}

func (s *State) fail(step string, err error, consequence string) {
	s.failures = append(s.failures, precedent.Failure{Step: step, Error: err.Error() + "; " + consequence})
}

// Gather fetches the commits, reads what people said, and finds what earlier reviews
// left. It is to be closed.
func (p *Pull) Gather(ctx context.Context, of Purpose) (*State, error) {
	f, err := p.fetch(ctx)
	if err != nil {
		return nil, err
	}
	s := &State{fetched: f}
	if f.FetchError != nil {
		s.fail("fetch", f.FetchError, "the forge's diff was reviewed, without the files")
	}
	if policy, ok := s.Policy(ctx); ok {
		p.People.Maintainers, s.Language, s.LearningsOff = policy.Maintainers, policy.Language, policy.Learnings.Off
		s.Capture = policy.Learnings.Capture
	}
	if err := p.readDiscussion(ctx, s, of); err != nil {
		return nil, err
	}
	return s, nil
}

// Policy returns the policy of the base. If it cannot be read, the review, which reads it again, says so.
func (s *State) Policy(ctx context.Context) (run.Policy, bool) {
	at, err := run.OpenBase(ctx, s.Repo, s.Blobs, s.Range.BaseCommit, guide.PolicyFile)
	if err != nil {
		return run.Policy{}, false
	}
	policy, err := run.ReadPolicy(ctx, s.Repo, at, s.Range)
	return policy, err == nil
}

// readDiscussion reads the comments, recognises our own threads, and sorts the rest.
// If the review is posted, failing to recognise our own threads is an error.
func (p *Pull) readDiscussion(ctx context.Context, s *State, of Purpose) error {
	r := p.Env
	switch {
	case p.State == forge.Merged:
		r.Notice(ctx, "#%d is merged already", p.Number)
	case p.State == forge.Closed:
		r.Notice(ctx, "#%d is closed", p.Number)
	case p.Draft:
		r.Notice(ctx, "#%d is a draft", p.Number)
	}
	var err error
	if s.Comments, err = p.Conn.Comments(ctx, p.Repo.Repo, p.Number); err != nil {
		if ctx.Err() != nil {
			return err
		}
		s.partial = true
		s.fail("discussion", err, "some comments are missing")
	}
	if of.Posts || p.Conn.Known {
		err := p.readThreads(ctx, s, of)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && of.Posts:
			return p.Conn.Explain(err)
		case err != nil:
			s.Earlier = earlier{}
			s.fail("threads", err, "earlier threads are not known")
		}
	}
	s.discussion = discussion(s.Comments, p.Author, func(c forge.Comment) bool {
		_, ours := p.Writer.Read(string(c.Body))
		return ours && c.Author.ID == s.Earlier.me.ID
	}, p.mayWrite(ctx))
	return ctx.Err()
}

// answers tells whose answers to comments count, for the words that invite them.
func (p *Pull) answers(ctx context.Context) comment.Answers {
	no, err := p.Conn.KnowsPermissions(ctx, p.Repo.Repo)
	if err != nil {
		no = forge.Unsupported(err.Error())
	}
	if no != "" {
		p.Env.Notice(ctx, "%s: comments ask to resolve their conversation instead of a reply", no)
	}
	return comment.Answers{Unknown: no != "", Maintainers: len(p.People.Maintainers) > 0}
}

func (p *Pull) mayWrite(ctx context.Context) func(forge.Person) bool {
	return func(who forge.Person) bool { return p.People.Permission(ctx, who).MayWrite() }
}
