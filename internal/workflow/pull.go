package workflow

import (
	"context"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/text"
)

// Pull is a pull request as the forge knows it, with the memory of its repository.
// It serves one run: the permission of each person is requested once.
type Pull struct {
	forge.PullRequest // read once; again only if its head moves while it is fetched

	reviewer   *Reviewer
	connection Connection
	workspace  *Workspace
	repo       *PullRepository
	writer     comment.Writer // knows our comments
	people     permissions
	// What conversations used before the review.
	talkedTokens int
	talkedUSD    float64
}

// ReadPull reads the pull request, and opens the memory of its repository, which
// stays the caller's.
func (r *Reviewer) ReadPull(ctx context.Context, c Connection, repo *PullRepository, number int) (*Pull, error) {
	w, err := r.openForReview(ctx, repo.Repository)
	if err != nil {
		return nil, err
	}
	p := &Pull{reviewer: r, connection: c, workspace: w, repo: repo, writer: comment.Writer{
		PullRequest: comment.PullRequest{Repo: repo.Repo, Number: number}, Links: []string{c.Host()}, Own: c.Secrets, Version: r.Version, Key: c.Key, FixedLines: c.Pages().FixedLines,
	}}
	p.people = permissions{known: map[precedent.ForgeID]forge.Permission{}, ask: func(ctx context.Context, who forge.Person) (forge.Permission, error) {
		return c.Permission(ctx, repo.Repo, who)
	}}
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
	m := p.workspace.Memory
	if now := p.Base.Repo; !sameRepo(now, p.repo.Repo) {
		p.reviewer.notice(ctx, "%s is called %s now", p.repo.Repo, now)
		p.repo.IDs, p.repo.Repo = append([]precedent.Repo{now}, p.repo.IDs...), now
		m.Repo, m.Aliases = now, p.repo.IDs[1:]
	}
	p.writer.PullRequest.Repo, p.writer.PullRequest.RepoID = p.repo.Repo, p.Base.RepoID
	if p.Base.RepoID == "" {
		return nil
	}
	err := m.DB.Follow(ctx, precedent.NumberedRepo(p.repo.Repo.Host, p.Base.RepoID), p.repo.IDs...)
	if err != nil && ctx.Err() == nil { // the review goes on without what it had under another name
		p.workspace.failures = append(p.workspace.failures, precedent.Failure{Step: "memory", Error: err.Error()})
		return nil
	}
	return err
}

// Close closes the memory.
func (p *Pull) Close() { p.workspace.Memory.DB.Close() }

func (p *Pull) read(ctx context.Context) error {
	pr, err := p.connection.PullRequest(ctx, p.repo.Repo, p.Number)
	if err != nil {
		return p.connection.Explain(err)
	}
	p.PullRequest = pr
	return nil
}

// Prepare fetches everything that a review needs which is not posted. It reads the
// whole pull request, whatever an earlier review has read.
func (p *Pull) Prepare(ctx context.Context, job Job) (*PreparedPull, error) {
	s, err := p.state(ctx, purpose{engine: job.Engine.enabled()})
	if err != nil {
		return nil, err
	}
	s.earlier.since = nil
	return p.prepare(ctx, s, job)
}

// PreparedPull is a pull request with everything that its review needs.
type PreparedPull struct {
	*Prepared
	state *pullState
}

func (p *Pull) prepare(ctx context.Context, s *pullState, job Job) (*PreparedPull, error) {
	change, err := s.change(ctx)
	if err != nil {
		return nil, err
	}
	shown, err := s.forgeChange(ctx)
	if err != nil {
		return nil, err
	}
	x := p.reviewer.newPrepared(p.workspace.IDs[0], s.subject, change, job)
	x.number, x.visibility, x.before = &p.Number, p.Base.Visibility, p.MergedAt
	x.posted = p.postedSpending(job.Settings)
	x.Input.ForgeChange = shown
	p.fillInput(&x.Input, s)
	if err = x.readBase(ctx, s.hasBase(ctx)); err == nil {
		err = x.complete(ctx, p.workspace, job)
	}
	if err != nil {
		x.Close()
		return nil, err
	}
	p.leave(x.Budget)
	s.earlier.recheckRules(x.Input.Guide.Rules)
	return &PreparedPull{Prepared: x, state: s}, nil
}

// Bounds of what is shown of a pull request's words.
const (
	maxTitle  = 120      // characters, for people
	maxIntent = 32 << 10 // characters, as many as of commit messages
)

