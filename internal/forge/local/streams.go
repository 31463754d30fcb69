package local

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// streamAll is the only list: the pull requests by their numbers, with all their comments.
const streamAll forge.HistoryStream = "all"

// pullsPerPage is how many pull requests a page of it has.
const pullsPerPage = 50

// Streams are the pull requests with all their comments.
func (f *Forge) Streams() []forge.HistoryStream { return []forge.HistoryStream{streamAll} }

// History reads one page of the list. Files are edited by people, who may write any time into
// them: a pull request counts as edited, too, when its files were. So does every comment on it.
func (f *Forge) History(ctx context.Context, repo precedent.Repo, q forge.HistoryQuery) (forge.HistoryPage, error) {
	doing := "list " + string(q.Stream) + " history of " + repo.String()
	var page forge.HistoryPage
	r, err := f.readRepo(ctx, repo)
	if err != nil {
		return page, fail(doing, err)
	}
	after := 0
	if q.Cursor != "" {
		after, err = strconv.Atoi(q.Cursor)
	}
	if err != nil || q.Stream != streamAll {
		return page, fail(doing, &forge.Error{Kind: forge.KindRefused, Msg: "a local forge has no such list"})
	}
	numbers, err := f.numbers()
	if err != nil {
		return page, fail(doing, err)
	}
	slices.Sort(numbers)
	numbers = slices.DeleteFunc(numbers, func(n int) bool { return n <= after })
	if len(numbers) > pullsPerPage {
		numbers = numbers[:pullsPerPage]
		page.Next = strconv.Itoa(numbers[pullsPerPage-1])
	}
	for _, n := range numbers {
		if err := f.past(r, n, q.Since, &page); err != nil {
			return forge.HistoryPage{}, fail(doing, err)
		}
	}
	return page, fail(doing, ctx.Err())
}

// past adds a pull request and its comments to a page, if it was edited since a time.
func (f *Forge) past(r repository, number int, since time.Time, page *forge.HistoryPage) error {
	s, err := f.readPull(r, number)
	if err != nil {
		return err
	}
	t, err := f.readDiscussion(&s)
	if err != nil {
		return err
	}
	written, err := f.changed(s.name)
	if err != nil {
		return err
	}
	said, err := f.changed(s.discussionFile())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	updated := written
	if s.Updated != nil {
		updated = s.Updated.UTC()
	}
	for i := range t.Comments {
		updated = latest(updated, t.Comments[i].edited())
	}
	if latest(updated, latest(written, said)).Before(since) {
		return nil
	}
	p := forge.PullRequest{Number: number, Author: s.Author.person(), State: s.State, URL: f.Pages().PullRequest(s.id(), number), Updated: updated}
	p.Title, _ = truncateBody(s.Title)
	p.Body, _ = truncateBody(s.Body)
	if s.State == forge.Merged && s.MergedAt != nil {
		p.MergedAt = s.MergedAt.UTC()
	}
	page.Pulls = append(page.Pulls, p)
	for _, c := range t.Comments {
		if c.Kind == forge.OnReview && c.Body == "" {
			continue
		}
		m := f.comment(&s, c)
		m.Hunk = forge.CutHunk(c.Hunk)
		m.Member = slices.ContainsFunc(r.Members, func(who member) bool { return who.ID == c.Author.ID && c.Author.ID > 0 })
		page.Comments = append(page.Comments, forge.NumberedComment{Number: number, Comment: m})
	}
	return nil
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
