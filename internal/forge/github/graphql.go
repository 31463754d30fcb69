package github

import (
	"context"
	_ "embed" // the queries
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// The GraphQL documents. The id of a comment in REST is its fullDatabaseId: databaseId
// has 32 bits, too few for GitHub's ids.
var (
	//go:embed queries/viewer.graphql
	queryViewer string
	//go:embed queries/threads.graphql
	queryThreads string
	//go:embed queries/thread.graphql
	queryThread string
	//go:embed queries/reviews.graphql
	queryReviews string
	//go:embed queries/resolve.graphql
	doResolve string
	//go:embed queries/unresolve.graphql
	doUnresolve string
	//go:embed queries/minimize.graphql
	doMinimize string
)

// query runs a GraphQL query.
func (c *Client) query(ctx context.Context, doing, text string, variables map[string]any, into any) error {
	return c.graph(wire.Reads(ctx), doing, text, variables, into, false)
}

// mutate runs a GraphQL mutation.
func (c *Client) mutate(ctx context.Context, doing, text string, variables map[string]any, into any) error {
	return c.graph(ctx, doing, text, variables, into, true)
}

// graphAnswer is a GraphQL response. Errors come with status 200.
type graphAnswer struct {
	Data   json.RawMessage
	Errors []struct{ Type, Message string }
}

func (c *Client) graph(ctx context.Context, doing, text string, variables map[string]any, into any, writes bool) error {
	ctx, a := c.wire.Watch(ctx)
	body := struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables,omitempty"`
	}{text, variables}
	req, err := c.api.NewRequest(ctx, http.MethodPost, c.graphql, body)
	if err != nil {
		return a.Fail(doing, err)
	}
	var got graphAnswer
	resp, err := c.api.Do(req, &got)
	if err != nil {
		return a.Fail(doing, err)
	}
	if len(got.Errors) > 0 {
		e := &forge.Error{Kind: forge.KindInvalid, Status: resp.StatusCode, Msg: doing + ": GitHub returned an error"}
		said := a.Quote(got.Errors[0].Message)
		if said != "" {
			e.Msg += ": " + said
		}
		switch got.Errors[0].Type {
		case "NOT_FOUND":
			if e.Kind = forge.KindNotFound; writes {
				e.Kind = forge.KindClosed
			}
		case "FORBIDDEN", "INSUFFICIENT_SCOPES":
			e.Kind, e.Hint = forge.KindAuth, hintFor(http.StatusForbidden, nil)
			if writes && strings.Contains(said, "archived") {
				e.Kind, e.Hint = forge.KindClosed, ""
			}
		case "RATE_LIMITED", "RATE_LIMIT":
			e.Kind = forge.KindRate
			if reset, err := strconv.ParseInt(resp.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
				e.Retry = time.Unix(reset, 0).UTC()
			}
		}
		return e
	}
	if json.Unmarshal(got.Data, into) != nil {
		return a.UnexpectedAnswer(doing, "it does not match the query")
	}
	return nil
}
