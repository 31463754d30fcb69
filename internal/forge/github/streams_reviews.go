package github

import (
	"context"
	"errors"
	"slices"
	"time"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

const (
	pullsPerQuery  = 50 // with reviewsPerPull, 2,550 nodes: GitHub allows 500,000, but also only 10 s
	reviewsPerPull = 50
)

// reviewPage is a page of the reviews of a pull request.
type reviewPage struct {
	PageInfo pageInfo
	Nodes    []reviewNode
}

// reviewNode is a review as GraphQL returns it: unlike REST, with the time of its last edit.
type reviewNode struct {
	FullDatabaseID    bigInt
	State, Body, URL  string
	SubmittedAt       *time.Time
	UpdatedAt         time.Time
	AuthorAssociation string
	Author            *struct {
		Typename   string `json:"__typename"`
		Login      string
		DatabaseID int64
	}
}

// pastReviews adds the texts of the reviews of pull requests to a page. For a token that cannot
// use GraphQL, and if the answer is too large or takes too long, they are read by REST.
func (c *Client) pastReviews(ctx context.Context, doing string, repo precedent.Repo, pulls []*gh.Issue, page *forge.HistoryPage) error {
	for some := range slices.Chunk(pulls, pullsPerQuery) {
		said, cut, err := c.reviewsByGraphQL(ctx, doing, some)
		var e *forge.Error
		if errors.As(err, &e) && e.Kind != forge.KindRate && e.Err == nil {
			said, cut, err = c.reviewsByREST(ctx, doing, repo, some)
		}
		if err != nil {
			return err
		}
		page.Comments, page.Cut = append(page.Comments, said...), append(page.Cut, cut...)
	}
	return nil
}

func (c *Client) reviewsByGraphQL(ctx context.Context, doing string, pulls []*gh.Issue) (said []forge.NumberedComment, cut []int, err error) {
	ids := make([]string, len(pulls))
	for i, p := range pulls {
		ids[i] = p.GetNodeID()
	}
	first, err := c.askReviews(ctx, doing, pulls, ids, reviewsPerPull, nil)
	if err != nil {
		return nil, nil, err
	}
	for i, page := range first {
		for pages := 1; ; pages++ {
			for _, r := range page.Nodes {
				if r.SubmittedAt == nil || r.Body == "" {
					continue
				}
				if r.FullDatabaseID <= 0 {
					return nil, nil, wire.UnexpectedAnswer(doing, "a review has no id")
				}
				said = append(said, forge.NumberedComment{Number: pulls[i].GetNumber(), Comment: c.pastReview(r)})
			}
			if !page.PageInfo.HasNextPage {
				break
			}
			if pages == maxPages {
				cut = append(cut, pulls[i].GetNumber())
				break
			}
			more, err := c.askReviews(ctx, doing, pulls[i:i+1], ids[i:i+1], perPage, &page.PageInfo.EndCursor)
			if err != nil {
				return nil, nil, err
			}
			page = more[0]
		}
	}
	return said, cut, nil
}

// askReviews asks for a page of the reviews of each pull request.
func (c *Client) askReviews(ctx context.Context, doing string, pulls []*gh.Issue, ids []string, first int, after *string) ([]reviewPage, error) {
	var got struct {
		Nodes []*struct {
			Number  int
			Reviews reviewPage
		}
	}
	if err := c.query(ctx, doing, queryReviews, map[string]any{"ids": ids, "first": first, "after": after}, &got); err != nil {
		return nil, err
	}
	if len(got.Nodes) != len(ids) {
		return nil, wire.UnexpectedAnswer(doing, "it does not match the query")
	}
	out := make([]reviewPage, len(ids))
	for i, n := range got.Nodes {
		if n == nil || n.Number != pulls[i].GetNumber() {
			return nil, wire.UnexpectedAnswer(doing, "a pull request is missing")
		}
		out[i] = n.Reviews
	}
	return out, nil
}

// pastReview converts a review. The login of a bot lacks its suffix in GraphQL.
func (c *Client) pastReview(r reviewNode) forge.Comment {
	at, edited := r.SubmittedAt.UTC(), r.UpdatedAt.UTC()
	out := forge.Comment{
		ID: precedent.NumberID(int64(r.FullDatabaseID)), Kind: forge.OnReview, URL: c.ownPage(r.URL), At: at, Edited: edited,
		Author: forge.Person{Login: "ghost"}, Blocks: r.State == stateBlocks, Member: isMember(r.AuthorAssociation),
	}
	if edited.Before(at) {
		out.Edited = at
	}
	if r.Author != nil && r.Author.DatabaseID > 0 {
		out.Author = forge.Person{ID: precedent.NumberID(r.Author.DatabaseID), Login: r.Author.Login, Bot: r.Author.Typename == "Bot"}
		if out.Author.Bot {
			out.Author.Login += "[bot]"
		}
	}
	out.Body, out.Cut = truncateBody(r.Body)
	return out
}

func (c *Client) reviewsByREST(ctx context.Context, doing string, repo precedent.Repo, pulls []*gh.Issue) (said []forge.NumberedComment, cut []int, err error) {
	for _, p := range pulls {
		listed, err := listAll(c, doing, func(o gh.ListOptions) ([]*gh.PullRequestReview, *gh.Response, error) {
			return c.api.PullRequests.ListReviews(ctx, repo.Owner, repo.Name, p.GetNumber(), &o)
		})
		var e *forge.Error
		switch {
		case wire.Gone(err): // deleted meanwhile
			continue
		case errors.As(err, &e) && e.Kind == forge.KindTooLarge && e.Status == 0:
			cut = append(cut, p.GetNumber())
		case err != nil:
			return nil, nil, err
		}
		for _, r := range listed {
			if r.GetBody() == "" || r.SubmittedAt == nil {
				continue
			}
			if r.GetID() <= 0 {
				return nil, nil, wire.UnexpectedAnswer(doing, "a review has no id")
			}
			one := forge.NumberedComment{Number: p.GetNumber(), Comment: c.onReview(r)}
			one.Member = isMember(r.GetAuthorAssociation())
			said = append(said, one)
		}
	}
	return said, cut, nil
}
