package review

import (
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxProof bounds a quoted proof, in characters.
const maxProof = 200

// proveAnswer accepts the engine's answer about a thread only with proof: changed
// lines, an added line that it quotes, or a person's words that it quotes. In a
// protected category, no answer closes a thread about unchanged code. Only people who
// may merge can dismiss: an author who could would pass every review.
func (x *reader) proveAnswer(q *inquiry, w threadReply) {
	reply := strings.TrimSpace(text.Clean(w.Reply))
	if who, sentence := x.dismisser(q, w.Quote); w.State == precedent.DeclinedHere && who != "" {
		q.decide(precedent.DeclinedHere, decidedByPerson, "%s wrote: %q", who, text.Cut(sentence, maxProof))
		q.answer.Reply, q.answer.Who, q.answer.Words = reply, who, text.Cut(sentence, maxProof)
		return
	}
	proof := ""
	if !q.Category.Protected() {
		proof = x.addedQuote(w.Quote)
	}
	switch {
	case q.found != nil:
		if w.State == precedent.StillThere {
			q.answer.Reply = reply
		}
		return // a finder found it again, so it is there
	case w.State == precedent.StillThere:
		q.decide(precedent.StillThere, decidedByEngine, "the engine compared it with the head")
	case w.State == precedent.Addressed && q.changed:
		q.decide(precedent.Addressed, decidedByEngine, "the flagged lines changed")
	case w.State == precedent.NoLonger && q.deletedComment:
		q.decide(precedent.NoLonger, decidedByEngine, "the flagged lines are gone")
	case w.State != precedent.DeclinedHere && proof != "":
		q.decide(w.State, decidedByEngine, "the push added: %q", text.Cut(proof, maxProof))
	case w.State == precedent.DeclinedHere:
		q.decide(precedent.StillThere, decidedByPlace, "the engine says that it was dismissed, but nobody who may dismiss it wrote the words that it quotes")
		if q.waits() {
			q.answer.Reply = mayNotDismiss
		}
		return
	default:
		q.decide(precedent.StillThere, decidedByPlace, "the engine says %s, but the flagged lines are still there, and no added line shows it", w.State)
		return
	}
	q.answer.Reply = reply
}

// addedQuote returns the quote if the push added each of its lines and not all of them
// are comments: what a change says about itself proves nothing.
func (x *reader) addedQuote(quote string) string {
	since := x.in.Since
	quote = firstLines(quote)
	if since == nil || since.Changed == nil || onlyComment(quote) {
		return ""
	}
	long := false
	for l := range strings.Lines(quote) {
		want := text.Squeeze(strings.TrimPrefix(strings.TrimSpace(l), "+"))
		long = long || len(want) >= substringMin
		if want != "" && !addsLine(since.Changed, want) {
			return ""
		}
	}
	if !long {
		return ""
	}
	return oneLine(quote)
}

// addsLine tells whether a change adds a line, ignoring white space.
func addsLine(c *diff.Change, squeezed string) bool {
	for i := range c.Files {
		for l := range c.Files[i].AddedLines() {
			if text.Squeeze(l.Text) == squeezed {
				return true
			}
		}
	}
	return false
}

// mayNotDismiss is the reply to a person who may not dismiss the finding.
// It names the way that counts even where the forge does not tell who may write.
const mayNotDismiss = "Only people with write permission can dismiss a finding, and yours is not confirmed. It stays open until one of them resolves this conversation."

// minSaid is the minimum length of a quoted part of a message, in bytes without white
// space; a shorter quote must be a whole line.
const minSaid = 12

// dismisser returns who wrote the quoted words in the thread, among the people who may
// dismiss its finding, and the words; both are empty if none of them did.
func (x *reader) dismisser(q *inquiry, quote string) (who, sentence string) {
	want := normalized(quote)
	if want == "" {
		return "", ""
	}
	for _, m := range slices.Backward(q.Messages) {
		if m.Own || m.Bot || !m.MayWrite {
			continue
		}
		var own strings.Builder
		for l := range strings.Lines(text.Clean(string(m.Body))) {
			if strings.HasPrefix(strings.TrimSpace(l), ">") {
				continue // a quote of somebody else
			}
			if normalized(l) == want {
				return m.Who, oneLine(quote)
			}
			own.WriteString(l)
		}
		if len(want) >= minSaid && strings.Contains(text.Squeeze(own.String()), want) {
			return m.Who, oneLine(quote)
		}
	}
	return "", ""
}

// normalized returns a quote without white space and surrounding punctuation.
func normalized(quote string) string { return strings.Trim(text.Squeeze(quote), "\"'`.!,…*_") }
