package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/text"
)

// MaxLookupPulls limits the open pull requests whose comments are searched for ids.
const MaxLookupPulls = 20

// maxClaim bounds a finding's title in a comment, in characters.
const maxClaim = 200

// lookup searches the comments of pull requests for findings.
type lookup struct {
	reviewer   *Env
	workspace  *Workspace
	connection Connection
	pull       int             // 0 for the open ones
	wanted     map[string]bool // full ids
	found      map[string]precedent.Dismissal
	searched   int // pull requests
	me         forge.Person
	people     Permissions
}

// run searches until everything is found. It returns why it could not search, or not all.
func (l *lookup) run(ctx context.Context, connect func() (Connection, error)) error {
	repo := l.workspace.IDs[0]
	if l.workspace.unborn || repo.IsLocal() {
		if l.pull != 0 {
			return Hinted(errors.New("the repository has no remote on a forge"), "set it: --repo host/owner/name")
		}
		return errNoForge
	}
	var err error
	if l.connection, err = connect(); err != nil {
		return err
	}
	if repo.Host != l.connection.Host() {
		return Hinted(fmt.Errorf("%s is not on %s", repo, l.connection.Host()),
			"to search the comments of its pull requests, set its forge with --forge")
	}
	if !l.connection.Known {
		return Hinted(errors.New("without a token the comments of its pull requests are not searched"), "set %s",
			l.connection.TokenName)
	}
	l.people = Permissions{
		Known: map[precedent.ForgeID]forge.Permission{},
		Ask: func(ctx context.Context, who forge.Person) (forge.Permission, error) {
			return l.connection.Permission(ctx, repo, who)
		},
	}
	pulls, err := l.pulls(ctx, repo)
	if err != nil {
		return l.connection.Explain(err)
	}
	if l.me, err = l.connection.Me(ctx); err != nil && ctx.Err() != nil {
		return err // a token of a workflow has no account; then others vouch for comments
	}
	for _, p := range pulls {
		if err := l.search(ctx, p); err != nil {
			return l.connection.Explain(err)
		}
		if len(l.found) == len(l.wanted) {
			break
		}
	}
	return nil
}

var errNoForge = errors.New("no forge")

func (l *lookup) pulls(ctx context.Context, repo precedent.Repo) ([]forge.PullRequest, error) {
	if l.pull != 0 {
		p, err := l.connection.PullRequest(ctx, repo, l.pull)
		return []forge.PullRequest{p}, err
	}
	open, err := l.connection.Open(ctx, repo)
	if err != nil && forge.KindOf(err) != forge.KindTooLarge {
		return nil, err
	}
	return open[:min(len(open), MaxLookupPulls)], nil
}

// search reads the comments of a pull request, whose repository may have been renamed.
func (l *lookup) search(ctx context.Context, p forge.PullRequest) error {
	if repo := p.Base.Repo; !slices.Contains(l.workspace.IDs, repo) {
		l.workspace.IDs = append(l.workspace.IDs, repo)
	}
	comments, err := l.connection.Comments(ctx, p.Base.Repo, p.Number)
	if err != nil && forge.KindOf(err) != forge.KindTooLarge {
		return err
	}
	l.searched++
	reader := comment.Writer{
		PullRequest: comment.PullRequest{Repo: p.Base.Repo, RepoID: p.Base.RepoID, Number: p.Number},
		Key:         l.connection.Key,
	}
	for _, c := range comments { // the oldest first: a copy of a comment comes later
		if c.Kind != forge.OnLine {
			continue
		}
		m, ok := reader.Read(string(c.Body))
		if _, have := l.found[m.Finding]; !ok || have || m.Kind != comment.Finding || !l.wanted[m.Finding] ||
			!l.valid(ctx, m, c.Author) {
			continue
		}
		l.found[m.Finding] = precedent.Dismissal{
			Finding: m.Finding, Fingerprint: m.Fingerprint, Claim: text.Cut(text.Collapse(text.Clean(m.Title)), maxClaim),
			Path: c.Span.Path, Category: m.Category, Severity: m.Severity, Source: c.URL,
		}
	}
	return nil
}

// valid tells whether a marker may be believed. Its id is made of its fingerprint, so the
// author of a comment cannot have another finding dismissed. What the person is shown of the
// finding is believed if it is signed, or if the account is a bot or may write.
func (l *lookup) valid(ctx context.Context, m comment.Marker, author forge.Person) bool {
	bound := slices.ContainsFunc(l.workspace.IDs,
		func(id precedent.Repo) bool { return precedent.FindingID(id, m.Fingerprint) == m.Finding })
	switch {
	case m.Fingerprint == "" || author.ID == "":
		return false
	case !l.connection.Key.IsZero():
		return true // Read has checked the signature
	}
	return bound && (author.ID == l.me.ID || author.Bot || l.people.Permission(ctx, author).MayWrite())
}

// notFound is the error of an id that is in no comment, either.
func (l *lookup) notFound(unknown, failure error) error {
	switch {
	case errors.Is(failure, errNoForge):
		return unknown
	case failure != nil:
		return Hinted(fmt.Errorf("%w, and its comment could not be looked up: %w", unknown, failure), "%s", HintOf(failure))
	case l.pull != 0:
		return Hinted(fmt.Errorf("%w, and #%d has no comment with it", unknown, l.pull),
			"precedent review prints the id of each finding")
	}
	pulls := "open pull request"
	if l.searched != 1 {
		pulls = fmt.Sprintf("%d open pull requests", l.searched)
	}
	return Hinted(fmt.Errorf("%w, and it is in no comment on the %s that changed last", unknown, pulls),
		"name the pull request with --pr NUMBER")
}
