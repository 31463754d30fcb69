package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxWords bounds what an error repeats of GitHub's own words, in characters.
const maxWords = 200

// trouble says what an answer that is none means.
func (t *transport) trouble(g got) *forge.Error {
	words := t.words(g.body)
	e := &forge.Error{Status: g.status, Msg: fmt.Sprintf("GitHub answers %d", g.status)}
	if words != "" {
		e.Msg += ": " + words
	}
	until, limited := t.limited(g, words)
	switch {
	case limited:
		e.Kind, e.Retry, e.Hint = forge.KindRate, until, "wait, or use a token of its own: each account has its own limit"
	case g.status == http.StatusUnauthorized:
		e.Kind, e.Hint = forge.KindAuth, "the token is wrong or has expired: make a new one"
	case g.status == http.StatusForbidden:
		e.Kind, e.Hint = forge.KindAuth, "the token lacks a permission: it needs to read contents, pull requests and issues"
		if g.header.Get("X-GitHub-SSO") != "" {
			e.Hint = "the organisation wants single sign-on: authorise the token for it in GitHub's settings"
		}
	case g.status == http.StatusNotFound, g.status == http.StatusGone, g.status == http.StatusUnavailableForLegalReasons:
		e.Kind, e.Hint = forge.KindNotFound, "check the name, and whether the token may see the repository"
	case g.status == http.StatusNotAcceptable:
		e.Kind = forge.KindTooLarge // the one reason for which GitHub documents it here
	case g.status >= 500:
		e.Kind, e.Hint = forge.KindServer, "try again later; https://www.githubstatus.com tells how GitHub is"
	default:
		e.Kind = forge.KindAnswer
	}
	return e
}

// words is what GitHub says about an error, on one line, and nothing that would
// give away the token: whatever stands between may repeat what it was sent.
func (t *transport) words(body []byte) string {
	var said struct{ Message string }
	if json.Unmarshal(body, &said) != nil || leaks(said.Message, t.token.secret()) {
		return ""
	}
	return text.Cut(text.VisibleLine(said.Message), maxWords)
}

// fail is the error of a request: what was to be done, and what came of it.
func fail(doing string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		err = abandoned(err) // go-github replaces the transport's error with the context's
	}
	var e *forge.Error
	if errors.As(err, &e) {
		said := *e // one error may be several requests'
		said.Msg = doing + ": " + e.Msg
		return &said
	}
	if errors.Is(err, gh.ErrPathForbidden) {
		return &forge.Error{Kind: forge.KindRefused, Msg: doing + ": the name leads elsewhere"}
	}
	return strange(doing, "it is not what GitHub documents")
}

// strange is the error of an answer that cannot be understood.
func strange(doing, why string) error {
	return &forge.Error{Kind: forge.KindAnswer, Msg: doing + ": the answer cannot be understood: " + why}
}
