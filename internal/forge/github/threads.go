package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// commentPage is a page of the comments of a conversation.
type commentPage struct {
	PageInfo pageInfo
	Nodes    []struct{ FullDatabaseID bigInt }
}

// pageInfo says where a GraphQL list continues.
type pageInfo struct {
	HasNextPage bool
	EndCursor   string
}

// bigInt is a number that GraphQL returns as a string.
type bigInt int64

// UnmarshalJSON parses a number, in quotes or not; null is 0.
func (b *bigInt) UnmarshalJSON(data []byte) error {
	s := string(data)
	if s == "null" {
		return nil
	}
	if n := len(s); n >= 2 && s[0] == '"' {
		s = s[1 : n-1]
	}
	n, err := strconv.ParseInt(s, 10, 64)
	*b = bigInt(n)
	return err
}

// threadNode is a conversation as GraphQL returns it.
type threadNode struct {
	ID         string
	IsResolved bool
	ResolvedBy *struct {
		Login      string
		DatabaseID int64
	}
	Comments commentPage
}

// Threads reads the conversations, in the order of their first comments.
func (c *Client) Threads(ctx context.Context, repo precedent.Repo, number int) ([]forge.Thread, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("read conversations of %s#%d", repo, number))
	threads, err := c.threads(do, repo, number)
	slices.SortStableFunc(threads, func(a, b forge.Thread) int { return a.Comments[0].Compare(b.Comments[0]) })
	return threads, err
}

func (c *Client) threads(do wire.Call, repo precedent.Repo, number int) ([]forge.Thread, error) {
	var all []forge.Thread
	seen := map[precedent.ForgeID]bool{}
	var after *string
	for range maxPages {
		var got struct {
			Repository *struct {
				PullRequest *struct {
					ReviewThreads struct {
						PageInfo pageInfo
						Nodes    []threadNode
					}
				}
			}
		}
		err := c.query(do, queryThreads, map[string]any{
			"owner": repo.Owner, "name": repo.Name, "number": number, "after": after,
		}, &got)
		if err != nil {
			return nil, err
		}
		if got.Repository == nil || got.Repository.PullRequest == nil {
			return nil, do.Unexpected("it contains no pull request")
		}
		list := got.Repository.PullRequest.ReviewThreads
		for _, n := range list.Nodes {
			t, err := c.thread(do, n)
			if err != nil {
				return nil, err
			}
			if len(t.Comments) > 0 && !seen[t.ID] {
				seen[t.ID] = true
				all = append(all, t)
			}
		}
		if !list.PageInfo.HasNextPage {
			return all, nil
		}
		after = &list.PageInfo.EndCursor
	}
	return all, do.Refuse(forge.KindTooLarge, "only the first %d were read", len(all))
}

// thread converts a conversation, and reads its remaining comments.
func (c *Client) thread(do wire.Call, n threadNode) (forge.Thread, error) {
	t := forge.Thread{ID: precedent.ForgeID(n.ID), Closed: n.IsResolved}
	if n.IsResolved && n.ResolvedBy != nil {
		t.ClosedBy = forge.Person{ID: precedent.NumberID(n.ResolvedBy.DatabaseID), Login: n.ResolvedBy.Login}
	}
	comments := n.Comments
	for range maxPages {
		for _, m := range comments.Nodes {
			if id := precedent.NumberID(int64(m.FullDatabaseID)); m.FullDatabaseID > 0 && !slices.Contains(t.Comments, id) {
				t.Comments = append(t.Comments, id)
			}
		}
		if !comments.PageInfo.HasNextPage {
			break
		}
		var got struct {
			Node *struct{ Comments commentPage }
		}
		err := c.query(do, queryThread, map[string]any{"id": n.ID, "after": comments.PageInfo.EndCursor}, &got)
		if err != nil {
			return t, err
		}
		if got.Node == nil {
			return t, do.Unexpected("a conversation was deleted")
		}
		comments = got.Node.Comments
	}
	slices.SortFunc(t.Comments, precedent.ForgeID.Compare) // numbers grow with time
	return t, nil
}

// Resolve resolves a conversation, or reopens it.
func (c *Client) Resolve(ctx context.Context, repo precedent.Repo, number int, t forge.Thread,
	closed bool,
) (forge.Unsupported, error) {
	verb, text := "resolve", doResolve
	if !closed {
		verb, text = "reopen", doUnresolve
	}
	do := c.Begin(ctx, repo, fmt.Sprintf("%s a conversation of %s#%d", verb, repo, number))
	no, err := threadsUnsupported(c.mutate(do, text, map[string]any{"id": t.ID}, new(struct{})))
	if strings.Contains(string(no), "not accessible by") {
		no += ": GitHub lets the tokens of Apps and workflows do that only with contents: write"
	}
	return no, err
}

// threadsUnsupported turns a missing permission into an Unsupported.
func threadsUnsupported(err error) (forge.Unsupported, error) {
	e, ok := errors.AsType[*forge.Error](err)
	if ok && (e.Kind == forge.KindAuth && e.Status != http.StatusUnauthorized || wire.Gone(err)) {
		return forge.Unsupported(e.Msg), nil
	}
	return "", err
}