// fillInput puts into the input what only a pull request has.
func (p *Pull) fillInput(in *review.Input, s *pullState) {
	in.Target = precedent.Target{
		Kind: string(s.rg.Kind),
		Head: fmt.Sprintf("#%d %s", p.Number, text.Cut(text.Collapse(text.VisibleLine(string(p.Title))), maxTitle)),
		Base: p.Base.Name,
	}
	in.Intent = precedent.Untrusted(text.Cut(string(p.Title)+"\n\n"+string(p.Body), maxIntent))
	in.Discussion = s.discussion
	in.Threads, in.Since, in.Author = s.earlier.threads, s.earlier.since, p.Author.ID
	in.Failures = slices.Concat(s.failures, p.people.failures())
	if s.patched {
		in.Incomplete = true
		in.Read = func(precedent.Side, string) ([]byte, error) { return nil, errNotFetched }
		in.Tree = func(context.Context) (string, error) { return "", errNotFetched }
	}
}

// purpose is what a pull request is looked at for.
type purpose struct {
	posts  bool // the review is posted
	engine bool // a model reads
	past   bool // a merged one is replayed: what was said on it does not count
}

// pullState is a pull request as it is now: its commits, what people said, and what
// earlier reviews left.
type pullState struct {
	fetched
	comments   []forge.Comment
	partial    bool // there are more comments, which could not be read
	discussion precedent.Discussion
	earlier    earlier
	failures   []precedent.Failure
	// language and learningsOff are those of the policy.
	language     string
	learningsOff bool
}

func (s *pullState) fail(step string, err error, consequence string) {
	s.failures = append(s.failures, precedent.Failure{Step: step, Error: err.Error() + "; " + consequence})
}

// state fetches the commits, reads what people said, and finds what earlier reviews
// left. It is to be closed.
func (p *Pull) state(ctx context.Context, of purpose) (*pullState, error) {
	f, err := p.fetch(ctx)
	if err != nil {
		return nil, err
	}
	s := &pullState{fetched: f}
	if f.fetchError != nil {
		s.fail("fetch", f.fetchError, "the forge's diff was reviewed, without the files")
	}
	if policy, ok := s.policy(ctx); ok {
		p.people.maintainers, s.language, s.learningsOff = policy.Maintainers, policy.Language, policy.Learnings.Off
	}
	if err := p.readDiscussion(ctx, s, of); err != nil {
		return nil, err
	}
	return s, nil
}

// policy returns the policy of the base. If it cannot be read, the review, which reads it
// again, says so.
func (s *pullState) policy(ctx context.Context) (Policy, bool) {
	at, err := openBase(ctx, s.repo, s.blobs, s.rg.BaseCommit, guide.PolicyFile)
	if err != nil {
		return Policy{}, false
	}
	policy, err := readPolicy(ctx, s.repo, at, s.rg)
	return policy, err == nil
}

// readDiscussion reads the comments, recognises our own threads, and sorts the rest.
// If the review is posted, failing to recognise our own threads is an error.
func (p *Pull) readDiscussion(ctx context.Context, s *pullState, of purpose) error {
	r := p.reviewer
	switch {
	case of.past:
	case p.State == forge.Merged:
		r.notice(ctx, "#%d is merged already", p.Number)
	case p.State == forge.Closed:
		r.notice(ctx, "#%d is closed", p.Number)
	case p.Draft:
		r.notice(ctx, "#%d is a draft", p.Number)
	}
	var err error
	if s.comments, err = p.connection.Comments(ctx, p.repo.Repo, p.Number); err != nil {
		if ctx.Err() != nil {
			return err
		}
		s.partial = true
		s.fail("discussion", err, "some comments are missing")
	}
	if of.past {
		return ctx.Err()
	}
	if of.posts || p.connection.Known {
		err := p.readThreads(ctx, s, of)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && of.posts:
			return p.connection.Explain(err)
		case err != nil:
			s.earlier = earlier{}
			s.fail("threads", err, "earlier threads are not known")
		}
	}
	s.discussion = discussion(s.comments, p.Author, func(c forge.Comment) bool {
		_, ours := p.writer.Read(string(c.Body))
		return ours && c.Author.ID == s.earlier.me.ID
	}, p.mayWrite(ctx))
	return ctx.Err()
}

// answers tells whose answers to comments count, for the words that invite them.
func (p *Pull) answers(ctx context.Context) comment.Answers {
	no, err := p.connection.KnowsPermissions(ctx, p.repo.Repo)
	if err != nil {
		no = forge.Unsupported(err.Error())
	}
	if no != "" {
		p.reviewer.notice(ctx, "%s: comments ask to resolve their conversation instead of a reply", no)
	}
	return comment.Answers{Unknown: no != "", Maintainers: len(p.people.maintainers) > 0}
}

// mayWrite tells whether a person has write permission.
func (p *Pull) mayWrite(ctx context.Context) func(forge.Person) bool {
	return func(who forge.Person) bool { return p.people.permission(ctx, who).MayWrite() }
}
