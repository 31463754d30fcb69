package forgetest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
)

// say adds a comment, on the line of a conversation or on the pull request.
func (r *Real) say(who forge.Person, to precedent.ForgeID, body string) forge.Comment {
	r.t.Helper()
	if to == "" {
		var made realComment
		r.as(&who, http.MethodPost, r.issue("/comments"), object{"body": body}, &made)
		r.Refresh()
		return r.comment(forge.OnThread, made)
	}
	var span precedent.Span
	r.world.Change(func() {
		if root := r.pull.comment(forge.CommentRef{Kind: forge.OnLine, ID: to}); root != nil {
			span = root.Span
		}
	})
	return r.remark(who, span, body)
}

// remark comments on a line, by a review of its own.
func (r *Real) remark(who forge.Person, s precedent.Span, body string) (m forge.Comment) {
	r.t.Helper()
	comment := object{"path": s.Path, "body": body, "new_position": s.End}
	if s.Side == precedent.Left {
		comment = object{"path": s.Path, "body": body, "old_position": s.End}
	}
	var review struct{ ID int64 }
	path := r.repo(fmt.Sprintf("/pulls/%d/reviews", r.pull.Number))
	r.as(&who, http.MethodPost, path, object{"event": "COMMENT", "comments": []any{comment}}, &review)
	r.Refresh()
	r.world.Change(func() {
		i := slices.IndexFunc(r.pull.Comments, func(c forge.Comment) bool {
			return c.Kind == forge.OnLine && c.Review == precedent.NumberID(review.ID)
		})
		if i >= 0 {
			m = r.pull.Comments[i]
		}
	})
	return m
}

func (r *Real) react(who forge.Person, c forge.CommentRef, content string) {
	r.t.Helper()
	r.as(&who, http.MethodPost, r.repo("/issues/comments/"+string(c.ID)+"/reactions"), object{"content": content}, nil)
}

// change changes the title or the state of the pull request.
func (r *Real) change(who forge.Person, to object) {
	r.t.Helper()
	r.as(&who, http.MethodPatch, r.repo(fmt.Sprint("/pulls/", r.pull.Number)), to, nil)
}

// Hook sends the events of the repository to an address.
func (r *Real) Hook(address, secret string) {
	r.t.Helper()
	r.as(nil, http.MethodPost, r.repo("/hooks"), object{
		"type": "gitea", "active": true, "config": object{"url": address, "content_type": "json", "secret": secret},
		"events": []string{
			"push", "status", "issue_comment", "pull_request", "pull_request_label", "pull_request_sync",
			"pull_request_review", "pull_request_comment",
		},
	}, nil)
}

// Proxy makes the door another address that leads to the forge, whose clock seems to be ahead there.
func (r *Real) Proxy(ahead func() time.Duration) {
	r.t.Helper()
	to, err := url.Parse(r.URL)
	needs.NoError(r.t, err)
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(to) },
		ModifyResponse: func(response *http.Response) error {
			if at, err := http.ParseTime(response.Header.Get("Date")); err == nil {
				response.Header.Set("Date", at.Add(ahead()).UTC().Format(http.TimeFormat))
			}
			return nil
		},
	})
	r.t.Cleanup(server.Close)
	r.Door = server.URL
}
