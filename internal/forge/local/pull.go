package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// pull is pulls/N.json.
type pull struct {
	Number int         `json:"number,omitempty"` // must match the file name, if present
	Title  string      `json:"title"`
	Body   string      `json:"body,omitempty"`
	Author person      `json:"author"`
	State  forge.State `json:"state,omitempty"` // open if absent
	Draft  bool        `json:"draft,omitempty"`
	Locked bool        `json:"locked,omitempty"`
	Base   pullEnd     `json:"base"`
	Head   pullEnd     `json:"head"`
	Labels []string    `json:"labels,omitempty"`
	// Requested are asked for a review.
	Requested []person   `json:"requested,omitempty"`
	Updated   *time.Time `json:"updated,omitempty"`
	Files     int        `json:"files,omitempty"`
	Diff      *string    `json:"diff,omitempty"`
	// MergedAt and MergeCommit say when it was merged, and as which commit.
	MergedAt    *time.Time `json:"merged_at,omitempty"`
	MergeCommit string     `json:"merge_commit,omitempty"`
}

// pullEnd is the base or the head of a pull request.
type pullEnd struct {
	Branch  string `json:"branch,omitempty"`
	Ref     string `json:"ref,omitempty"`     // refs/heads/BRANCH if absent
	SHA     string `json:"sha,omitempty"`     // the ref's commit if absent
	Repo    string `json:"repo,omitempty"`    // owner/name, if it is a fork
	Deleted bool   `json:"deleted,omitempty"` // the fork was deleted
}

var (
	objectID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`) })
	refName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^refs/[^\s~^:?*\[\\\x00-\x1f]+$`) })
)

// maxPulls bounds the pull requests that are listed.
const maxPulls = 10_000

// pullRequest is a pull request and its repository.
type pullRequest struct {
	repository
	pull
	name   string // of its file
	folder string // of its comments
}

// loadPull reads the file of a pull request. Invalid ids of comments are refused.
func (f *Forge) loadPull(ctx context.Context, repo precedent.Repo, number int, comments ...precedent.ForgeID) (pullRequest, error) {
	r, err := f.readRepo(ctx, repo)
	if err = cmp.Or(err, forge.CheckNumbers(comments...)); err != nil {
		return pullRequest{}, err
	}
	return f.readPull(r, number)
}

func (f *Forge) readPull(r repository, number int) (pullRequest, error) {
	n := strconv.Itoa(number)
	s := pullRequest{repository: r, name: "pulls/" + n + ".json", folder: "pulls/" + n}
	if number <= 0 {
		return s, &forge.Error{Kind: forge.KindNotFound, Msg: "pull request numbers start at 1"}
	}
	err := f.read(s.name, &s.pull)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return s, &forge.Error{Kind: forge.KindNotFound, Msg: s.name + " does not exist"}
	case err != nil:
		return s, err
	}
	if s.State == "" {
		s.State = forge.Open
	}
	switch {
	case s.Number != 0 && s.Number != number:
		return s, invalidFile("%s: the number in it is %d", s.name, s.Number)
	case !slices.Contains([]forge.State{forge.Open, forge.Closed, forge.Merged}, s.State):
		return s, invalidFile("%s: state must be open, closed or merged", s.name)
	case s.MergeCommit != "" && !objectID().MatchString(s.MergeCommit):
		return s, invalidFile("%s: merge_commit must have 40 or 64 hexadecimal digits", s.name)
	case s.Files < 0 || s.Author.ID < 0:
		return s, invalidFile("%s: a number is negative", s.name)
	}
	s.Number = number
	for _, e := range []*pullEnd{&s.Base, &s.Head} {
		if e.Ref == "" && e.Branch != "" {
			e.Ref = "refs/heads/" + e.Branch
		}
		owner, name, two := strings.Cut(e.Repo, "/")
		switch {
		case e.SHA != "" && !objectID().MatchString(e.SHA):
			return s, invalidFile("%s: sha must have 40 or 64 hexadecimal digits", s.name)
		case e.SHA == "" && (s.Git == "" || s.Diff != nil):
			return s, invalidFile("%s: base and head each need a sha if there is a diff, or no git in repo.json", s.name)
		case e.SHA == "" && !refName().MatchString(e.Ref):
			return s, invalidFile("%s: base and head each need a branch, a ref or a sha", s.name)
		case e.Repo != "" && (!two || !isName(owner) || !isName(name)):
			return s, invalidFile("%s: repo must be owner/name", s.name)
		}
	}
	return s, nil
}

// explicit reports whether the JSON alone describes the changes.
func (s *pullRequest) explicit() bool { return s.Diff != nil || s.Git == "" }

// diff returns the diff in the JSON.
func (s *pullRequest) diff() string {
	if s.Diff == nil {
		return ""
	}
	return *s.Diff
}

// PullRequest reads a pull request. Its base and head are the current tips of their
// branches.
func (f *Forge) PullRequest(ctx context.Context, repo precedent.Repo, number int) (forge.PullRequest, error) {
	doing := fmt.Sprintf("read pull request %s#%d", repo, number)
	s, err := f.loadPull(ctx, repo, number)
	if err != nil {
		return forge.PullRequest{}, fail(doing, err)
	}
	h, err := f.history(ctx, s.repository)
	if err != nil {
		return forge.PullRequest{}, fail(doing, err)
	}
	defer h.close()
	out, err := f.describe(ctx, h, &s)
	if err == nil && out.Files == 0 && !s.explicit() {
		c, wrong := h.change(ctx, &s)
		if err = wrong; err == nil {
			out.Files = len(c.Files)
		}
	}
	return out, fail(doing, err)
}

