package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
)

// pull is pulls/N.json.
type pull struct {
	Title    string      `json:"title"`
	Body     string      `json:"body,omitempty"`
	Author   person      `json:"author"`
	State    forge.State `json:"state,omitempty"` // open if absent
	Draft    bool        `json:"draft,omitempty"`
	Locked   bool        `json:"locked,omitempty"`
	Base     pullEnd     `json:"base"`
	Head     pullEnd     `json:"head"`
	Updated  time.Time   `json:"updated,omitzero"`
	MergedAt time.Time   `json:"merged_at,omitzero"`
}

// pullEnd is the base or the head of a pull request.
type pullEnd struct {
	Branch string `json:"branch"`
	SHA    string `json:"sha,omitempty"` // the commit of the branch if absent
}

// pullRequest is a pull request, its repository and its comments.
type pullRequest struct {
	repository
	pull
	number int
	talk   talk
}

func talkFile(number int) string { return fmt.Sprintf("pulls/%d/talk.json", number) }

// loadPull reads the files of a pull request. Invalid ids of comments are refused.
func (f *Forge) loadPull(ctx context.Context, repo precedent.Repo, number int,
	comments ...precedent.ForgeID,
) (pullRequest, error) {
	r, err := f.readRepo(ctx, repo)
	if err != nil {
		return pullRequest{}, err
	}
	if err := forge.CheckNumbers(comments...); err != nil {
		return pullRequest{}, err
	}
	s := pullRequest{repository: r, number: number}
	name := fmt.Sprintf("pulls/%d.json", number)
	if err := f.read(name, &s.pull); errors.Is(err, fs.ErrNotExist) {
		return s, &forge.Error{Kind: forge.KindNotFound, Msg: name + " does not exist"}
	} else if err != nil {
		return s, err
	}
	s.State = cmp.Or(s.State, forge.Open)
	if !slices.Contains([]forge.State{forge.Open, forge.Closed, forge.Merged}, s.State) {
		return s, invalidFile("%s: state must be open, closed or merged", name)
	}
	for _, e := range []pullEnd{s.Base, s.Head} {
		if !git.IsBranch(e.Branch) || e.SHA == "" && s.Git == "" || e.SHA != "" && !git.IsObjectID(e.SHA) {
			return s, invalidFile("%s: base and head each need a branch, and a sha if repo.json has no git", name)
		}
	}
	if s.Updated.IsZero() {
		info, err := os.Stat(filepath.Join(f.dir, filepath.FromSlash(name)))
		if err != nil {
			return s, err
		}
		s.Updated = info.ModTime()
	}
	if err := f.read(talkFile(number), &s.talk); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	if err := s.talk.check(); err != nil {
		return s, err
	}
	for i := range s.talk.Comments {
		if at := s.talk.Comments[i].edited(); at.After(s.Updated) {
			s.Updated = at
		}
	}
	return s, nil
}

// PullRequest reads a pull request. Its base and head are the current tips of their branches.
func (f *Forge) PullRequest(ctx context.Context, repo precedent.Repo, number int) (forge.PullRequest, error) {
	s, err := f.loadPull(ctx, repo, number)
	var out forge.PullRequest
	if err == nil {
		out, err = f.describe(ctx, &s)
	}
	return out, fail(fmt.Sprintf("read pull request %s#%d", repo, number), err)
}

// describe converts a pull request, and looks up the commits of base and head.
func (f *Forge) describe(ctx context.Context, s *pullRequest) (forge.PullRequest, error) {
	out := s.describe()
	for to, e := range map[*forge.Branch]pullEnd{&out.Base: s.Base, &out.Head: s.Head} {
		*to = forge.Branch{Repo: s.id(), Name: e.Branch, SHA: e.SHA, CloneURL: "https://" + s.id().String() + ".git"}
		if e.SHA != "" {
			continue
		}
		repo, err := git.Open(ctx, s.Git, f.git)
		if err != nil {
			return out, err
		}
		rg, err := repo.Resolve(ctx, git.Spec{Whole: "refs/heads/" + e.Branch})
		repo.Close()
		if err != nil {
			return out, err
		}
		to.SHA = rg.Head
	}
	return out, nil
}

// describe converts what does not need git.
func (s *pullRequest) describe() forge.PullRequest {
	out := forge.PullRequest{
		Number: s.number, Author: s.Author.person(), State: s.State, Draft: s.Draft, Locked: s.Locked,
		Ref: "refs/heads/" + s.Head.Branch, Updated: s.Updated.UTC().Truncate(time.Millisecond),
	}
	out.Title, _ = forge.CutBody(s.Title)
	out.Body, _ = forge.CutBody(s.Body)
	if s.State == forge.Merged {
		out.MergedAt = s.MergedAt.UTC()
	}
	return out
}

// all reads all pull requests, the most recently updated first.
func (f *Forge) all(ctx context.Context, repo precedent.Repo) ([]pullRequest, error) {
	if _, err := f.readRepo(ctx, repo); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(f.dir, "pulls", "*.json"))
	if err != nil {
		return nil, err
	}
	var all []pullRequest
	for _, file := range files {
		number, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(file), ".json"))
		if err != nil {
			continue
		}
		s, err := f.loadPull(ctx, repo, number)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b pullRequest) int { return b.Updated.Compare(a.Updated) })
	return all, nil
}

// Open lists the open pull requests, the most recently updated first.
func (f *Forge) Open(ctx context.Context, repo precedent.Repo) ([]forge.PullRequest, error) {
	doing := "list pull requests of " + repo.String()
	all, err := f.all(ctx, repo)
	var open []forge.PullRequest
	for i := range all {
		if all[i].State != forge.Open {
			continue
		}
		p, err := f.describe(ctx, &all[i])
		if err != nil {
			return nil, fail(doing, err)
		}
		p.Body = ""
		open = append(open, p)
	}
	return open, fail(doing, err)
}

// Patch is not supported: git fetches from a folder.
func (f *Forge) Patch(_ context.Context, repo precedent.Repo, number int) ([]byte, []precedent.SkippedFile, error) {
	return nil, nil, &forge.Error{
		Kind: forge.KindUnsupported, Msg: fmt.Sprintf("read diff of pull request %s#%d: %s", repo, number, lacking),
	}
}

// streamAll is the only list of the history: all pull requests with all their comments, as one page.
const streamAll forge.HistoryStream = "all"

// Streams are the pull requests with all their comments.
func (f *Forge) Streams() []forge.HistoryStream { return []forge.HistoryStream{streamAll} }

// History reads everything: files are edited by people, who may write any time into them.
func (f *Forge) History(ctx context.Context, repo precedent.Repo, q forge.HistoryQuery) (forge.HistoryPage, error) {
	var page forge.HistoryPage
	all, err := f.all(ctx, repo)
	if q.Stream != streamAll && q.Stream != forge.StreamWhole {
		err = &forge.Error{Kind: forge.KindRefused, Msg: "a local forge has no such list"}
	}
	for i := range all {
		s := &all[i]
		page.Pulls = append(page.Pulls, s.describe())
		for _, c := range s.talk.Comments {
			m := s.comment(f.Pages(), c)
			m.Hunk = forge.CutHunk(c.Hunk)
			m.Member = slices.ContainsFunc(s.Members, func(who member) bool { return who.ID == c.Author.ID && c.Author.ID > 0 })
			page.Comments = append(page.Comments, forge.NumberedComment{Number: s.number, Comment: m})
		}
	}
	return page, fail("list history of "+repo.String(), err)
}
