package prompt

import (
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// MostThreads is how many threads one request holds at most.
const MostThreads = 40

// Bounds of what is shown of one thread.
const (
	maxReplies = 12      // the newest
	maxReply   = 2_000   // bytes
	maxExcerpt = 6 << 10 // bytes, of the code and of the diff each
)

// Conversation is a thread as a reader of the role "threads" sees it. All text in
// it has its secrets redacted already.
type Conversation struct {
	ID     string // in this request, such as "t1"
	Remark precedent.Finding
	Then   precedent.Span // where it was made
	Gone   bool           // the lines that it is about are not there any more
	// Code are lines around its place, with their numbers; empty if it has none.
	Code precedent.Untrusted
	// Diff is what changed in its file, as Diff renders it, and Since in a few words
	// of ours since when.
	Diff    precedent.Untrusted
	Since   string
	Replies []Reply // oldest first
	Waiting bool    // a person wrote, and nobody has answered
}

// Reply is one message in a thread. Who is in our words, such as "The author of
// the change": a name could claim anything.
type Reply struct {
	Who  string
	Text precedent.Untrusted
}

// Threads is the prompt about threads, at most MostThreads of them.
func (s *Sheet) Threads(list []Conversation) Prompt {
	type shown struct {
		ID, Remark, Code, Diff, Since string
		Gone, Waiting                 bool
		Replies                       []struct{ Who, Text string }
	}
	own := struct {
		Threads  []shown
		Language string
	}{Language: s.language}
	for i := range list {
		c := &list[i]
		one := shown{
			ID: c.ID, Since: c.Since, Gone: c.Gone, Waiting: c.Waiting,
			Remark: s.strike(posted(&c.Remark, c.Then)), Code: s.excerpt(c.Code), Diff: s.excerpt(c.Diff),
		}
		for _, r := range c.Replies[max(0, len(c.Replies)-maxReplies):] {
			words := limit(strings.TrimSpace(text.Clean(string(r.Text))), maxReply)
			one.Replies = append(one.Replies, struct{ Who, Text string }{r.Who, s.strike(words)})
		}
		own.Threads = append(own.Threads, one)
	}
	return Prompt{System: load("threads.md"), Common: s.team, Suffix: "\n" + execute("conversations.md", s.nonce, own)}
}

// excerpt shows code, as much of it as one thread gets.
func (s *Sheet) excerpt(code precedent.Untrusted) string {
	return s.strike(limit(strings.Trim(text.Visible(string(code)), "\n"), maxExcerpt))
}

// posted renders a thread's remark.
func posted(f *precedent.Finding, then precedent.Span) string {
	var b strings.Builder
	fmt.Fprintf(&b, "place: %s", text.VisibleLine(f.String()))
	if f.Side == precedent.Left {
		b.WriteString(" of the old file")
	}
	if then != f.Span {
		fmt.Fprintf(&b, "\nplace when it was made: %s", text.VisibleLine(then.String()))
	}
	fmt.Fprintf(&b, "\ncategory: %s\nseverity: %s\n", f.Category, f.Severity)
	if f.Quote != "" {
		b.WriteString("lines when it was made:\n" + limit(text.Visible(f.Quote), maxRemark) + "\n")
	}
	fmt.Fprintf(&b, "remark: %s\n%s", text.Collapse(text.Clean(f.Title)), limit(strings.TrimSpace(text.Clean(f.Body)), maxRemark))
	return b.String()
}
