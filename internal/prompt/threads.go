package prompt

import (
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// MostThreads is the maximum number of threads in one request.
const MostThreads = 40

// Bounds of what is shown of one thread.
const (
	maxReplies = 12      // the newest
	maxReply   = 2_000   // bytes
	maxExcerpt = 6 << 10 // bytes, of the code and of the diff each
)

// Conversation is a thread as the role "threads" sees it. All secrets in it must be
// redacted.
type Conversation struct {
	ID     string // in this request, such as "t1"
	Remark precedent.Finding
	Then   precedent.Span // where it was made
	Gone   bool           // the flagged lines were deleted
	// Code are lines around its place, with their numbers; empty if it has none.
	Code precedent.Untrusted
	// Diff is what changed in its file, as Diff renders it; Since says since when, in our
	// own words.
	Diff    precedent.Untrusted
	Since   string
	Replies []Reply // oldest first
	Waiting bool    // a person waits for a reply
}

// Reply is one message in a thread. Who is in our own words, such as "The author of the
// change", because a name could claim anything.
type Reply struct {
	Who  string
	Text precedent.Untrusted
}

// Threads returns the prompt about at most MostThreads threads.
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

// excerpt returns code, cut to what one thread may show.
func (s *Sheet) excerpt(code precedent.Untrusted) string {
	return s.strike(excerpt(code))
}

func excerpt(code precedent.Untrusted) string {
	return limit(strings.Trim(text.Visible(string(code)), "\n"), maxExcerpt)
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
	fmt.Fprintf(&b, "remark: %s\n%s", text.Collapse(text.Clean(f.Title)),
		limit(strings.TrimSpace(text.Clean(f.Body)), maxRemark))
	return b.String()
}
