package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/markdown"
)

// learningsUsed lists the learnings that were cited or that changed a finding, each with who
// taught it, where and when, and counts what the finders were given.
func (n *markdownWriter) learningsUsed(r *precedent.Review) {
	used := r.Memory.LearningsUsed
	if given := learningsGiven(r.Memory.Learnings); given != "" || len(used) > 0 {
		n.line("**Learnings used (%d)**%s\n", len(used), because(given))
	}
	n.items(len(used), maxList, func(i int) string {
		l := used[i]
		source := n.phrase(originOf(l))
		if from := markdown.Address(l.URL, n.hosts); from != "" {
			source += " · " + from // a link would show on the pull request that it leads to
		}
		return fmt.Sprintf("Learning %s, %s: %s%s (%s)", markdown.Code(l.ID), n.phrase(kindOf(l.Does)), n.phrase(l.Text),
			why(n.phrase(l.Why)), source)
	})
	if len(used) > 0 {
		n.line("")
	}
}

// learningsPending lists what was said on the pull request and waits for approval, each with the command.
func (n *markdownWriter) learningsPending(r *precedent.Review) {
	waiting := r.Memory.LearningsPending
	if len(waiting) == 0 {
		return
	}
	n.line("**To be remembered, if somebody with write permission agrees (%d)**\n", len(waiting))
	n.items(len(waiting), maxList, func(i int) string {
		l := waiting[i]
		return fmt.Sprintf("%s: %s%s (%s). Approve: `@precedent approve %s`", n.phrase(kindOf(l.Does)), n.phrase(l.Text),
			why(n.phrase(l.Why)), n.phrase(l.Who), strings.Trim(markdown.Code(l.ID), "`"))
	})
	n.line("")
}

// writeLearnings lists the same on a terminal.
func writeLearnings(p *Page, r *precedent.Review) {
	used := r.Memory.LearningsUsed
	if len(used) == 0 {
		return
	}
	p.Line()
	p.Line(fmt.Sprintf("learnings used (%d):", len(used)))
	for _, l := range used {
		p.Say("  "+p.Ink(Faint, l.ID)+"  ", kindOf(l.Does)+": "+l.Text+why(l.Why))
		p.Para("              ", p.Ink(Faint, originOf(l)))
	}
}

func why(reason string) string { return after(". Why: ", reason) }

// learningsGiven counts what the finders were given; empty for nothing.
func learningsGiven(g precedent.LearningsGiven) string {
	if g.Rendered+g.Omitted == 0 {
		return ""
	}
	s := fmt.Sprintf("the finders were given %d (%s bytes)", g.Rendered, thousands(g.RenderedBytes))
	if g.Omitted > 0 {
		s += fmt.Sprintf(", %d more (%s bytes) did not fit", g.Omitted, thousands(g.OmittedBytes))
	}
	return s
}

// originOf says who taught a learning, when, for what, and what it did.
func originOf(l precedent.LearningUse) string {
	parts := []string{l.Who}
	if !l.At.IsZero() {
		parts = append(parts, l.At.UTC().Format(time.DateOnly))
	}
	parts = append(parts, cmp.Or(wideScopes[l.Scope], "this repository"))
	if l.Glob != "" {
		parts = append(parts, "in "+guide.Readable(l.Glob))
	}
	return strings.Join(append(parts, "for "+strings.Join(l.Findings[:min(len(l.Findings), maxRows)], ", ")), " · ")
}

// wideScopes are those for more than one repository, in words.
var wideScopes = map[precedent.LearningScope]string{
	precedent.OwnerScope: "all repositories of the owner", precedent.MeScope: "all repositories on this computer",
}

// kindOf is the kind of a learning in words.
func kindOf(k precedent.LearningKind) string {
	switch k {
	case precedent.LearnDontFlag:
		return "don't flag"
	case precedent.LearnStricter:
		return "be stricter"
	case precedent.LearnLenient:
		return "be lenient"
	}
	return string(k)
}

// Learnings lists learnings with their state and what became of them.
func Learnings(p *Page, all []precedent.Learning) {
	if len(all) == 0 {
		p.Line("Nothing was learned in this repository yet.")
		return
	}
	for i := range all {
		l := &all[i]
		p.Say(p.Ink(Bold, l.ID)+"  "+p.Ink(stateInk(l.State), string(l.State))+"  ", kindOf(l.Kind)+": "+l.Directive)
		said := learnedFrom(l) + " · " + used(l)
		if !l.ExpiresAt.IsZero() {
			said += " · until " + l.ExpiresAt.UTC().Format(time.DateOnly)
		}
		p.Para("            ", p.Ink(Faint, said))
	}
}

func used(l *precedent.Learning) string {
	return times(l.Used, "used") + ", " + times(l.Loaded, "loaded")
}

// Learning shows one learning whole.
func Learning(p *Page, l *precedent.Learning) {
	rows := [][2]string{
		{"id", l.ID},
		{"state", string(l.State)},
		{"kind", kindOf(l.Kind)},
		{"directive", l.Directive},
		{"why", l.Rationale},
		{"files", guide.Readable(l.Glob)},
		{"category", string(l.Category)},
		{"from", learnedFrom(l)},
		{"source", l.From.URL},
		{"words", l.From.Words},
		{"approved by", l.Approver},
		{"supersedes", l.Supersedes},
		{"contradicts", l.Contradicts},
		{"version", strconv.Itoa(l.Version)},
		{"used", used(l)},
	}
	if !l.ExpiresAt.IsZero() {
		rows = append(rows, [2]string{"until", l.ExpiresAt.UTC().Format(time.DateOnly)})
	}
	for _, row := range rows {
		if row[1] != "" {
			p.Say(p.Inkf(Faint, "%-12s", row[0]), row[1])
		}
	}
}

func learnedFrom(l *precedent.Learning) string {
	s := fmt.Sprintf("%s on %s", l.From.Who, l.CreatedAt.UTC().Format(time.DateOnly))
	if l.From.PullRequest > 0 {
		s += fmt.Sprintf(", #%d", l.From.PullRequest)
	}
	switch {
	case wideScopes[l.Scope] != "":
		s += ", for " + wideScopes[l.Scope]
	case l.PullRequest > 0:
		s += fmt.Sprintf(", for #%d only", l.PullRequest)
	}
	if l.Glob != "" {
		s += ", in " + guide.Readable(l.Glob)
	}
	return s
}

func stateInk(s precedent.LearningState) Ink {
	switch s {
	case precedent.LearningActive:
		return Green
	case precedent.LearningPending:
		return Yellow
	}
	return Faint
}
