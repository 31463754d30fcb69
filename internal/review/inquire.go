package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// threadReply is the engine's answer about one thread.
type threadReply struct {
	Thread string                `json:"thread_id"`
	State  precedent.AnswerState `json:"state"`
	Reply  string                `json:"reply"`
	Quote  string                `json:"quote"`
}

// inquire asks the engine about threads. Those that its answer omits stay unanswered,
// which makes the review incomplete; without an answer, the place decides.
func (x *reader) inquire(ctx context.Context, open []*inquiry) {
	var threads []*openThread
	for _, q := range open {
		threads = append(threads, q.openThread)
	}
	batches := x.batches(threads)
	var prompts []prompt.Prompt
	for _, b := range batches {
		prompts = append(prompts, x.sheet.Threads(b))
	}
	missing, cause := 0, error(nil)
	for _, r := range x.ask(ctx, "threads", engine.Threads, prompts) {
		batch := open[:len(batches[0])]
		open, batches = open[len(batch):], batches[1:]
		words, err := readThreadReplies(r)
		if err != nil {
			cause = cmp.Or(cause, err)
		}
		for i, q := range batch {
			w, ok := words[threadID(i)]
			if ok {
				x.proveAnswer(q, w)
				continue
			}
			missing++
			switch {
			case q.found != nil: // only its reply is missing
			case err != nil:
				q.decideByPlace()
			default:
				q.decide(precedent.Unanswered, decidedByEngine, "the engine's answer does not mention it")
			}
			cause = cmp.Or(cause, errors.New("the answer does not cover all threads"))
		}
	}
	if missing > 0 {
		x.fail("threads", countWas(missing, "thread")+" not compared with the head by the engine", cause)
	}
}

// threadID names a thread in a request.
func threadID(i int) string { return fmt.Sprintf("t%d", i+1) }

// readThreadReplies returns the answers by the names of threads. If there are two
// about one thread, the first counts.
func readThreadReplies(r reply) (map[string]threadReply, error) {
	answer, err := readReply[struct {
		Threads []threadReply `json:"threads"`
	}](&r, "threads")
	if err != nil {
		return nil, err
	}
	said := map[string]threadReply{}
	for _, w := range answer.Threads {
		id := strings.TrimSpace(w.Thread)
		if _, twice := said[id]; !twice {
			said[id] = w
		}
	}
	return said, nil
}

// batches distributes threads over requests, in order, as many as fit into each.
func (x *reader) batches(threads []*openThread) [][]prompt.Conversation {
	var batches [][]prompt.Conversation
	if len(threads) == 0 {
		return nil
	}
	room := x.brief.diffTokens(x.in.Window)
	left := 0
	for _, t := range threads {
		c := x.conversation(t)
		size := prompt.Tokens(x.sheet.Threads([]prompt.Conversation{c}).Suffix)
		last := len(batches) - 1
		if last < 0 || len(batches[last]) == prompt.MostThreads || size > left {
			batches = append(batches, nil)
			left = room
			last++
		}
		left -= size
		c.ID = threadID(len(batches[last]))
		batches[last] = append(batches[last], c)
	}
	return batches
}

// conversation returns what a request shows of a thread.
func (x *reader) conversation(t *openThread) prompt.Conversation {
	c := prompt.Conversation{
		ID: threadID(0), Remark: t.remark, Then: t.Span, Gone: t.deletedComment, Code: x.linesNear(t),
		Waiting: t.waits(),
	}
	c.Then.Side = t.remark.Side
	if t.remark.Start == 0 {
		c.Remark.Span = c.Then
	}
	if s := x.in.Since; s != nil && s.Changed != nil && s.Changed.File(t.remark.Path) != nil {
		c.Diff, c.Since = nearby(s.Changed.File(t.remark.Path), t.remark.Start), "since "+short(s.Head)+" was reviewed"
	} else if f := x.in.Change.File(t.remark.Path); f != nil {
		c.Diff, c.Since = nearby(f, t.remark.Start), "by the change as a whole"
	}
	for _, m := range t.Messages {
		c.Replies = append(c.Replies, prompt.ReplyOf(m, x.in.Author))
	}
	return c
}

// linesNear returns the lines around the place of a thread, with their numbers.
func (x *reader) linesNear(t *openThread) precedent.Untrusted {
	at := t.remark.Span
	if at.Start == 0 {
		return ""
	}
	name := x.src.nameOn(at.Side, at.Path)
	data, err := x.in.Read(at.Side, name)
	if err != nil {
		return ""
	}
	return prompt.Around(name, data, at)
}

// nearby renders the hunks of a file; if not all fit, those nearest to a line.
func nearby(f *diff.File, line int) precedent.Untrusted {
	const most = 6 // hunks
	order := nearest(f, line)
	order = order[:min(len(order), most)]
	slices.Sort(order)
	var pieces []prompt.Piece
	for _, i := range order {
		pieces = append(pieces, prompt.Piece{File: f, Hunk: redactedHunk(f.Path, &f.Hunks[i])})
	}
	return precedent.Untrusted(prompt.Diff(pieces))
}
