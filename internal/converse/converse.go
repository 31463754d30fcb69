// Package converse hears what people write on a pull request, answers it, and learns from it.
//
// [Answer] is the story. It reads the comments that no run has handled, oldest first, and does for
// each what it asks:
//
//	hear    chat.Parse finds commands; what is not one is free text
//	act     each command is carried out: store, forget, approve, dismiss, resolve, pause, fix …
//	talk    the engine answers free text, without tools, within the budget of the pull request
//	answer  one comment answers all that one comment asked, and says in words what was stored
//
// What people with write permission say in passing about how the project does things is proposed, without an answer.
//
// It runs before a review, which then has what people said. What must be decided about a thread is
// not decided here: a dismissal follows from the comment itself, each time the thread is read.
//
// # Who counts
//
// People with write permission teach, dismiss and ask for work. What others teach is pending until
// one of these approves it. The author may end findings that are not severe. Anybody else is answered
// once, so that nobody can make us flood a pull request. A comment that was edited after it was read
// counts as written without permission, because forges do not say who edited it.
//
// # Once
//
// Everything that handling a comment does can be repeated with the same result until its answer is
// planned, which happens in one transaction with the record that it is handled. What cannot be
// repeated, such as forgetting "the last one", first stores what it is about to change. A run that is
// killed in between is finished by the next one, and answers the same.
package converse

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/post"
	"github.com/precedent-dev/precedent/internal/pull"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// Bounds of conversations. What is left out is handled by the next run, except for people
// without write permission.
const (
	maxConversations = 20  // free texts that the engine answers in one run
	maxCommented     = 50  // comments that are handled in one run
	maxParsed        = 500 // comments that are parsed in one run
	maxInARow        = 3   // answers in one thread without a new review
	maxFailed        = 2   // runs in which the engine is asked about a comment in vain
	maxStrangers     = 5   // people who may neither write nor are the author, on one pull request
)

// Result is what Converse did.
type Result struct {
	Handled int // comments
	Posted  post.Delivery
	// Review tells that a person who may asked for a review, and Again that it should read everything.
	Review, Again bool
	Ended         bool // findings, or that something waits for approval, which the summary and the check may still have
	// PausedBy is who paused the reviews of the pull request; Paused is false if nobody did.
	Paused   bool
	PausedBy string
}

// Answer obeys the commands in the comments of people that no run has handled, and answers each comment once.
// It is done before a review, which then has what people said. page is the address of the only comment to
// handle, or of one of ours, for all in its thread; empty, or that of the pull request, for all.
func Answer(ctx context.Context, p *pull.Publisher, job run.Job, page string) (Result, error) {
	c := &conversation{Publisher: p, job: job, only: fragment(page)}
	err := c.answer(ctx)
	// What could not be answered ends no pause.
	who, paused, wrong := p.Rows.PausedBy(ctx, p.Pull.Number)
	c.did.PausedBy, c.did.Paused = who, paused
	return c.did, cmp.Or(err, wrong)
}

func (c *conversation) answer(ctx context.Context) (err error) {
	p := c.Publisher
	if p.Pull.Locked {
		return nil // nobody can comment
	}
	if c.comments, err = p.Pull.Conn.Comments(ctx, p.Pull.Repo.Repo, p.Pull.Number); err != nil {
		if ctx.Err() != nil || forge.KindOf(err) != forge.KindTooLarge {
			return p.Pull.Conn.Explain(err)
		}
	}
	if err = c.load(ctx); err == nil && c.hasNews() {
		err = c.handleAll(ctx)
	}
	if err == nil {
		err = c.noteSeen(ctx)
	}
	if err != nil {
		return err
	}
	if c.did.Posted, err = p.Poster.DeliverAnswers(ctx, p.Pull.Repo.Repo, p.Pull.Number); err != nil {
		return p.Pull.Conn.Explain(err)
	}
	for _, note := range c.did.Posted.Notes {
		p.Pull.Env.Notice(ctx, "%s", note)
	}
	return nil
}

// conversation is one call of Answer.
type conversation struct {
	*pull.Publisher
	job      run.Job
	only     string // the part of the address of the only comment; empty for all
	comments []forge.Comment
	handled  map[string]store.HandledComment
	posts    []store.Post    // answers that were given
	answered map[string]bool // comments that have an answer on the forge, from any run
	pending  []precedent.Learning
	voted    []precedent.Learning // those that a 👍 may approve, or has approved without an answer
	state    *pull.State
	threads  map[precedent.ForgeID]*precedent.Thread // by comment
	answerer *answerer                               // nil until the engine is needed
	unasked  int                                     // comments that were proposed without being asked
	left     bool                                    // comments are left for the next run
	did      Result
}

