package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/strict"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxWords bounds what an error repeats of the forge's message, in characters.
const maxWords = 200

// errorOf converts an error response.
func (t *Transport) errorOf(r request, g answer) *forge.Error {
	words := errorText(g.body, t.rememberedTokens())
	e := &forge.Error{Status: g.status, Msg: fmt.Sprintf("%s returned %d", t.o.Forge, g.status)}
	if words != "" {
		e.Msg += ": " + words
	}
	until, limited := t.rateLimited(g, words)
	switch {
	case limited:
		e.Kind, e.Retry, e.Hint = forge.KindRate, until,
			"wait, or use a token of another account: each account has its own limit"
		e.Owner = t.o.Limit(r.Context())
	case r.writes && isClosed(g.status, words):
		e.Kind, e.Hint = forge.KindClosed, "it is locked, archived or deleted, or the token has no write access"
	case g.status == http.StatusUnauthorized:
		e.Kind, e.Hint = forge.KindAuth, "the token is invalid or has expired: create a new one"
	case g.status == http.StatusForbidden:
		e.Kind, e.Hint = forge.KindAuth, "the token is missing a permission"
	case g.status == http.StatusNotFound, g.status == http.StatusGone, g.status == http.StatusUnavailableForLegalReasons:
		e.Kind, e.Hint = forge.KindNotFound, "check the name, and that the token can access the repository"
	case g.status == http.StatusNotAcceptable:
		e.Kind = forge.KindTooLarge // the only documented reason for it on GitHub
	case g.status >= 500:
		e.Kind, e.Hint = forge.KindServer, "try again later"
	case g.status == http.StatusBadRequest, g.status == http.StatusUnprocessableEntity:
		e.Kind = forge.KindInvalid
	case g.status >= 300 && g.status < 400:
		e.Kind, e.Msg = forge.KindRefused,
			t.o.Forge+" redirected a request that makes changes; such redirects are not followed"
		e.Hint = "if the repository was renamed or moved, use its present name"
	default:
		e.Kind = forge.KindAnswer
	}
	if t.o.Hint != nil {
		if hint := t.o.Hint(g.status, g.header); hint != "" && e.Kind != forge.KindRate && e.Kind != forge.KindClosed {
			e.Hint = hint
		}
	}
	e.Said = words
	e.Unsure = r.writes && !isRefusal(g.status)
	return e
}

// isRefusal reports whether a status means that nothing was carried out. Request
// Timeout (408) and See Other (303) may come after the request was carried out.
func isRefusal(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusSeeOther:
		return false
	}
	return status >= 300 && status < 500 && status != http.StatusNotModified
}

// isClosed reports whether a refused change means that comments are no longer possible. GitHub returns 403
// for locked conversations and archived repositories, and 422 for reviews of locked ones; Gitea returns 423.
func isClosed(status int, words string) bool {
	low := strings.ToLower(words)
	switch status {
	case http.StatusNotFound, http.StatusGone, http.StatusLocked:
		return true
	case http.StatusForbidden:
		return strings.Contains(low, "locked") || strings.Contains(low, "archived") || strings.Contains(low, "lock prevents")
	case http.StatusUnprocessableEntity:
		return strings.Contains(low, "lock prevents")
	}
	return false
}

// errorText returns the message of an error response on one line. It is empty if it
// would reveal a token: servers and proxies may repeat what they were sent.
func errorText(body []byte, sent []Token) string {
	var said struct {
		Message string
		Errors  json.RawMessage
	}
	if strict.Check(body, strict.Default) != nil || json.Unmarshal(body, &said) != nil {
		return ""
	}
	all := slices.DeleteFunc(append([]string{said.Message}, errorDetails(said.Errors)...),
		func(s string) bool { return s == "" })
	return quote(strings.Join(all, ": "), sent)
}

// quote shortens text of a forge, and drops it if it contains one of the tokens.
func quote(said string, sent []Token) string {
	for _, t := range sent {
		if secret.Leaks(said, t.Reveal()) {
			return ""
		}
	}
	return text.Cut(text.VisibleLine(said), maxWords)
}

// errorDetails returns the single errors of a response: strings, or objects with a
// message or with field and code.
func errorDetails(errs json.RawMessage) []string {
	var list []json.RawMessage
	if json.Unmarshal(errs, &list) != nil {
		list = []json.RawMessage{errs}
	}
	var all []string
	for _, raw := range list[:min(len(list), 10)] {
		var s string
		var o struct{ Message, Field, Code string }
		if json.Unmarshal(raw, &s) != nil && json.Unmarshal(raw, &o) == nil {
			if s = o.Message; s == "" {
				s = strings.TrimSpace(o.Field + " " + o.Code)
			}
		}
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}