// describe converts a pull request, and fills in the commits of base and head.
func (f *Forge) describe(ctx context.Context, h *history, s *pullRequest) (forge.PullRequest, error) {
	if err := h.resolve(ctx, s); err != nil {
		return forge.PullRequest{}, err
	}
	t, err := f.readDiscussion(s)
	if err != nil {
		return forge.PullRequest{}, err
	}
	out := forge.PullRequest{
		Number: s.Number, Author: s.Author.person(), State: s.State, Draft: s.Draft, Locked: s.Locked || s.Archived,
		URL: f.Pages().PullRequest(s.id(), s.Number), Base: s.branch(s.Base), Head: s.branch(s.Head), Ref: s.Head.Ref, Labels: s.Labels, Files: s.Files,
	}
	for _, who := range s.Requested {
		out.Requested = append(out.Requested, who.person())
	}
	if out.Ref == "" || s.explicit() {
		out.Ref = fmt.Sprintf("refs/pull/%d/head", s.Number)
	}
	out.Title, _ = truncateBody(s.Title)
	out.Body, _ = truncateBody(s.Body)
	if s.State == forge.Merged {
		out.MergeCommit = s.MergeCommit
		if s.MergedAt != nil {
			out.MergedAt = s.MergedAt.UTC()
		}
	}
	if s.Updated != nil {
		out.Updated = s.Updated.UTC()
	} else if out.Updated, err = f.changed(s.name); err != nil {
		return out, err
	}
	for _, c := range t.Comments {
		if at := c.edited(); at.After(out.Updated) {
			out.Updated = at
		}
	}
	return out, nil
}

// branch converts base or head.
func (s *pullRequest) branch(e pullEnd) forge.Branch {
	b := forge.Branch{Name: e.Branch, SHA: e.SHA}
	if e.Deleted {
		return b
	}
	b.Repo = s.id()
	if owner, name, ok := strings.Cut(e.Repo, "/"); ok {
		b.Repo.Owner, b.Repo.Name = owner, name
	}
	b.CloneURL = "https://" + b.Repo.String() + ".git"
	return b
}

// Open lists the open pull requests, the most recently updated first.
func (f *Forge) Open(ctx context.Context, repo precedent.Repo) ([]forge.PullRequest, error) {
	open, err := f.list(ctx, repo, forge.Open)
	for i := range open {
		open[i].Body = ""
	}
	return open, err
}

// Merged lists the merged pull requests that were updated since a time, the most recently
// updated first.
func (f *Forge) Merged(ctx context.Context, repo precedent.Repo, since time.Time, limit int) ([]forge.PullRequest, error) {
	merged, err := f.list(ctx, repo, forge.Merged)
	merged = slices.DeleteFunc(merged, func(p forge.PullRequest) bool { return p.Updated.Before(since) })
	return merged[:min(len(merged), limit)], err
}

// list lists the pull requests in a state, the most recently updated first.
func (f *Forge) list(ctx context.Context, repo precedent.Repo, state forge.State) ([]forge.PullRequest, error) {
	doing := "list pull requests of " + repo.String()
	r, err := f.readRepo(ctx, repo)
	if err != nil {
		return nil, fail(doing, err)
	}
	numbers, err := f.numbers()
	if err != nil || len(numbers) == 0 {
		return nil, fail(doing, err)
	}
	h, err := f.history(ctx, r)
	if err != nil {
		return nil, fail(doing, err)
	}
	defer h.close()
	var all []forge.PullRequest
	for _, number := range numbers {
		if len(all) == maxPulls {
			err = &forge.Error{Kind: forge.KindTooLarge, Msg: fmt.Sprintf("only the first %d were read", maxPulls)}
			break
		}
		s, wrong := f.readPull(r, number)
		if wrong == nil && s.State != state {
			continue
		}
		var p forge.PullRequest
		if wrong == nil {
			p, wrong = f.describe(ctx, h, &s)
		}
		if wrong != nil {
			return nil, fail(doing, wrong)
		}
		p.Files = 0
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b forge.PullRequest) int { return b.Updated.Compare(a.Updated) })
	return all, fail(doing, err)
}

// numbers lists the pull requests.
func (f *Forge) numbers() ([]int, error) {
	files, err := os.ReadDir(filepath.Join(f.dir, "pulls"))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	var all []int
	for _, file := range files {
		n, isPull := strings.CutSuffix(file.Name(), ".json")
		if number, err := strconv.Atoi(n); isPull && err == nil && number > 0 && strconv.Itoa(number) == n {
			all = append(all, number)
		}
	}
	return all, nil
}

// truncateBody limits a text to forge.MaxBody bytes, and reports whether it was cut.
func truncateBody(s string) (precedent.Untrusted, bool) {
	if len(s) <= forge.MaxBody {
		return precedent.Untrusted(s), false
	}
	cut := forge.MaxBody
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return precedent.Untrusted(s[:cut]), true
}
