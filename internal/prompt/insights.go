package prompt

import (
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// MostPatterns is the maximum number of patterns in one request, and MostMembers that of the
// findings of each.
const (
	MostPatterns = 20
	MostMembers  = 10
)

// maxTitle and maxPath bound what is shown of a finding, in characters.
const (
	maxTitle = 160
	maxPath  = 200
)

// PatternGroup is findings with similar titles.
type PatternGroup struct {
	ID      string
	Members []PatternMember
}

// PatternMember is what a request shows of one finding: no code, and no text but its title,
// whose secrets must be redacted.
type PatternMember struct {
	precedent.Finding
	Pulls   []int
	Decided string // by people, in our own words; may be empty
}

// Insights returns the prompt about at most MostPatterns groups.
func Insights(groups []PatternGroup) Prompt {
	var p page
	for _, g := range groups[:min(len(groups), MostPatterns)] {
		var b strings.Builder
		fmt.Fprintf(&b, "id: %s\n", text.VisibleLine(g.ID))
		for _, m := range g.Members[:min(len(g.Members), MostMembers)] {
			b.WriteString(m.render())
		}
		p.block("", "pattern", strings.TrimSpace(b.String()))
	}
	p.say(onlyJSON)
	return Prompt{System: load("insight.md"), Suffix: p.alone()}
}

func (m *PatternMember) render() string {
	var pulls []string
	for _, n := range m.Pulls[:min(len(m.Pulls), MostMembers)] {
		pulls = append(pulls, fmt.Sprintf("#%d", n))
	}
	s := fmt.Sprintf("\nfinding: %s\nfile: %s\nkind: %s, %s\n", text.VisibleLine(m.ID),
		text.Cut(text.VisibleLine(m.Path), maxPath),
		text.VisibleLine(string(m.Category)), text.VisibleLine(string(m.Severity)))
	if len(pulls) > 0 {
		s += "pull requests: " + strings.Join(pulls, ", ") + "\n"
	}
	if m.Decided != "" {
		s += "people: " + m.Decided + "\n"
	}
	return s + "title: " + text.Cut(text.VisibleLine(cleanLine(m.Title)), maxTitle) + "\n"
}
