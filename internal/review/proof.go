package review

import (
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxProof bounds a quoted proof, in characters.
const maxProof = 200

// proveAnswer accepts the engine's answer about a thread only with proof: changed
// lines, an added line that it quotes, or a person's words that it quotes. If the finding
// is severe, the lines must have changed in more than comments and white space, and the
// added line must be about the finding's own code. In a protected category, no answer
// closes a thread about unchanged code. Only people who may merge can dismiss: an author
// who could would pass every review.
func (x *reader) proveAnswer(q *inquiry, w threadReply) {
	reply := strings.TrimSpace(text.Clean(w.Reply))
	if who, sentence := x.dismisser(q, w.Quote); w.State == precedent.DeclinedHere && who != "" {
		q.decide(precedent.DeclinedHere, decidedByPerson, "%s wrote: %q", who, text.Cut(sentence, maxProof))
		q.answer.Reply, q.answer.Who, q.answer.Words = reply, who, text.Cut(sentence, maxProof)
		x.takeAwayThread(q, sentence)
		return
	}
	proof := ""
	if !q.Category.Protected() {
		proof = x.addedQuote(q, w.Quote)
	}
	switch {
	case q.found != nil:
		if w.State == precedent.StillThere {
			q.answer.Reply = reply
		}
		return // a finder found it again, so it is there
	case w.State == precedent.StillThere:
		q.decide(precedent.StillThere, decidedByEngine, "the engine compared it with the head")
	case w.State == precedent.Addressed && q.provenChange():
		q.decide(precedent.Addressed, decidedByEngine, "the flagged lines changed")
		x.takeAwayThread(q, match.Flagged(q.remark.Quote))
	case w.State == precedent.NoLonger && q.deletedComment && q.provenChange():
		q.decide(precedent.NoLonger, decidedByEngine, "the flagged lines are gone")
		x.takeAwayThread(q, match.Flagged(q.remark.Quote))
	case w.State != precedent.DeclinedHere && proof != "":
		q.decide(w.State, decidedByEngine, "the push added: %q", text.Cut(proof, maxProof))
		x.takeAwayThread(q, proof)
	case w.State == precedent.DeclinedHere:
		q.decide(precedent.StillThere, decidedByPlace,
			"the engine says that it was dismissed, but nobody who may dismiss it wrote the words that it quotes")
		if q.waits() {
			q.answer.Reply = mayNotDismiss
		}
		return
	case q.changed:
		q.decide(precedent.StillThere, decidedByPlace,
			"the engine says %s, but the flagged lines changed only in comments and white space, and no added line shows it",
			w.State)
		return
	default:
		q.decide(precedent.StillThere, decidedByPlace,
			"the engine says %s, but the flagged lines are still there, and no added line shows it", w.State)
		return
	}
	q.answer.Reply = reply
}

// addedQuote returns the quote if the push added the code of each of its lines: what a
// change says about itself proves nothing, nor does a line that it only moved. If the
// finding is severe, one of the lines must be about the finding's own code.
func (x *reader) addedQuote(q *inquiry, quote string) string {
	since := x.in.Since
	quote = firstLines(quote)
	if since == nil || since.Changed == nil || onlyComment(quote) {
		return ""
	}
	long, bears := false, !isSevere(q.remark.Severity)
	for l := range strings.Lines(quote) {
		l = strings.TrimPrefix(strings.TrimSpace(l), "+")
		if text.Squeeze(l) == "" {
			continue
		}
		added := addedAt(since.Changed, l)
		if len(added) == 0 {
			return ""
		}
		long = long || len(text.Squeeze(l)) >= substringMin
		bears = bears || slices.ContainsFunc(added, func(e precedent.Evidence) bool { return x.src.bears(&q.remark, e) })
	}
	if !long || !bears {
		return ""
	}
	return oneLine(quote)
}

// maxAdded bounds the places of one added line that are looked at.
const maxAdded = 20

// addedAt returns where a change adds a line, ignoring white space. A line of which it
// deletes the same code as often, whatever the comments, is not added.
func addedAt(c *diff.Change, line string) []precedent.Evidence {
	var added []precedent.Evidence
	want, balance := text.Squeeze(line), 0
	for i := range c.Files {
		f := &c.Files[i]
		code := func(s string) string { return text.Squeeze(text.CodeLines(f.Path, []string{s})[0]) }
		core := code(line)
		for h := range f.Hunks {
			for _, l := range f.Hunks[h].Lines {
				switch {
				case l.Op == diff.Context || core == "" || !strings.Contains(text.Squeeze(l.Text), core) || code(l.Text) != core:
				case l.Op == diff.Delete:
					balance--
				default:
					balance++
					if text.Squeeze(l.Text) == want && len(added) < maxAdded {
						added = append(added, precedent.Evidence{Path: f.Path, Line: l.New, Quote: l.Text})
					}
				}
			}
		}
	}
	if balance <= 0 {
		return nil
	}
	return added
}

// mayNotDismiss is the reply to a person who may not dismiss the finding.
// It names the way that counts even where the forge does not tell who may write.
const mayNotDismiss = "Only people with write permission can dismiss a finding, and yours is not confirmed. It " +
	"stays open until one of them resolves this conversation."

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
