package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/text"
)

// pull is a pull request as a review's subject.
type pull struct {
	forge.PullRequest
	comments   []forge.Comment
	unheard    bool // there are more comments, which could not be read
	discussion precedent.Discussion
	history    history
	failures   []precedent.Failure
	spec       git.Pull // how it was fetched
	patch      []byte   // the forge's own diff where git could not fetch; else nil
}

// errand is what a pull request is read for.
type errand struct {
	writer comment.Writer // knows our comments
	posts  bool           // the review is posted
	engine bool           // a model reads
}

// Bounds of what is shown of a pull request's words.
const (
	maxTitle  = 120      // characters, for people
	maxIntent = 32 << 10 // characters, as many as of commit messages
)

// How often the head is read, and how long is waited before the third time and
// later ones: Gitea processes a push some seconds after git has taken it.
const (
	headLooks = 4
	headLag   = 2 * time.Second
)

// errNotFetched is why nothing but the forge's diff can be read.
var errNotFetched = errors.New("git could not fetch the pull request: its files cannot be read")

// fetchPull reads the pull request, fetches its commits, reads what people said,
// and finds what earlier reviews left. A head that moves in between is read again,
// and one that the forge does not know yet is waited for.
func (a *app) fetchPull(ctx context.Context, f *station, d *desk, number int, e errand) (subject, error) {
	var s subject
	for attempt := 0; ; attempt++ {
		pr, err := f.PullRequest(ctx, d.named, number)
		if err != nil {
			return s, f.fault(err)
		}
		p := &pull{PullRequest: pr}
		s, err = a.fetchCommits(ctx, f, d, p)
		if errors.Is(err, git.ErrMoved) && attempt < headLooks-1 {
			if attempt > 0 {
				a.notice("git has another head of #%d than %s names: waiting for it", number, f.Host())
				if err := a.pause(ctx, headLag); err != nil {
					return s, err
				}
			}
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
	if err := p.listen(ctx, f, d.named); err != nil {
		return s, err
	}
	return s, a.understand(ctx, f, d, s, e)
}

// understand finds out what of the comments is ours, and what people want.
// Whoever posts has to know the first.
func (a *app) understand(ctx context.Context, f *station, d *desk, s subject, e errand) error {
	p := s.pull
	p.history.permission = a.permissions(ctx, f, d, p)
	if e.posts || f.known() {
		h, err := a.follow(ctx, f, d, s, e)
		if err != nil {
			h.close()
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && e.posts:
			return f.fault(err)
		case err != nil:
			p.failures = append(p.failures, precedent.Failure{Step: "threads", Error: err.Error() + "; what was said before is not known"})
		default:
			p.history = h
		}
		if !e.posts {
			p.history.since = nil // whoever reads what is printed wants the whole
		}
	}
	p.discuss(func(c forge.Comment) bool {
		_, ours := e.writer.Read(string(c.Body))
		return ours && c.Author.ID == p.history.me.ID
	}, p.history.permission)
	return ctx.Err()
}

// fetchCommits fetches with git, into the clone's shadow or into the mirror.
// Where git cannot, the forge's diff stands in.
func (a *app) fetchCommits(ctx context.Context, f *station, d *desk, p *pull) (subject, error) {
	s := subject{repo: d.repo, pull: p}
	spec, err := a.fetchSpec(ctx, f, d, p)
	if err != nil {
		return s, err
	}
	p.spec = spec
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
	var unshown []precedent.SkippedFile
	p.patch, unshown, err = f.Patch(ctx, d.named, p.Number)
	if err != nil {
		return s, hinted(fmt.Errorf("%w; and the forge gives no diff: %w", fetched, err), "%s", hintOf(fetched))
	}
	// The forge's diff is that of the head as it is now.
	now, err := f.PullRequest(ctx, d.named, p.Number)
	switch {
	case err != nil:
		return s, f.fault(err)
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
	s.rg = git.Range{Kind: git.PullRequest, Base: p.Base.SHA, Head: p.Head.SHA, BaseCommit: p.Base.SHA, Skipped: unshown}
	return s, nil
}

// fetchSpec says how git fetches the pull request. The token goes to the forge's
// own host alone.
func (a *app) fetchSpec(ctx context.Context, f *station, d *desk, p *pull) (git.Pull, error) {
	spec := git.Pull{Ref: p.Ref, Base: p.Base.SHA, Head: p.Head.SHA, CAFile: a.env["SSL_CERT_FILE"]}
	if f.folder != "" {
		spec.Folder = f.folder
		return spec, nil
	}
	spec.URL = p.Base.CloneURL
	proxy, err := a.proxy(spec.URL)
	if err != nil {
		return spec, err
	}
	if proxy != nil {
		spec.Proxy = proxy.String()
	}
	if !ownHost(spec.URL, f.Host()) {
		return spec, nil
	}
	spec.Token, err = f.token(ctx, d.named)
	return spec, f.fault(err)
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
	in.Threads, in.Since, in.Author = p.history.threads, p.history.since, p.Author.ID
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

// fault is trouble with the forge, with what helps.
func (f *station) fault(err error) error {
	var e *forge.Error
	if !errors.As(err, &e) {
		return err
	}
	hint := e.Hint
	if e.Kind == forge.KindRate && !e.Retry.IsZero() {
		hint = "it answers again at " + e.Retry.UTC().Format(time.RFC3339) + "; " + hint
	}
	if (e.Kind == forge.KindNotFound || e.Kind == forge.KindAuth) && f.named != "" {
		hint += " (" + f.named + " holds it)"
	}
	return hinted(err, "%s", hint)
}
