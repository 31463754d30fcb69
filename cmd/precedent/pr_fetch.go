package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/text"
)

// pull is a pull request as a review's subject.
type pull struct {
	forge.PullRequest
	discussion precedent.Discussion
	failures   []precedent.Failure
	patch      []byte // the forge's own diff where git could not fetch; else nil
}

// Bounds of what is shown of a pull request's words.
const (
	maxTitle  = 120      // characters, for people
	maxIntent = 32 << 10 // characters, as many as of commit messages
)

// errNotFetched is why nothing but the forge's diff can be read.
var errNotFetched = errors.New("git could not fetch the pull request: its files cannot be read")

// fetchPull reads the pull request, fetches its commits, and reads what people
// said. A head that moves in between is read once more.
func (a *app) fetchPull(ctx context.Context, f forge.Forge, token string, d *desk, number int) (subject, error) {
	var s subject
	for attempt := 0; ; attempt++ {
		pr, err := f.PullRequest(ctx, d.named, number)
		if err != nil {
			return s, forgeFault(err)
		}
		p := &pull{PullRequest: pr}
		s, err = a.fetchCommits(ctx, f, token, d, p)
		if errors.Is(err, git.ErrMoved) && attempt == 0 {
			continue
		}
		if err != nil {
			return s, err
		}
		break
	}
	p := s.pull
	switch {
	case p.State == forge.Merged:
		a.notice("#%d is merged already", number)
	case p.State == forge.Closed:
		a.notice("#%d is closed", number)
	case p.Draft:
		a.notice("#%d is a draft", number)
	}
	var failures []precedent.Failure
	p.discussion, failures = discuss(ctx, f, d.named, p.PullRequest)
	p.failures = append(p.failures, failures...)
	return s, ctx.Err()
}

// fetchCommits fetches with git, into the clone's shadow or into the mirror.
// Where git cannot, the forge's diff stands in.
func (a *app) fetchCommits(ctx context.Context, f forge.Forge, token string, d *desk, p *pull) (subject, error) {
	s := subject{repo: d.repo, pull: p}
	spec := git.Pull{URL: p.Base.CloneURL, Token: token, Ref: p.Ref, Base: p.Base.SHA, Head: p.Head.SHA, CAFile: a.env["SSL_CERT_FILE"]}
	if !ownHost(spec.URL, f.Host()) {
		spec.Token = ""
	}
	var err error
	if d.clone != nil {
		s.rg, err = d.clone.FetchPull(ctx, spec)
	} else {
		if d.mirror == nil {
			err = d.openMirror(ctx, a)
		}
		if err == nil {
			s.repo = d.mirror.Repo
			a.notice("fetching %s#%d", d.named, p.Number)
			s.rg, err = d.mirror.FetchPull(ctx, spec)
		}
	}
	if err == nil || errors.Is(err, git.ErrMoved) || ctx.Err() != nil {
		return s, err
	}
	fetched := err
	p.patch, err = f.Patch(ctx, d.named, p.Number)
	if err != nil {
		return s, hinted(fmt.Errorf("%w; and the forge gives no diff: %w", fetched, err), "%s", hintOf(fetched))
	}
	// The forge's diff is that of the head as it is now.
	now, err := f.PullRequest(ctx, d.named, p.Number)
	switch {
	case err != nil:
		return s, forgeFault(err)
	case now.Head.SHA != p.Head.SHA:
		return s, hinted(fmt.Errorf("pull request #%d: %w", p.Number, git.ErrMoved), "somebody is pushing to it: try again")
	}
	if p.patch == nil {
		p.patch = []byte{} // empty, which is not the same as none
	}
	p.failures = append(p.failures, precedent.Failure{
		Step: "fetch", Error: fetched.Error() + "; the diff is the forge's own, and no file could be read beside it",
	})
	a.notice("%v; the forge's own diff is reviewed, and no file is read beside it", fetched)
	s.rg = git.Range{Kind: git.PullRequest, Base: p.Base.SHA, Head: p.Head.SHA, BaseCommit: p.Base.SHA}
	return s, nil
}

// ownHost tells whether an address is on the forge's own host, to which alone
// the token goes.
func ownHost(address, host string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host == host
}

// fill puts into the input what only a pull request has.
func (p *pull) fill(in *review.Input) {
	in.Target = precedent.Target{
		Head: fmt.Sprintf("#%d %s", p.Number, text.Cut(text.Collapse(text.VisibleLine(string(p.Title))), maxTitle)),
		Base: p.Base.Name,
	}
	in.Intent = precedent.Untrusted(text.Cut(string(p.Title)+"\n\n"+string(p.Body), maxIntent))
	in.Discussion = p.discussion
	in.Failures = append(in.Failures, p.failures...)
	if p.patch != nil {
		in.Read = func(precedent.Side, string) ([]byte, error) { return nil, errNotFetched }
		in.Tree = func(context.Context) (string, error) { return "", errNotFetched }
	}
}

// change reads the forge's diff.
func (p *pull) change() (*diff.Change, error) {
	change, err := diff.ParsePatch(bytes.NewReader(p.patch), diff.DefaultLimits)
	if err != nil {
		return nil, &fault{err: fmt.Errorf("read the forge's diff: %w", err), status: precedent.ExitIncomplete}
	}
	return change, nil
}

// lacksBase tells whether the base commit is not there to be read from.
func (p *pull) lacksBase(ctx context.Context, s subject) bool {
	if p == nil || p.patch == nil {
		return false
	}
	_, err := s.repo.Tree(ctx, s.rg.BaseCommit, ".precedent.yaml")
	return err != nil
}

// forgeFault is trouble with the forge, with what helps.
func forgeFault(err error) error {
	var e *forge.Error
	if !errors.As(err, &e) {
		return err
	}
	hint := e.Hint
	if e.Kind == forge.KindRate && !e.Retry.IsZero() {
		hint = "it answers again at " + e.Retry.UTC().Format(time.RFC3339) + "; " + hint
	}
	if e.Kind == forge.KindNotFound || e.Kind == forge.KindAuth {
		hint += " (GITHUB_TOKEN or GH_TOKEN holds it)"
	}
	return hinted(err, "%s", hint)
}
