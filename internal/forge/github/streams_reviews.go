package github

import (
	"errors"
	"slices"
	"time"

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
func (c *Client) pastReviews(do wire.Call, pulls []*pullRequest, page *forge.HistoryPage) error {
	for some := range slices.Chunk(pulls, pullsPerQuery) {
		said, cut, err := c.reviewsByGraphQL(do, some)
		if e, failed := errors.AsType[*forge.Error](err); failed && e.Kind != forge.KindRate && e.Err == nil {
			said, cut, err = c.reviewsByREST(do, some)
		}
		if err != nil {
			return err
		}
		page.Comments, page.Cut = append(page.Comments, said...), append(page.Cut, cut...)
	}
	return nil
}

func (c *Client) reviewsByGraphQL(do wire.Call, pulls []*pullRequest) (said []forge.NumberedComment, cut []int,
	err error,
) {
	ids := make([]string, len(pulls))
	for i, p := range pulls {
		ids[i] = p.NodeID
	}
	first, err := c.askReviews(do, pulls, ids, reviewsPerPull, nil)
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
					return nil, nil, do.Unexpected("a review has no id")
				}
				said = append(said, forge.NumberedComment{Number: pulls[i].Number, Comment: c.pastReview(r)})
			}
			if !page.PageInfo.HasNextPage {
				break
			}
			if pages == maxPages {
				cut = append(cut, pulls[i].Number)
				break
			}
			more, err := c.askReviews(do, pulls[i:i+1], ids[i:i+1], perPage, &page.PageInfo.EndCursor)
			if err != nil {
				return nil, nil, err
			}
			page = more[0]
		}
	}
	return said, cut, nil
}

// askReviews asks for a page of the reviews of each pull request.
func (c *Client) askReviews(do wire.Call, pulls []*pullRequest, ids []string, first int, after *string) ([]reviewPage,
	error,
) {
	var got struct {
		Nodes []*struct {
			Number  int
			Reviews reviewPage
		}
	}
	if err := c.query(do, queryReviews, map[string]any{"ids": ids, "first": first, "after": after}, &got); err != nil {
		return nil, err
	}
	if len(got.Nodes) != len(ids) {
		return nil, do.Unexpected("it does not match the query")
	}
	out := make([]reviewPage, len(ids))
	for i, n := range got.Nodes {
		if n == nil || n.Number != pulls[i].Number {
			return nil, do.Unexpected("a pull request is missing")
		}
		out[i] = n.Reviews
	}
	return out, nil
}

// pastReview converts a review. The login of a bot lacks its suffix in GraphQL.
func (c *Client) pastReview(r reviewNode) forge.Comment {
	at, edited := r.SubmittedAt.UTC(), r.UpdatedAt.UTC()
	out := forge.Comment{
		ID: precedent.NumberID(int64(r.FullDatabaseID)), Kind: forge.OnReview, URL: c.Pages().Own(r.URL), At: at, Edited: edited,
		Author: forge.Person{Login: "ghost"}, Blocks: r.State == stateBlocks, Member: isMember(r.AuthorAssociation),
	}
	if edited.Before(at) {
		out.Edited = at
	}
	if r.Author != nil && r.Author.DatabaseID > 0 {
		out.Author = forge.Person{
			ID: precedent.NumberID(r.Author.DatabaseID), Login: r.Author.Login, Bot: r.Author.Typename == "Bot",
		}
		if out.Author.Bot {
			out.Author.Login += "[bot]"
		}
	}
	out.Body, out.Cut = forge.CutBody(r.Body)
	return out
}

func (c *Client) reviewsByREST(do wire.Call, pulls []*pullRequest) (said []forge.NumberedComment, cut []int,
	err error,
) {
	for _, p := range pulls {
		listed, err := wire.List[review](do, "pulls/%d/reviews", p.Number)
		switch {
		case wire.Gone(err): // deleted meanwhile
			continue
		case forge.IsPartial(err):
			cut = append(cut, p.Number)
		case err != nil:
			return nil, nil, err
		}
		for _, r := range listed {
			if r.Body == "" || r.SubmittedAt.IsZero() {
				continue
			}
			if r.ID <= 0 {
				return nil, nil, do.Unexpected("a review has no id")
			}
			one := forge.NumberedComment{Number: p.Number, Comment: c.onReview(r)}
			one.Member = isMember(r.Association)
			said = append(said, one)
		}
	}
	return said, cut, nil
}
