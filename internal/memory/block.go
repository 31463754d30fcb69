package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// Limits of the block in a prompt. A line takes some 100 bytes, so 4 KiB hold the history of
// about 40 files: more than a shard has.
const (
	maxBlock     = 4 << 10 // bytes, without insights
	maxBlockFile = 3 << 10 // bytes of it for the files
	maxBlockPath = 200     // characters
	// maxBlockWords bounds a claim and a reason, in characters: a sentence each.
	maxBlockWords = 160
)

// Block renders the recall for a prompt: which touched files had findings, how many, of which
// categories, how severe, and what people dismissed there, with their reasons. The words of
// people are one line each, cleaned and without secrets; the prompt fences the block. It omits
// titles and code of other findings. The active insights follow, by id. Equal recalls give
// equal blocks; without findings and insights the block is empty.
func (r Recall) Block() string {
	var b strings.Builder
	if len(r.Files) > 0 {
		r.writeHistory(&b)
	}
	if len(r.Insights) > 0 {
		r.writeInsights(&b)
	}
	return b.String()
}

// writeInsights lists the insights, at most maxRecalled, a line of some 400 bytes each: those that people's answers
// confirm before the others.
func (r Recall) writeInsights(b *strings.Builder) {
	heading := map[bool]string{
		true:  "Patterns in findings that people accepted across pull requests, each with its id:\n",
		false: "Seen before in several changes, not confirmed by a person:\n",
	}
	for _, confirmed := range []bool{true, false} {
		some := slices.DeleteFunc(slices.Clone(r.Insights), func(i precedent.Insight) bool {
			return (i.State != precedent.InsightCandidate) != confirmed
		})
		slices.SortFunc(some, func(a, b precedent.Insight) int { return cmp.Compare(a.ID, b.ID) })
		if len(some) > 0 {
			b.WriteString(heading[confirmed])
		}
		for _, i := range some {
			where, in := "all files", plural(len(i.PullRequests), "pull request")
			if i.Scope != "" {
				where = pathInLine(i.Scope)
			}
			if len(i.PullRequests) == 0 {
				in = plural(i.Changes, "change")
			}
			fmt.Fprintf(b, "- [%s] %s (%s in %s; %s)\n", text.VisibleLine(i.ID), inLine(i.Text, maxInsight+maxBlockPath),
				plural(len(i.Findings), "finding"), in, where)
		}
	}
}

func (r Recall) writeHistory(b *strings.Builder) {
	b.WriteString("Findings of earlier reviews in the files of this change, most first:\n")
	files := slices.SortedFunc(slices.Values(r.Files), byHeat)
	writeList(b, maxBlockFile, files, "files", func(h precedent.Hotspot) string {
		line := fmt.Sprintf("%s: %s (%s), worst %s", pathInLine(h.Path), plural(h.Findings, "finding"),
			categories(h.Categories), text.VisibleLine(string(h.TopSeverity)))
		if h.Dismissed > 0 {
			line += fmt.Sprintf(", %d dismissed by people", h.Dismissed)
		}
		return line
	})
	if dismissed := r.dismissedRemarks(); len(dismissed) > 0 {
		b.WriteString("People dismissed findings there; do not repeat such remarks without new evidence:\n")
		writeList(b, maxBlock, dismissed, "remarks", func(s string) string { return s })
	}
}

// dismissedRemarks lists, sorted, the file, symbol, category and claim of dismissed findings,
// and the person's reason.
func (r Recall) dismissedRemarks() []string {
	inFiles := map[string]bool{}
	for _, h := range r.Files {
		inFiles[h.Path] = true
	}
	counts := map[string]int{}
	for _, j := range r.Dismissals {
		if !inFiles[j.Path] {
			continue
		}
		place := pathInLine(j.Path)
		if j.Symbol != "" {
			place += " in " + pathInLine(j.Symbol)
		}
		remark := fmt.Sprintf("%s: %s", place, text.VisibleLine(string(j.Category)))
		if said := wordsInLine(j.Claim); said != "" {
			remark += fmt.Sprintf(", %q", said)
		}
		if why := wordsInLine(j.Reason); why != "" {
			remark += fmt.Sprintf(", because %q", why)
		}
		counts[remark]++
	}
	var lines []string
	for remark, n := range counts {
		if n > 1 {
			remark += ", " + plural(n, "time")
		}
		lines = append(lines, remark)
	}
	slices.SortFunc(lines, cmp.Compare[string])
	return lines
}

// writeList writes a line for each value until the block reaches the limit, and then the
// number of omitted values.
func writeList[T any](b *strings.Builder, limit int, values []T, what string, line func(T) string) {
	const rest = len("- and 1000000 more places\n")
	for i, v := range values {
		s := "- " + line(v) + "\n"
		if b.Len()+len(s)+rest > limit {
			fmt.Fprintf(b, "- and %d more %s\n", len(values)-i, what)
			return
		}
		b.WriteString(s)
	}
}

// wordsInLine makes what a person or a model wrote safe for one line.
func wordsInLine(s string) string { return inLine(s, maxBlockWords) }

// inLine makes text safe for one line, of at most so many characters. What is stored was clean, but the database may
// have been changed.
func inLine(s string, limit int) string {
	return text.Cut(text.VisibleLine(secret.RedactText(text.Collapse(text.Clean(s)))), limit)
}

// pathInLine makes a path, which the author of the change chose, safe for one line.
func pathInLine(path string) string {
	return text.Cut(text.VisibleLine(text.Clean(path)), maxBlockPath)
}

func categories(all []precedent.Category) string {
	var names []string
	for _, c := range all {
		names = append(names, text.VisibleLine(string(c)))
	}
	return strings.Join(names, ", ")
}

func plural(n int, noun string) string { return fmt.Sprintf("%d %s", n, nounFor(n, noun)) }