// record is what is stored of a handled comment.
type record struct {
	Body string            `json:"body"` // hash of the text
	Who  precedent.ForgeID `json:"who"`
	// Acting tells that its commands may have been carried out and its answer is not planned.
	// Targets are what they change, by their position in the comment.
	Acting    bool             `json:"acting,omitempty"`
	Targets   map[int][]string `json:"targets,omitempty"`
	Stranger  bool             `json:"stranger,omitempty"`  // neither the author nor somebody with write permission
	AsksAll   bool             `json:"asks_all,omitempty"`  // the person is asked whether to forget everything
	Confirmed bool             `json:"confirmed,omitempty"` // the person said yes to that
	// Through is when the newest comment that a run has read was written. Only the record of seenKey has it.
	Through time.Time `json:"through,omitzero"`
	// Failed counts the runs in which the engine did not answer it. It is asked again for some time.
	Failed int `json:"failed,omitempty"`
}

// unfinished tells whether the next run handles the comment again.
func (r record) unfinished() bool { return r.Acting || r.Failed > 0 && r.Failed < maxFailed }

func readRecord(h store.HandledComment) (r record) {
	_ = json.Unmarshal(h.Document, &r) // the zero record is that of a comment with another text
	return r
}

// keyOf identifies a comment: ids are unique only within a kind.
func keyOf(c forge.Comment) string { return string(c.Kind) + "." + string(c.ID) }

// load reads what is stored about the comments, and which of them are answered on the forge. Without a key,
// another program with our account could fake that: then a comment stays unanswered, which is the worst.
func (c *conversation) load(ctx context.Context) (err error) {
	if c.handled, err = c.Rows.HandledComments(ctx, c.Pull.Number); err != nil {
		return err
	}
	if c.posts, err = c.Rows.AnswerPosts(ctx, c.Pull.Number); err != nil {
		return err
	}
	c.answered = map[string]bool{}
	for _, m := range c.comments {
		if marker, ok := c.marker(m); ok && (marker.Kind == comment.Answer || marker.Kind == comment.Review) {
			for _, key := range marker.AllAnswers() {
				kind, rest, _ := strings.Cut(key, ".")
				id, _, _ := strings.Cut(rest, ".")
				c.answered[kind+"."+id] = true
			}
		}
	}
	pending, err := c.Pull.Workspace.Memory.Learnings(ctx, precedent.LearningPending)
	if err != nil {
		return err
	}
	c.pending = slices.DeleteFunc(pending, func(l precedent.Learning) bool { return l.From.PullRequest != c.Pull.Number })
	c.voted = c.pending
	for key, h := range c.handled { // a run ended after it approved, and before it said so
		id, vote := strings.CutPrefix(key, "vote.")
		if !vote || !readRecord(h).Acting {
			continue
		}
		l, err := c.Pull.Workspace.Memory.Learning(ctx, id)
		if err != nil {
			return err
		}
		if l.State != precedent.LearningPending {
			c.voted = append(slices.Clip(c.voted), l)
		}
	}
	return nil
}

// marker returns the marker of a comment of ours.
func (c *conversation) marker(m forge.Comment) (comment.Marker, bool) {
	if c.Poster.Me.ID == "" || m.Author.ID != c.Poster.Me.ID {
		return comment.Marker{}, false
	}
	return c.Pull.Writer.Read(string(m.Body))
}

// byPerson tells whether a person wrote the comment.
func (c *conversation) byPerson(m forge.Comment) bool {
	_, ours := c.marker(m)
	return !ours && !m.Author.Bot && m.Author.ID != "" && !strings.HasSuffix(m.Author.Login, "[bot]") &&
		(m.Author.ID != c.Poster.Me.ID || !c.Poster.Me.Bot)
}

// names are the accounts that we answer to.
func (c *conversation) names() []string { return []string{"precedent", c.Poster.Me.Login} }

// isNews tells whether a comment may ask something that no run has handled.
func (c *conversation) isNews(m forge.Comment) bool {
	if m.Cut || !c.byPerson(m) {
		return false
	}
	h, known := c.handled[keyOf(m)]
	if known {
		r := readRecord(h)
		return r.unfinished() || r.Body != workspace.ShortHash(string(m.Body))
	}
	return !c.answered[keyOf(m)]
}

// hasNews tells whether the rest of Converse has anything to do: it is cheap, and true too often
// rather than not often enough.
func (c *conversation) hasNews() bool {
	ours := map[string]bool{} // files with a thread of ours
	for _, m := range c.comments {
		if marker, ok := c.marker(m); ok && marker.Kind == comment.Finding {
			ours[m.Span.Path] = true
		}
	}
	return len(c.voted) > 0 || slices.ContainsFunc(c.comments, func(m forge.Comment) bool {
		return c.isNews(m) && (m.Kind == forge.OnLine && ours[m.Span.Path] ||
			c.mentions(string(m.Body)) || c.directive(m) != "")
	})
}

