package report

import (
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/markdown"
)

// takenHow is the wording of how a finding was taken away, by the reason or the state; the
// word itself for others.
var takenHow = map[string]string{
	string(precedent.Duplicate): "the same as another finding",
	string(precedent.Dismissed): "the same as a dismissed finding",
}

func howTaken(t precedent.TakenAway) string {
	if words, ok := takenHow[t.How]; ok {
		return words
	}
	return answerWords(precedent.AnswerState(t.How))
}

// reasonOf is why the model took a finding away, without the finding's place, which is shown already.
func reasonOf(t precedent.TakenAway) string { return strings.TrimSuffix(t.Why, " ("+t.String()+")") }

// writeTaken lists the findings of high or critical severity that a model's answer ended.
func writeTaken(p *Page, r *precedent.Review) {
	if len(r.TakenAway) == 0 {
		return
	}
	p.Line()
	p.Line("high or critical findings that the model left out or closed:")
	for _, t := range r.TakenAway {
		p.Para("  "+p.Ink(severityInk(t.Severity), string(t.Severity))+"  "+p.Ink(Faint, t.Finding)+"  ",
			p.Ink(Cyan, t.String())+"  "+p.Ink(Plain, t.Title))
		p.Say("              ", howTaken(t)+because(reasonOf(t)))
		if t.Quote != "" {
			p.Para("              ", p.Ink(Faint, "quote: "+t.Quote))
		}
	}
}

// taken lists the findings of high or critical severity that a model's answer ended, with
// the quote.
func (n *markdownWriter) taken(r *precedent.Review) {
	if len(r.TakenAway) == 0 {
		return
	}
	n.line("**High or critical findings that the model left out or closed** (%d):\n", len(r.TakenAway))
	n.items(len(r.TakenAway), maxList, func(i int) string {
		t, quote := r.TakenAway[i], ""
		if t.Quote != "" {
			quote = fmt.Sprintf(" It quotes %s.", markdown.Code(t.Quote))
		}
		return fmt.Sprintf("%s at %s: %s (%s%s)%s", n.phrase(string(t.Severity)), markdown.Code(t.String()), n.phrase(t.Title),
			howTaken(t), because(n.phrase(reasonOf(t))), quote)
	})
	n.line("")
}
