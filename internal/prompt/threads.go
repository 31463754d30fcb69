package prompt

import (
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/secret"
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

// Conversation is a thread as a model sees it that answers, fixes or compares it. All secrets in it must be redacted.
type Conversation struct {
	ID     string // in this request, such as "t1"
	Remark precedent.Finding
	// Asked is what a person wrote who opened it; nil for a remark of ours. Of Remark only the place
	// counts then.
	Asked *Reply
	Then  precedent.Span // where it was made
	Gone  bool           // the flagged lines were deleted
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

// ReplyOf returns a message of a thread without credentials. author opened the pull request; empty if unknown.
func ReplyOf(m precedent.Message, author precedent.ForgeID) Reply {
	who := RoleOf(m.MayWrite, author != "" && m.WhoID == author)
	switch {
	case m.Own:
		who = "The reviewer, which is you,"
	case m.Bot:
		who = "Another program"
	}
	return Reply{who, precedent.Untrusted(secret.RedactText(string(m.Body)))}
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

// How many lines are shown before and after those of a thread, and in all.
const (
	linesAround = 12
	mostLines   = 80
)

// Around returns the lines of a file around a place, with their numbers and without credentials.
func Around(path string, data []byte, at precedent.Span) precedent.Untrusted {
	lines := strings.Split(strings.TrimSuffix(string(secret.RedactFile(path, data)), "\n"), "\n")
	from := max(at.Start-linesAround, 1)
	to := min(at.End+linesAround, from+mostLines-1, len(lines))
	var b strings.Builder
	for n := from; n <= to; n++ {
		fmt.Fprintf(&b, "%d  %s\n", n, strings.TrimSuffix(lines[n-1], "\r"))
	}
	return precedent.Untrusted(b.String())
}

// Threads returns the prompt about at most MostThreads threads.
func (s *Sheet) Threads(list []Conversation) Prompt {
	var p page
	p.say("# The threads\n\nAnswer for every one.")
	for i := range list {
		p.thread(&list[i])
	}
	p.language("`reply`", s.language)
	p.say(onlyJSON)
	return Prompt{System: load("threads.md"), Common: s.team, Suffix: p.render(s.nonce)}
}

// thread adds what is known of a thread.
func (p *page) thread(c *Conversation) {
	p.say("## Thread " + c.ID)
	if c.Asked != nil {
		p.block(c.Asked.Who+" wrote:", "remark", placeOf(&c.Remark, c.Then)+"\nremark: "+cleanProse(string(c.Asked.Text)))
	} else {
		p.block("Its remark:", "remark", posted(&c.Remark, c.Then))
	}
	p.data("The lines that it proposes instead:", "suggestion",
		limit(strings.Trim(text.Visible(c.Remark.Suggestion), "\n"), maxRemark))
	code := excerpt(c.Code)
	p.data(aroundPlace, "code", code)
	if code == "" && c.Gone {
		p.say("The lines that it is about are not in the file any more.")
	}
	p.data("What was changed in its file, "+c.Since+":", "diff", excerpt(c.Diff))
	p.replies(" answered", "reply", c.Replies)
	if c.Waiting {
		p.say("A person waits for an answer.")
	}
}

const aroundPlace = "The lines around its place now:"

// excerpt returns code, cut to what one thread may show.
func excerpt(code precedent.Untrusted) string {
	return limit(strings.Trim(text.Visible(string(code)), "\n"), maxExcerpt)
}

// placeOf renders where a remark is, and where it was made.
func placeOf(f *precedent.Finding, then precedent.Span) string {
	at := "place: " + text.VisibleLine(f.String())
	if f.Side == precedent.Left {
		at += " of the old file"
	}
	if then != f.Span {
		at += "\nplace when it was made: " + text.VisibleLine(then.String())
	}
	return at
}

// posted renders a thread's remark.
func posted(f *precedent.Finding, then precedent.Span) string {
	var b strings.Builder
	b.WriteString(placeOf(f, then))
	fmt.Fprintf(&b, "\ncategory: %s\nseverity: %s\n", f.Category, f.Severity)
	if f.Quote != "" {
		b.WriteString("lines when it was made:\n" + limit(text.Visible(f.Quote), maxRemark) + "\n")
	}
	fmt.Fprintf(&b, "remark: %s\n%s", cleanLine(f.Title), cleanProse(f.Body))
	return b.String()
}
