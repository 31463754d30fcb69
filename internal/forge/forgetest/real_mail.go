package forgetest

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
)

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
