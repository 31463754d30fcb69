package local

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

func TestConformance(t *testing.T) {
	forgetest.Run(t, func(t *testing.T, s *forgetest.Stage) forge.Forge { return newStaged(t, s) })
}

// staged is a folder that follows a stage's world: what is changed there is
// written into it before each request, and what a request said comes back.
type staged struct {
	*Forge
	t       *testing.T
	stage   *forgetest.Stage
	mu      sync.Mutex
	written map[string][]byte
}

var shop = precedent.Repo{Host: DefaultHost, Owner: "acme", Name: "shop"}

func newStaged(t *testing.T, s *forgetest.Stage) *staged {
	t.Helper()
	s.Numberless = true
	b := &staged{t: t, stage: s, written: map[string][]byte{}}
	b.Forge = &Forge{dir: t.TempDir(), host: DefaultHost, now: s.Clock.Now}
	b.pour()
	f, err := New(Options{Dir: b.dir, Now: s.Clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	b.Forge = f
	return b
}

// put writes a file that is not what it was.
func (b *staged) put(name string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		b.t.Error(err)
	}
	if bytes.Equal(b.written[name], data) {
		return
	}
	b.written[name] = data
	path := filepath.Join(b.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
		b.t.Error(err)
	}
}

// pour writes the world into the folder.
func (b *staged) pour() {
	b.stage.World.Change(func() {
		w := b.stage.World.Repo(shop.Owner, shop.Name)
		r := repository{Owner: w.Owner, Name: w.Name, Me: fileAccount(b.stage.World.Me), Archived: w.Archived}
		for _, m := range w.Members {
			r.Members = append(r.Members, member{fileAccount(m.Person), m.Permission})
		}
		b.put("repo.json", r)
		for name := range b.written {
			var n int
			if _, err := fmt.Sscanf(name, "pulls/%d.json", &n); err == nil && w.Pulls[n] == nil {
				delete(b.written, name)
				if err := os.Remove(filepath.Join(b.dir, filepath.FromSlash(name))); err != nil {
					b.t.Error(err)
				}
			}
		}
		for n, p := range w.Pulls {
			diff := p.Diff
			if p.Huge {
				diff = strings.Repeat("x", maxPatch+1)
			}
			name := "pulls/" + strconv.Itoa(n)
			updated, merged := p.Updated, &p.MergedAt
			if p.MergedAt.IsZero() {
				merged = nil
			}
			b.put(name+".json", pull{
				Number: n, Title: string(p.Title), Body: string(p.Body), Author: fileAccount(p.Author), State: p.State, Draft: p.Draft,
				Locked: p.Locked, Base: ending(p.Base), Head: ending(p.Head), Labels: p.Labels, Updated: &updated, Files: p.Files, Diff: &diff,
				MergedAt: merged, MergeCommit: p.MergeCommit,
			})
			b.put(name+"/talk.json", b.said(p))
		}
	})
}

func ending(b forge.Branch) pullEnd {
	if b.Repo.IsZero() {
		return pullEnd{Branch: b.Name, SHA: b.SHA, Deleted: true}
	}
	return pullEnd{Branch: b.Name, SHA: b.SHA, Repo: b.Repo.Owner + "/" + b.Repo.Name}
}

// said is what was said in the world, as the folder keeps it.
func (b *staged) said(p *forgetest.Pull) discussion {
	said := discussion{Last: 5_000_000} // far above the world's own numbers
	for _, c := range p.Comments {
		edited := c.Edited
		event, taken := forge.ReviewEvent(""), ""
		switch p.Reviews[c.ID].State {
		case forgetest.ChangesRequested:
			event = forge.RequestChanges
		case forgetest.Dismissed:
			event, taken = forge.RequestChanges, "dismissed"
		}
		if c.Kind != forge.OnReview {
			event, taken = "", ""
		}
		said.Comments = append(said.Comments, comment{
			Event: event, Taken: taken,
			ID: c.ID.Number(), Kind: c.Kind, Author: fileAccount(c.Author), Body: string(c.Body), At: c.At, Edited: &edited, Review: c.Review.Number(), ReplyTo: c.ReplyTo.Number(),
			Path: c.Span.Path, Side: c.Span.Side, Start: c.Span.Start, End: c.Span.End, Commit: c.Commit, Outdated: c.Outdated,
		})
		said.Last = max(said.Last, c.ID.Number())
	}
	for root, who := range p.Closed {
		if said.Closed == nil {
			said.Closed = map[int64]person{}
		}
		said.Closed[root.Number()] = fileAccount(who)
	}
	for to, all := range p.Reactions {
		for _, r := range all {
			said.Reactions = append(said.Reactions, reaction{Kind: to.Kind, ID: to.ID.Number(), Who: fileAccount(r.Who), Content: r.Content, At: r.At})
		}
	}
	return said
}

// back lets the world know what was said in the folder.
func (b *staged) back(number int) {
	s, err := b.readPull(repository{}, number)
	var t discussion
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err := b.read("pulls/"+strconv.Itoa(number)+"/talk.json", &t); err != nil {
		return
	}
	b.stage.World.Change(func() {
		p := b.stage.World.Repo(shop.Owner, shop.Name).Pulls[number]
		if p == nil {
			return
		}
		known := map[forge.CommentRef]forge.Comment{}
		for _, c := range p.Comments {
			known[forge.CommentRef{Kind: c.Kind, ID: c.ID}] = c
		}
		p.Labels = s.Labels
		p.Comments, p.Closed = nil, map[precedent.ForgeID]forge.Person{}
		for _, c := range t.Comments {
			out := b.comment(&s, c)
			out.URL = known[c.ref()].URL
			p.Comments = append(p.Comments, out)
			if _, old := known[c.ref()]; c.Kind == forge.OnReview && (!old || c.Taken != "") {
				if p.Reviews == nil {
					p.Reviews = map[precedent.ForgeID]forgetest.Review{}
				}
				state := map[forge.ReviewEvent]forgetest.ReviewState{forge.Remarks: forgetest.Commented, forge.RequestChanges: forgetest.ChangesRequested}[c.Event]
				if c.Taken != "" {
					state = forgetest.Dismissed
				}
				p.Reviews[c.ref().ID] = forgetest.Review{ID: c.ref().ID, Author: c.Author.person(), State: state, Body: c.Body, Commit: c.Commit}
			}
		}
		for root, who := range t.Closed {
			p.Closed[precedent.NumberID(root)] = who.person()
		}
	})
}

// backChecks lets the world know the checks.
func (b *staged) backChecks() {
	var all checks
	if err := b.read("checks.json", &all); err != nil {
		return
	}
	b.stage.World.Change(func() {
		r := b.stage.World.Repo(shop.Owner, shop.Name)
		r.Checks = nil
		for i, c := range all.Checks {
			r.Checks = append(r.Checks, forgetest.Check{
				ID: int64(i + 1), Commit: c.Commit, Name: c.Name, External: c.Review, Status: "completed", Conclusion: string(c.Result),
				Title: c.Title, Summary: c.Body, URL: c.URL, By: c.By.person(), Started: c.At, Completed: c.At,
			})
		}
	})
}

// on lets one request see the world, and the world see what it said.
func on[T any](b *staged, number int, ask func() (T, error)) (T, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pour()
	v, err := ask()
	if number > 0 {
		b.back(number)
	}
	return v, err
}

func (b *staged) Me(ctx context.Context) (forge.Person, error) {
	return on(b, 0, func() (forge.Person, error) { return b.Forge.Me(ctx) })
}

func (b *staged) PullRequest(ctx context.Context, r precedent.Repo, n int) (forge.PullRequest, error) {
	return on(b, 0, func() (forge.PullRequest, error) { return b.Forge.PullRequest(ctx, r, n) })
}

func (b *staged) Open(ctx context.Context, r precedent.Repo) ([]forge.PullRequest, error) {
	return on(b, 0, func() ([]forge.PullRequest, error) { return b.Forge.Open(ctx, r) })
}

func (b *staged) Merged(ctx context.Context, r precedent.Repo, since time.Time, limit int) ([]forge.PullRequest, error) {
	return on(b, 0, func() ([]forge.PullRequest, error) { return b.Forge.Merged(ctx, r, since, limit) })
}

func (b *staged) ReadComment(ctx context.Context, repo precedent.Repo, number int, m forge.CommentRef) (forge.Comment, error) {
	return on(b, 0, func() (forge.Comment, error) { return b.Forge.ReadComment(ctx, repo, number, m) })
}

func (b *staged) Comments(ctx context.Context, r precedent.Repo, n int) ([]forge.Comment, error) {
	return on(b, 0, func() ([]forge.Comment, error) { return b.Forge.Comments(ctx, r, n) })
}

func (b *staged) CommentsSince(ctx context.Context, r precedent.Repo, since time.Time) ([]forge.NumberedComment, error) {
	return on(b, 0, func() ([]forge.NumberedComment, error) { return b.Forge.CommentsSince(ctx, r, since) })
}

func (b *staged) History(ctx context.Context, r precedent.Repo, q forge.HistoryQuery) (forge.HistoryPage, error) {
	return on(b, 0, func() (forge.HistoryPage, error) { return b.Forge.History(ctx, r, q) })
}

func (b *staged) Threads(ctx context.Context, r precedent.Repo, n int) ([]forge.Thread, error) {
	return on(b, 0, func() ([]forge.Thread, error) { return b.Forge.Threads(ctx, r, n) })
}

func (b *staged) Reactions(ctx context.Context, r precedent.Repo, n int, to forge.CommentRef) ([]forge.Reaction, error) {
	return on(b, 0, func() ([]forge.Reaction, error) { return b.Forge.Reactions(ctx, r, n, to) })
}

func (b *staged) Permission(ctx context.Context, r precedent.Repo, p forge.Person) (forge.Permission, error) {
	return on(b, 0, func() (forge.Permission, error) { return b.Forge.Permission(ctx, r, p) })
}

func (b *staged) Patch(ctx context.Context, r precedent.Repo, n int) (patch []byte, no []precedent.SkippedFile, err error) {
	return on3(b, func() ([]byte, []precedent.SkippedFile, error) { return b.Forge.Patch(ctx, r, n) })
}

func on3[T, U any](b *staged, ask func() (T, U, error)) (v T, u U, err error) {
	v, err = on(b, 0, func() (T, error) {
		var err error
		v, u, err = ask()
		return v, err
	})
	return v, u, err
}

func (b *staged) Post(ctx context.Context, r precedent.Repo, n int, d forge.Draft) (forge.Posted, error) {
	return on(b, n, func() (forge.Posted, error) { return b.Forge.Post(ctx, r, n, d) })
}

func (b *staged) Comment(ctx context.Context, r precedent.Repo, n int, body string) (forge.Comment, error) {
	return on(b, n, func() (forge.Comment, error) { return b.Forge.Comment(ctx, r, n, body) })
}

func (b *staged) Reply(ctx context.Context, r precedent.Repo, n int, to precedent.ForgeID, body string) (forge.Comment, error) {
	return on(b, n, func() (forge.Comment, error) { return b.Forge.Reply(ctx, r, n, to, body) })
}

func (b *staged) Edit(ctx context.Context, r precedent.Repo, n int, c forge.CommentRef, body string) error {
	_, err := on(b, n, func() (int, error) { return 0, b.Forge.Edit(ctx, r, n, c, body) })
	return err
}

func (b *staged) Delete(ctx context.Context, r precedent.Repo, n int, c forge.CommentRef) (forge.Unsupported, error) {
	return on(b, n, func() (forge.Unsupported, error) { return b.Forge.Delete(ctx, r, n, c) })
}

func (b *staged) Resolve(ctx context.Context, r precedent.Repo, n int, th forge.Thread, closed bool) (forge.Unsupported, error) {
	return on(b, n, func() (forge.Unsupported, error) { return b.Forge.Resolve(ctx, r, n, th, closed) })
}

func (b *staged) Dismiss(ctx context.Context, r precedent.Repo, n int, id precedent.ForgeID, why string) (forge.Unsupported, error) {
	return on(b, n, func() (forge.Unsupported, error) { return b.Forge.Dismiss(ctx, r, n, id, why) })
}

func (b *staged) MakeLabels(ctx context.Context, r precedent.Repo, labels []string) (forge.Unsupported, error) {
	return on(b, 0, func() (forge.Unsupported, error) { return b.Forge.MakeLabels(ctx, r, labels) })
}

func (b *staged) AddLabel(ctx context.Context, r precedent.Repo, n int, label string) (forge.Unsupported, error) {
	return on(b, n, func() (forge.Unsupported, error) { return b.Forge.AddLabel(ctx, r, n, label) })
}

func (b *staged) RemoveLabel(ctx context.Context, r precedent.Repo, n int, label string) (forge.Unsupported, error) {
	return on(b, n, func() (forge.Unsupported, error) { return b.Forge.RemoveLabel(ctx, r, n, label) })
}

func (b *staged) Check(ctx context.Context, r precedent.Repo, c forge.Check) (forge.Unsupported, error) {
	return on(b, 0, func() (forge.Unsupported, error) {
		no, err := b.Forge.Check(ctx, r, c)
		b.backChecks()
		return no, err
	})
}

func (b *staged) Checks(ctx context.Context, r precedent.Repo, commit string) ([]forge.CommitCheck, error) {
	return on(b, 0, func() ([]forge.CommitCheck, error) {
		var all checks
		b.stage.World.Change(func() {
			w := b.stage.World.Repo(shop.Owner, shop.Name)
			for _, k := range w.Statuses {
				result := forge.CheckResult(k.State)
				if result == "error" {
					result = forge.Failure
				}
				all.Checks = append(all.Checks, check{Name: k.Context, Commit: k.Commit, Result: result, Title: k.Context, URL: k.URL, By: fileAccount(k.By), At: k.At})
			}
			for _, k := range w.Checks {
				all.Checks = append(all.Checks, check{
					Name: k.Name, Commit: k.Commit, Review: k.External, Result: cmp.Or(forge.CheckResult(k.Conclusion), "pending"), Title: k.Title,
					Body: k.Summary, URL: k.URL, By: fileAccount(k.By), At: k.Started,
				})
			}
		})
		b.put("checks.json", all)
		return b.Forge.Checks(ctx, r, commit)
	})
}

func (b *staged) Repositories(ctx context.Context, owner string) ([]precedent.Repo, error) {
	return on(b, 0, func() ([]precedent.Repo, error) { return b.Forge.Repositories(ctx, owner) })
}

func (b *staged) Pushable(ctx context.Context, r precedent.Repo, branch string) (forge.Unsupported, error) {
	return on(b, 0, func() (forge.Unsupported, error) { return b.Forge.Pushable(ctx, r, branch) })
}
