package github

import (
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
func (c *Client) query(do wire.Call, text string, variables map[string]any, into any) error {
	return c.graph(do.Reads(), text, variables, into, false)
}

// mutate runs a GraphQL mutation.
func (c *Client) mutate(do wire.Call, text string, variables map[string]any, into any) error {
	return c.graph(do, text, variables, into, true)
}

// graphAnswer is a GraphQL response. Errors come with status 200.
type graphAnswer struct {
	Data   json.RawMessage
	Errors []struct{ Type, Message string }
}

// graphFailure is the status of an answer that says nothing about the query: of a secondary rate limit ("Rate limits
// and query limits for the GraphQL API"), or if GitHub failed or took too long, of which only the message tells. It is 0
// for all others.
func graphFailure(body []byte) int {
	var got graphAnswer
	if json.Unmarshal(body, &got) != nil || len(got.Errors) == 0 {
		return 0
	}
	switch message := strings.ToLower(got.Errors[0].Message); {
	case strings.Contains(message, "secondary rate limit"):
		return http.StatusTooManyRequests
	case strings.Contains(message, "something went wrong"), strings.Contains(message, "timed out"), strings.Contains(message, "timedout"):
		return http.StatusBadGateway
	}
	return 0
}

func (c *Client) graph(do wire.Call, text string, variables map[string]any, into any, writes bool) error {
	body := map[string]any{"query": text}
	if variables != nil {
		body["variables"] = variables
	}
	var got graphAnswer
	header, err := do.Post(c.graphql, body, &got)
	if err != nil {
		return err
	}
	if len(got.Errors) > 0 {
		return graphError(do, got, header, writes)
	}
	if json.Unmarshal(got.Data, into) != nil {
		why := "it does not match the query"
		if writes {
			return do.UnexpectedAfterChange(why)
		}
		return do.Unexpected(why)
	}
	return nil
}

// graphError converts the first error of an answer.
func graphError(do wire.Call, got graphAnswer, header http.Header, writes bool) error {
	e := &forge.Error{Kind: forge.KindInvalid, Status: http.StatusOK, Msg: do.Doing() + ": GitHub returned an error"}
	said := do.Quote(got.Errors[0].Message)
	if said != "" {
		e.Msg += ": " + said
	}
	switch got.Errors[0].Type {
	case "NOT_FOUND":
		e.Kind = forge.KindNotFound // the conversation or the review: the pull request may go on
	case "FORBIDDEN", "INSUFFICIENT_SCOPES":
		e.Kind, e.Hint = forge.KindAuth, hintFor(http.StatusForbidden, nil)
		if writes && strings.Contains(said, "archived") {
			e.Kind, e.Hint = forge.KindClosed, ""
		}
	case "RATE_LIMITED", "RATE_LIMIT":
		e.Kind = forge.KindRate
		if reset, err := strconv.ParseInt(header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			e.Retry = time.Unix(reset, 0).UTC()
		}
	}
	return e
}