// mentions tells whether a text has one of our names.
func (c *conversation) mentions(body string) bool {
	body = strings.ToLower(body)
	return slices.ContainsFunc(c.names(), func(name string) bool {
		return name != "" && strings.Contains(body, strings.ToLower(name))
	})
}

// handleAll reads the pull request as it is now, and handles the comments, oldest first.
func (c *conversation) handleAll(ctx context.Context) error {
	state, err := c.Pull.Gather(ctx, pull.Purpose{Posts: true})
	if err != nil {
		return err
	}
	defer c.closeEngine(ctx)
	c.state, c.comments = state, state.Comments
	if m := c.Pull.Workspace.Memory; state.LearningsOff && !m.LearningsOff {
		m.LearningsOff = true // none is stored, either
		defer func() { m.LearningsOff = false }()
	}
	c.threads = map[precedent.ForgeID]*precedent.Thread{}
	for i := range state.Earlier.Threads {
		t := &state.Earlier.Threads[i]
		for _, m := range t.Messages {
			c.threads[m.ID] = t
		}
	}
	if err := c.approveByVotes(ctx); err != nil {
		return err
	}
	parsed := 0
	for _, m := range c.comments {
		if !c.isNews(m) || !c.isWanted(m) {
			continue
		}
		if c.threadOf(m) == nil && !c.mentions(string(m.Body)) {
			if err := c.proposeUnasked(ctx, m); err != nil && !errors.Is(err, errHandled) {
				return err
			}
			continue
		}
		if parsed++; parsed > maxParsed || c.did.Handled >= maxCommented {
			c.left = true
			break
		}
		if err := c.handle(ctx, m); err != nil && !errors.Is(err, errHandled) {
			return err
		}
	}
	return nil
}

// seenKey is the key of the record of what was read; the other records are of comments.
const seenKey = "seen"

// noteSeen records until when comments were read. Somebody else than its author may have edited a comment that asks for
// something only since then.
func (c *conversation) noteSeen(ctx context.Context) error {
	was := readRecord(c.handled[seenKey]).Through
	now := was
	for _, m := range c.comments {
		if c.byPerson(m) && m.At.After(now) {
			now = m.At
		}
	}
	if now.Equal(was) || c.left || c.only != "" {
		return nil
	}
	err := c.saveHandled(ctx, seenKey, "", record{Through: now}, post.ToComment{})
	if errors.Is(err, errHandled) {
		return nil
	}
	return err
}

// isWanted tells whether the caller wants a comment handled.
func (c *conversation) isWanted(m forge.Comment) bool {
	t := c.threadOf(m)
	return c.only == "" || fragment(m.URL) == c.only || t != nil && fragment(t.URL) == c.only
}

func fragment(page string) string {
	u, err := url.Parse(page)
	if err != nil {
		return ""
	}
	return u.Fragment
}

// threadOf returns the thread of ours that a comment is in; nil for none.
func (c *conversation) threadOf(m forge.Comment) *precedent.Thread {
	if m.Kind != forge.OnLine {
		return nil
	}
	return c.threads[m.ID]
}

// handle obeys and answers a comment. Everything that it does can be repeated with the same
// result, until the answer is planned, in one transaction with the record that it is handled.
func (c *conversation) handle(ctx context.Context, m forge.Comment) error {
	h := c.read(ctx, m)
	if h.hash == "" || h.record.Stranger && h.isPlain() && !c.mentions(string(m.Body)) {
		h.record.Stranger = false // whose one answer is for what is said to us
		return c.skip(ctx, h)
	}
	a := post.ToComment{Key: keyOf(m) + "." + h.hash, URL: m.URL}
	if h.thread != nil {
		a.Root = h.thread.Comment
	}
	switch done, err := c.act(ctx, h, &a); {
	case err != nil:
		return err
	case !done && h.record.Failed == 0:
		return nil // the review answers
	case done:
		h.record.Failed = 0
		c.did.Handled++
	}
	if t := h.thread; t != nil && len(a.Parts) > 0 && t.State == precedent.ThreadPending {
		t.State = precedent.ThreadOpen // nobody waits for the review any more
		if err := c.Rows.SaveThreads(ctx, []precedent.Thread{*t}); err != nil {
			return err
		}
	}
	return c.saveHandled(ctx, keyOf(m), h.hash, h.record, a)
}

