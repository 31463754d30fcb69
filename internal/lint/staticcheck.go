package lint

import (
	"cmp"
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

// suite is a set of Go analyzers, by the name of the analyzer that reports their
// findings.
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

// reportedByVet are the staticcheck checks that go vet fully covers: waitgroup,
// testinggoroutine, unmarshal, sigchanyzer, assign, printf.
var reportedByVet = []string{"SA2000", "SA2002", "SA1014", "SA1017", "SA4018", "SA5009"}

// staticChecks are the checks for correctness and performance (SA) that staticcheck
// runs by default, except those that go vet covers. The other groups (S, ST, QF) are
// about style. U1000 (unused code) would need the whole program.
var staticChecks = sync.OnceValue(func() map[string]*static.Analyzer {
	all := map[string]*static.Analyzer{}
	for _, a := range staticcheck.Analyzers {
		if name := a.Analyzer.Name; !a.Doc.NonDefault && !slices.Contains(reportedByVet, name) {
			all[name] = a
		}
	}
	return all
})

// alsoByVet matches what the analyzer structtag of go vet reports on the same line.
var alsoByVet = lazily(`^SA5008: (unexported struct field|duplicate|malformed|struct tag)`)

// An assignment of several values at once often needs only one of them. An error is the
// one that must not be forgotten.
var (
	oneOfSeveral = lazily(`^\s*\w+(, *\w+)+ *:?= `)
	unusedValue  = lazily(`^this value of ([^e]|e[^r]|er[^r])\w* is never used$`)
)

// panicChecks are the checks for code that panics when the line runs.
var panicChecks = []string{"SA5000", "SA5007", "SA1000", "SA1020", "SA1021", "SA1028"}

// staticFinding converts a diagnostic of a staticcheck check to a finding.
func staticFinding(f *diff.File, l diff.Line, d vetDiagnostic) precedent.Finding {
	out := newFinding(f, precedent.Right, l)
	out.Confidence, out.Rule = goConfidenceOf(staticSuite, d.Analyzer, f.Path), d.Analyzer
	if alsoByVet().MatchString(d.Analyzer+": "+d.Message) || oneOfSeveral().MatchString(l.Text) && unusedValue().MatchString(d.Message) {
		out.Confidence = min(out.Confidence, goConfidence["SA1006"])
	}
	out.Category, out.Severity = staticWords(d.Analyzer)
	out.Severity = severityOf(out.Severity, f.Path)
	said := cmp.Or(d.Message, "staticcheck reports "+d.Analyzer)
	out.Title = title(said)
	why := "The code probably does not do what was intended."
	if a := staticChecks()[d.Analyzer]; a != nil {
		doc := a.Doc.Compile()
		first, _, _ := strings.Cut(doc.Text, "\n\n") // then come lists and examples
		if why = sentence(doc.Title); first != "" {
			why += " " + strings.Join(strings.Fields(first), " ")
		}
	}
	out.Body = fmt.Sprintf("%s\n\n%s\n\nFound by the staticcheck check %s: https://staticcheck.dev/docs/checks/#%s", sentence(said), why, d.Analyzer, d.Analyzer)
	return out
}

// staticWords returns the category and severity of a check, by its number.
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
	case slices.Contains(panicChecks, check):
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
