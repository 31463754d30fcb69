package lint

import (
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Confidence of the findings of Go analyzers, in percent: the chance that a team wants
// to be told. With the default threshold of 75, what is below is not shown.
const (
	// goTestSure is for the analyzers that go test runs, which the Go project chose
	// because they are nearly always right (go help test, go help vet).
	goTestSure = 90
	vetSure    = 85
	// inTest is subtracted in files of tests, which do wrong things on purpose. Outside
	// of the rules below, 1 of 8 such findings was wanted.
	inTest = 25
)

// goTestAnalyzers are the analyzers that go test runs, and those about tests.
var goTestAnalyzers = map[string]bool{
	"atomic": true, "bools": true, "buildtag": true, "directive": true, "errorsas": true, "ifaceassert": true,
	"nilfunc": true, "printf": true, "slog": true, "stringintconv": true, "tests": true, "testinggoroutine": true,
	"waitgroup": true,
}

// compositesSure is for unkeyed literals. Of 130 such findings in the code of 70 Go modules and in 120
// ranges of the histories of age, river and oscar, none was wanted: all were about literals of the own module.
const compositesSure = 30

// goConfidenceOf returns the confidence of an analyzer's finding.
func goConfidenceOf(analyzer, path string) int {
	switch {
	case analyzer == "composites":
		return compositesSure
	case goTestAnalyzers[analyzer]:
		return goTestSure
	case isGoTest(path):
		return vetSure - inTest
	}
	return vetSure
}

// isGoTest reports whether a Go file is of tests, or in a package of support for tests.
func isGoTest(path string) bool {
	return strings.HasSuffix(path, "_test.go") || testPackage().MatchString(path)
}

// testPackage matches files in folders of tests, such as test and testutil.
var testPackage = text.Pattern(`(^|/)(tests?|testing|test[-_]?(utils?|kit|helpers?|support|lib|common|cases?))/`)

// severityOf returns the severity of a Go analyzer's finding: in tests, what is high
// elsewhere breaks no user's program.
func severityOf(severity precedent.Severity, path string) precedent.Severity {
	if isGoTest(path) && severity.AtLeast(precedent.High) {
		return precedent.Medium
	}
	return severity
}
