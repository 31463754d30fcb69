package prompt

import (
	"fmt"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Bounds of what finders are told of the comments of people.
const (
	mostNorms     = 8
	maxNormTokens = 1_200 // of all norms together, in a large context window
	maxNorm       = 800   // characters of one
	mostNormPulls = 3
	maxLogin      = 40 // characters
)

// Norm is what people asked for in reviews of earlier pull requests. Its secrets must be redacted.
type Norm struct {
	Text  precedent.Untrusted
	Pulls []int  // the pull requests
	Path  string // a file that it was about; empty for none
	By    string // the login of who said it first; empty if it is unknown
	At    time.Time
}

// renderNorms renders the norms that fit, a line each, and returns how many these are.
func renderNorms(norms []Norm, window int) (block string, shown int) {
	var lines []string
	left := roomIn(window, maxNormTokens)
	for _, n := range norms {
		line := n.render()
		size := Tokens(line + "\n")
		if line == "" || size > left || len(lines) == mostNorms {
			continue
		}
		left -= size
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"), len(lines)
}

// render returns the norm as one line; empty if it has no words.
func (n *Norm) render() string {
	words := prose(n.Text, maxNorm)
	if words == "" {
		return ""
	}
	var from []string
	if n.By != "" {
		from = append(from, text.Cut(text.VisibleLine(n.By), maxLogin))
	}
	if !n.At.IsZero() {
		from = append(from, n.At.UTC().Format(time.DateOnly))
	}
	switch pulls := n.Pulls[:min(len(n.Pulls), mostNormPulls)]; len(pulls) {
	case 0:
	case 1:
		from = append(from, fmt.Sprintf("pull request %d", pulls[0]))
	default:
		from = append(from, "pull requests "+strings.Trim(strings.ReplaceAll(fmt.Sprint(pulls), " ", ", "), "[]"))
	}
	if n.Path != "" {
		from = append(from, text.Cut(text.VisibleLine(n.Path), maxPath))
	}
	line := "- " + words
	if len(from) > 0 {
		line += " (" + strings.Join(from, ", ") + ")"
	}
	return line
}

// CommentPair is a finding and an earlier comment of a person that may make the same point; where is what that is about:
// path:line, or the pull request.
func CommentPair(id string, finding Remark, comment precedent.Untrusted, where string) Pair {
	said := cleanProse(string(comment))
	return Pair{
		id, finding.render("finding") + "\n\nThe person's comment, on " + text.VisibleLine(where) + ":\n" + said,
		[]string{said},
	}
}

// Precedents returns the prompt of a judge about at most MostPairs pairs of CommentPair.
func Precedents(pairs []Pair) Prompt { return judgement("precedent.md", pairs) }
