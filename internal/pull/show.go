package pull

import (
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/secret"
)

// Reply is a message of a thread as the engine is shown it.
func (p *Pull) Reply(message precedent.Message) prompt.Reply {
	who := RoleOf(message.MayWrite, message.WhoID == p.Author.ID)
	switch {
	case message.Own:
		who = "The reviewer, which is you,"
	case message.Bot:
		who = "Another program"
	}
	return prompt.Reply{Who: who, Text: precedent.Untrusted(Redact(string(message.Body)))}
}

// RemarkOf is what a thread is about, as the engine is shown it.
func RemarkOf(t *precedent.Thread) precedent.Finding {
	f := precedent.Finding{
		ID: t.Finding, Category: t.Category, Severity: t.Severity, Span: t.Current, Title: Redact(t.Title),
		Body: Redact(t.Body), Quote: Redact(string(secret.RedactFile(t.Path, []byte(t.Quote)))),
	}
	if f.Path == "" {
		f.Span = t.Span
	}
	return f
}

// Redact removes the credentials from a text.
func Redact(s string) string {
	s, _ = secret.Redact("", s)
	return s
}

// RoleOf says in words what a person may do with the change.
func RoleOf(mayWrite, author bool) string {
	switch {
	case mayWrite:
		return "A person who may merge the change"
	case author:
		return "The author of the change"
	}
	return "Somebody who may not merge the change"
}

// aroundLines is how many lines are shown before and after those of a thread.
const aroundLines = 12

// CodeAround returns the lines around a thread at the head, with their numbers.
func (s *State) CodeAround(t *precedent.Thread) precedent.Untrusted {
	at := t.Current
	if at.Start == 0 || at.Side == precedent.Left || s.Patched {
		return ""
	}
	data, err := run.FilesAt(s.Blobs, s.Range.Head)(at.Path)
	if err != nil {
		return ""
	}
	lines := strings.Split(string(secret.RedactFile(at.Path, data)), "\n")
	var b strings.Builder
	for n := max(at.Start-aroundLines, 1); n <= min(at.End+aroundLines, len(lines)); n++ {
		fmt.Fprintf(&b, "%d  %s\n", n, strings.TrimSuffix(lines[n-1], "\r"))
	}
	return precedent.Untrusted(b.String())
}
