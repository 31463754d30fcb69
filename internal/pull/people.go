package pull

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/text"
)

// Bounds of a conversation that a person opened.
const (
	maxTold     = 50    // messages: the first and the newest
	maxToldText = 4_000 // characters of a message
)

// PersonsID begins the id of a thread that a person opened. The number of its first comment follows.
const PersonsID = "comment-"

// PeoplesThreads are the unresolved conversations on lines that people opened.
type PeoplesThreads struct {
	// Open are those of people with write permission that wait for a change, oldest first, at most
	// prompt.MostFixed. Their first message is the comment that opened them.
	Open []precedent.Thread
	// Others counts those of people without write permission, or whose permission is not known.
	Others int
}

// PeoplesThreads sorts the conversations of the pull request as it is now. Those of programs and
// of our own account are left out. One that a fix has replied to waits for the person, until
// somebody with write permission writes in it again. We resolve none of them.
func (p *Publisher) PeoplesThreads(ctx context.Context, comments []forge.Comment, convs []forge.Thread) (PeoplesThreads,
	error,
) {
	stored, err := p.Rows.Threads(ctx, p.Pull.Number)
	if err != nil {
		return PeoplesThreads{}, err
	}
	ours := map[precedent.ForgeID]bool{} // whatever account had posted them
	for _, t := range stored {
		ours[t.Comment] = true
	}
	byID := map[precedent.ForgeID]*forge.Comment{}
	for i := range comments {
		if comments[i].Kind == forge.OnLine {
			byID[comments[i].ID] = &comments[i]
		}
	}
	addressed := p.addressedAt(comments)
	var found PeoplesThreads
	for _, conv := range convs {
		if conv.Closed || len(conv.Comments) == 0 || len(found.Open) == prompt.MostFixed {
			continue
		}
		first, known := byID[conv.Comments[0]]
		if !known || ours[first.ID] || p.isOurs(*first) || first.Author.Bot {
			continue
		}
		if !p.Pull.mayWrite(ctx)(first.Author) {
			found.Others++
			continue
		}
		t := precedent.Thread{
			ID: PersonsID + string(first.ID), PullRequest: p.Pull.Number, Span: first.Span, Commit: first.Commit,
			Comment: first.ID, URL: first.URL, OpenedAt: first.At,
		}
		said := conv.Comments
		if rest := len(said) - maxTold; rest > 0 {
			said = append([]precedent.ForgeID{first.ID}, said[rest+1:]...)
		}
		waits := false
		at, replied := addressed[t.ID]
		for _, id := range said {
			c, known := byID[id]
			if !known {
				continue
			}
			m := p.message(ctx, *c)
			waits = waits || m.MayWrite && c.At.After(at)
			t.Messages = append(t.Messages, m)
		}
		if waits || !replied {
			found.Open = append(found.Open, t)
		}
	}
	slices.SortStableFunc(found.Open, func(a, b precedent.Thread) int { return a.OpenedAt.Compare(b.OpenedAt) })
	return found, ctx.Err()
}

// isOurs tells whether a comment is of our account, or has a marker of ours.
func (p *Publisher) isOurs(c forge.Comment) bool {
	_, marked := p.Pull.Writer.Read(string(c.Body))
	return marked || c.Author.ID == p.Poster.Me.ID
}

func (p *Publisher) message(ctx context.Context, c forge.Comment) precedent.Message {
	m := precedent.Message{
		ID: c.ID, Who: c.Author.Login, WhoID: c.Author.ID, Own: p.isOurs(c), At: c.At,
		Body: precedent.Untrusted(text.Cut(string(c.Body), maxToldText)),
	}
	m.Bot = !m.Own && c.Author.Bot
	m.MayWrite = !m.Own && !m.Bot && p.Pull.mayWrite(ctx)(c.Author)
	return m
}

// addressedAt returns when a fix last replied that it addressed a conversation, by the id of its
// thread. The reply need not be in the conversation: some forges have no replies.
func (p *Publisher) addressedAt(comments []forge.Comment) map[string]time.Time {
	at := map[string]time.Time{}
	for _, own := range p.OwnComments(comments) { // oldest first
		if own.Kind != comment.Reply || !strings.HasPrefix(string(own.Body), AddressedLead) {
			continue
		}
		for part := range strings.SplitSeq(own.Answers, ".") {
			if strings.HasPrefix(part, PersonsID) {
				at[part] = own.At
			}
		}
	}
	return at
}

// AddressedLead begins the reply in a thread.
const AddressedLead = "**Addressed:**"
