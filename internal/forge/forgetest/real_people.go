package forgetest

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
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

// Proxy makes the door another address that leads to the forge. Each request goes through do, which passes it on by
// calling next; a panic with http.ErrAbortHandler ends it without an answer.
func (r *Real) Proxy(ahead func() time.Duration, do func(request *http.Request, next func())) {
	r.t.Helper()
	to, err := url.Parse(r.URL)
	needs.NoError(r.t, err)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(to) },
		ModifyResponse: func(response *http.Response) error {
			if at, err := http.ParseTime(response.Header.Get("Date")); err == nil {
				response.Header.Set("Date", at.Add(ahead()).UTC().Format(http.TimeFormat))
			}
			return nil
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		do(request, func() { proxy.ServeHTTP(w, request) })
	}))
	r.t.Cleanup(server.Close)
	r.Door = server.URL
}

// Comment lets a person comment on the pull request as a whole.
func (r *Real) Comment(who forge.Person, body string) {
	r.t.Helper()
	r.as(&who, http.MethodPost, r.issue("/comments"), object{"body": body}, nil)
}

// Join lets a person write in the conversation that a comment on a line opened.
func (r *Real) Join(who forge.Person, root forge.Comment, body string) {
	r.t.Helper()
	r.as(&who, http.MethodPost, r.repo(fmt.Sprintf("/pulls/%d/reviews", r.pull.Number)), object{
		"event": "COMMENT", "comments": []any{object{"path": root.Span.Path, "body": body, "new_position": root.Span.End}},
	}, nil)
}

// Address is where the forge sends the mails of a person.
func (r *Real) Address(who forge.Person) string { return r.login(who) + "@example.test" }

// Mailbox is an SMTP server that counts mails.
type Mailbox struct {
	mu  sync.Mutex
	got map[string]int
}

// Mailbox receives mails at an address until the test ends.
func (s *Stage) Mailbox(t testing.TB, address string) *Mailbox {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
	needs.NoError(t, err)
	b := &Mailbox{got: map[string]int{}}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go b.receive(c)
		}
	}()
	return b
}

// receive answers a client of SMTP.
func (b *Mailbox) receive(c net.Conn) {
	defer c.Close()
	say := func(line string) { fmt.Fprintf(c, "%s\r\n", line) }
	say("220 mailbox")
	data := false
	var to []string
	for lines := bufio.NewScanner(c); lines.Scan(); {
		line := lines.Text()
		verb := strings.ToUpper(line)
		switch {
		case data && line == ".":
			data = false
			b.mu.Lock()
			for _, address := range to {
				b.got[strings.ToLower(address)]++
			}
			b.mu.Unlock()
			to = nil
			say("250 ok")
		case data:
		case strings.HasPrefix(verb, "DATA"):
			data = true
			say("354 go on")
		case strings.HasPrefix(verb, "RCPT TO:"):
			address, _, _ := strings.Cut(line[len("RCPT TO:"):], ">")
			to = append(to, strings.TrimLeft(address, " <"))
			say("250 ok")
		case strings.HasPrefix(verb, "QUIT"):
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

// To counts the mails to an address.
func (b *Mailbox) To(address string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.got[strings.ToLower(address)]
}
