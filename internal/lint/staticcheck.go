package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/suite/vet"
	static "honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/staticcheck"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
)

// suite is a set of Go analyzers, by the name of the finder that shows what
// they find.
type suite string

const (
	vetSuite    suite = "govet"
	staticSuite suite = "staticcheck"
)

func (s suite) analyzers() []*analysis.Analyzer {
	if s == vetSuite {
		return vet.Suite
	}
	all := staticChecks()
	var list []*analysis.Analyzer
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, all[name].Analyzer)
	}
	return list
}

// reportedByVet are the checks of staticcheck that go vet's analyzers say as well,
// and no less: waitgroup, testinggoroutine, unmarshal, sigchanyzer, assign,
// printf.
var reportedByVet = []string{"SA2000", "SA2002", "SA1014", "SA1017", "SA4018", "SA5009"}

// staticChecks are the checks for correctness and speed (SA) that staticcheck
// itself runs unless told otherwise, but for those that vet has. Its other
// groups are about style: S, ST, QF. U1000 (unused code) would have to see the
// whole program.
var staticChecks = sync.OnceValue(func() map[string]*static.Analyzer {
	all := map[string]*static.Analyzer{}
	for _, a := range staticcheck.Analyzers {
		if name := a.Analyzer.Name; !a.Doc.NonDefault && !slices.Contains(reportedByVet, name) {
			all[name] = a
		}
	}
	return all
})

// crashing are the checks whose findings end the program when the line runs.
var crashing = []string{"SA5000", "SA5007", "SA1000", "SA1020", "SA1021", "SA1028"}

// staticFinding makes a finding of what a check of staticcheck says.
func staticFinding(f *diff.File, l diff.Line, d vetDiagnostic) precedent.Finding {
	out := at(f, precedent.Right, l)
	out.Confidence, out.Rule = staticSure, d.Analyzer
	out.Category, out.Severity = staticWords(d.Analyzer)
	out.Title = title(d.Message)
	why := "The code most likely does not do what it was written for."
	if a := staticChecks()[d.Analyzer]; a != nil {
		doc := a.Doc.Compile()
		first, _, _ := strings.Cut(doc.Text, "\n\n") // what follows are lists and examples
		if why = sentence(doc.Title); first != "" {
			why += " " + strings.Join(strings.Fields(first), " ")
		}
	}
	out.Body = fmt.Sprintf("%s\n\n%s\n\nFound by staticcheck's check %s: https://staticcheck.dev/docs/checks/#%s", sentence(d.Message), why, d.Analyzer, d.Analyzer)
	return out
}

// staticWords is what kind of trouble a check finds, by the groups of
// staticcheck's numbers, and how bad it calls that.
func staticWords(check string) (precedent.Category, precedent.Severity) {
	severity := precedent.Medium
	if a := staticChecks()[check]; a != nil {
		switch a.Doc.Severity {
		case static.SeverityError:
			severity = precedent.High
		case static.SeverityDeprecated, static.SeverityInfo, static.SeverityHint:
			severity = precedent.Low
		}
	}
	switch {
	case slices.Contains(crashing, check):
		return precedent.Crash, severity
	case check == "SA1019": // deprecated
		return precedent.Types, precedent.Low
	case strings.HasPrefix(check, "SA2"): // concurrency
		return precedent.Race, severity
	case strings.HasPrefix(check, "SA3"): // testing
		return precedent.Tests, severity
	case strings.HasPrefix(check, "SA6"):
		return precedent.Performance, precedent.Low
	}
	return precedent.Bugs, severity
}