// skip records that a comment needs nothing, so that it is not read again. What it asked before
// an edit stays known.
func (c *conversation) skip(ctx context.Context, h *request) error {
	before, known := c.handled[keyOf(h.Comment)]
	if !known {
		return c.saveHandled(ctx, keyOf(h.Comment), "", h.record, post.ToComment{})
	}
	r := readRecord(before)
	r.Body, r.Acting = h.record.Body, false
	return c.saveHandled(ctx, keyOf(h.Comment), before.Hash, r, post.ToComment{})
}

// errHandled is the error of a comment that another run handles: a server reviews and answers at the same time.
var errHandled = errors.New("another run handles the comment")

// saveHandled records that a comment was handled, and plans its answer if it has parts.
func (c *conversation) saveHandled(ctx context.Context, key, hash string, r record, a post.ToComment) error {
	document, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var answers []store.Post
	for i := range a.Parts {
		a.Parts[i] = secret.RedactText(a.Parts[i])
	}
	if len(a.Parts) > 0 {
		planned, err := c.Poster.PlanAnswer(c.Pull.Number, c.state.Range.Head, a)
		if err != nil {
			return err
		}
		answers = append(answers, planned)
	}
	h := store.HandledComment{Comment: key, Hash: hash, Document: document, At: c.Pull.Env.Now()}
	switch once, err := c.Rows.SaveHandledOnce(ctx, c.Pull.Number, c.handled[key], h, answers...); {
	case err != nil:
		return err
	case !once:
		return errHandled
	}
	c.handled[key] = h
	return nil
}

// tooMany tells whether a person who may neither write nor is the author is not heard any more:
// such a person is answered once, so that nobody can make us flood a pull request.
func (c *conversation) tooMany(h *request) bool {
	if !h.record.Stranger {
		return false
	}
	people := map[precedent.ForgeID]bool{}
	for key, before := range c.handled {
		if r := readRecord(before); r.Stranger && r.Failed == 0 && (key != keyOf(h.Comment) || before.Hash != h.hash) {
			people[r.Who] = true
		}
	}
	return people[h.Author.ID] || len(people) >= maxStrangers
}

// approveByVotes approves pending learnings whose confirmation has a 👍 of a person with write permission. A
// vote counts once: one that only showed a contradiction does not replace the other learning in the next run.
func (c *conversation) approveByVotes(ctx context.Context) error {
	for _, l := range c.voted {
		if err := c.approveByVote(ctx, l); err != nil && !errors.Is(err, errHandled) {
			return err
		}
	}
	return nil
}

func (c *conversation) approveByVote(ctx context.Context, l precedent.Learning) error {
	key := "vote." + l.ID
	if before, known := c.handled[key]; known && !readRecord(before).Acting {
		return nil
	}
	i := slices.IndexFunc(c.posts, func(p store.Post) bool {
		return p.Remote != "" && p.State == store.PostConfirmed && slices.Contains(post.ReadAnswer(p).Learnings, l.ID)
	})
	if i < 0 {
		return nil
	}
	who, err := c.approver(ctx, c.posts[i])
	if err != nil || who.ID == "" {
		return err
	}
	if err := c.saveHandled(ctx, key, key, record{Who: who.ID, Acting: true}, post.ToComment{}); err != nil {
		return err
	}
	captured, err := c.Pull.Workspace.Memory.ApproveLearning(ctx, l.ID, who.Login)
	if err != nil {
		return err
	}
	asked := post.ReadAnswer(c.posts[i])
	c.did.Handled, c.did.Ended = c.did.Handled+1, true
	answer := post.ToComment{Key: key, Root: asked.Root, URL: asked.URL, Parts: []string{approved(captured, who.Login)}}
	return c.saveHandled(ctx, key, key, record{Who: who.ID}, answer)
}

// approver returns the person with write permission who gave a comment of ours a 👍; the zero
// Person if there is none.
func (c *conversation) approver(ctx context.Context, p store.Post) (forge.Person, error) {
	for _, m := range c.comments {
		marker, ok := c.marker(m)
		if !ok || m.ID != p.Remote || marker.Thread != p.Thread || len(marker.AllAnswers()) > 1 {
			continue
		}
		reactions, err := c.Pull.Conn.Reactions(ctx, c.Pull.Repo.Repo, c.Pull.Number,
			forge.CommentRef{Kind: m.Kind, ID: m.ID})
		if err != nil {
			return forge.Person{}, c.Pull.Conn.Explain(err)
		}
		for _, r := range reactions {
			if r.Content == "+1" && !r.Who.Bot && r.Who.ID != c.Poster.Me.ID && c.Pull.People.Permission(ctx, r.Who).MayWrite() {
				return r.Who, nil
			}
		}
	}
	return forge.Person{}, nil
}
