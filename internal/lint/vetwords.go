package lint

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent"
)

// vetText describes the findings of an analyzer: category, severity, why they matter
// and what to do.
type vetText struct {
	category precedent.Category
	severity precedent.Severity
	why      string
}

// vetTextFor returns the description of a go vet analyzer.
func vetTextFor(analyzer string) vetText {
	if w, ok := vetTable()[analyzer]; ok {
		return w
	}
	return vetText{precedent.Bugs, precedent.Medium, "The code probably does not do what was intended."}
}

// vetWords has a paragraph for each analyzer, below a line with its name, category and severity: high for code that
// breaks whenever the line runs, medium if it depends on the situation, and low if it only misleads readers.
//
//go:embed vetwords.txt
var vetWords string

// vetTable is vetWords by analyzer.
var vetTable = sync.OnceValue(func() map[string]vetText {
	table := map[string]vetText{}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(vetWords), "\n\n") {
		head, why, _ := strings.Cut(paragraph, "\n")
		f := strings.Fields(head)
		table[f[0]] = vetText{precedent.Category(f[1]), precedent.Severity(f[2]), strings.ReplaceAll(why, "\n", " ")}
	}
	return table
})
