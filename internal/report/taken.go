package report

import (
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/markdown"
)

// takenHow is the wording of how a finding was taken away, by the reason or the state; the
// word itself for others.
var takenHow = map[string]string{
	string(precedent.Duplicate): "merged into another finding",
	string(precedent.Dismissed): "recognized as a dismissed finding",
}

func howTaken(t precedent.TakenAway) string {
	if words, ok := takenHow[t.How]; ok {
		return words
	}
	return answerWords(precedent.AnswerState(t.How))
}

// writeTaken lists the findings of high or critical severity that a model's answer ended.
func writeTaken(p *Page, r *precedent.Review) {
	if len(r.TakenAway) == 0 {
		return
	}
	p.Line()
	p.Line("high or critical, and ended by a model's answer:")
	for _, t := range r.TakenAway {
		p.Para("  "+p.Ink(severityInk(t.Severity), string(t.Severity))+"  "+p.Ink(Faint, t.Finding)+"  ", p.Ink(Cyan, t.String())+"  "+p.Ink(Plain, t.Title))
		p.Para("              ", p.Ink(Plain, howTaken(t)+because(t.Why)))
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
	n.line("**High or critical, and ended by a model's answer**: %s.\n", Plural(len(r.TakenAway), "finding"))
	shown := 0
	for shown < min(len(r.TakenAway), maxRows) && n.Len() < maxList {
		t := r.TakenAway[shown]
		shown++
		quote := ""
		if t.Quote != "" {
			quote = fmt.Sprintf(" Quote: %s", markdown.Code(t.Quote))
		}
		n.line("- %s at %s: %s (%s%s)%s", n.phrase(string(t.Severity)), markdown.Code(t.String()), n.phrase(t.Title), howTaken(t), because(n.phrase(t.Why)), quote)
	}
	if left := len(r.TakenAway) - shown; left > 0 {
		n.line("- and %s more", thousands(left))
	}
	n.line("")
}
