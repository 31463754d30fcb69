package lint

import (
	"strings"

	static "honnef.co/go/tools/analysis/lint"

	"github.com/precedent-dev/precedent"
)

// Confidence of the findings of Go analyzers, in percent: the chance that a team wants
// to be told. With the default threshold of 75, what is below is not shown.
const (
	// goTestSure is for the analyzers that go test runs, which the Go project chose
	// because they are nearly always right (go help test, go help vet).
	goTestSure = 90
	vetSure    = 85
	// staticError is for checks that staticcheck gives the severity error: the code
	// cannot work. staticWarning is for all others.
	staticError   = 85
	staticWarning = 80
	// inTest is subtracted in files of tests, which do wrong things on purpose. Outside
	// of the rules below, 1 of 8 such findings was wanted.
	inTest = 25
)

// goTestAnalyzers are the analyzers that go test runs, and those about tests.
var goTestAnalyzers = map[string]bool{
	"atomic": true, "bools": true, "buildtag": true, "directive": true, "errorsas": true, "ifaceassert": true, "nilfunc": true,
	"printf": true, "slog": true, "stringintconv": true, "tests": true, "testinggoroutine": true, "waitgroup": true,
}

// goConfidence are rules that are wanted less often than others. The counts were taken
// by reading all findings in the code of 70 Go modules (those that golangci-lint 2.15
// needs, 740,000 lines) and in 120 ranges of the histories of age, river and oscar.
// "True" means that the analyzer states a fact that a team would not act upon.
var goConfidence = map[string]int{
	"composites": 30, // 0 of 130; all true, about literals of the own module
	"SA1019":     60, // 5 of 5 true, for lack of a replacement at the time
	"SA1006":     60, // 1 of 1 true, on a line that go vet printf reports
	"SA4009":     60, // 1 of 2; a parameter that an interface demands is reused
	"SA4011":     40, // 0 of 19; a break at the end of a case, as in C
	"SA4026":     60, // 12 true, all in one test
	"SA9002":     50, // 0 of 10; all in one generated file
	"SA9004":     60, // 7 true, where the constants' type did not matter
	// Checks of performance: 2 of 2 true, where performance did not matter.
	"SA6000": 60, "SA6001": 60, "SA6002": 60, "SA6003": 60, "SA6005": 60, "SA6006": 60,
}

// goConfidenceOf returns the confidence of a Go analyzer's finding.
func goConfidenceOf(s suite, rule, path string) int {
	if c, ok := goConfidence[rule]; ok {
		return c
	}
	c := vetSure
	switch {
	case goTestAnalyzers[rule]:
		return goTestSure
	case s == staticSuite:
		c = staticWarning
		if a := staticChecks()[rule]; a != nil && a.Doc.Severity == static.SeverityError {
			c = staticError
		}
	}
	aboutTests := strings.HasPrefix(rule, "SA3")
	if isGoTest(path) && !aboutTests {
		c -= inTest
	}
	return c
}

// isGoTest reports whether a Go file is of tests, or in a package of support for tests.
func isGoTest(path string) bool {
	return strings.HasSuffix(path, "_test.go") || testPackage().MatchString(path)
}

// testPackage matches files in folders of tests, such as test and testutil.
var testPackage = lazily(`(^|/)(tests?|testing|test[-_]?(utils?|kit|helpers?|support|lib|common|cases?))/`)

// severityOf returns the severity of a Go analyzer's finding: in tests, what is high
// elsewhere breaks no user's program.
func severityOf(severity precedent.Severity, path string) precedent.Severity {
	if isGoTest(path) && severity.AtLeast(precedent.High) {
		return precedent.Medium
	}
	return severity
}
