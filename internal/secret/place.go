package secret

import (
	"path"
	"slices"
	"strings"
)

// placed is what a file is for, by its path. Keys of tests and documentation rarely open anything.
type placed int

const (
	inProduct placed = iota
	inDocs           // documentation, examples, templates to be filled in
	inTests          // code of tests, and what lies beside it
	inFixture        // data of tests: fixtures, vectors, recorded or expected output
)

var (
	fixtureDirs = wordSet("testdata test-data test_data fixtures fixture __fixtures__ __snapshots__ snapshots golden goldens expected vectors test-vectors test_vectors testvectors cassettes " +
		"cassette vcr_cassettes recordings mocks __mocks__ wycheproof stubs wiremock")
	testDirs = wordSet("spec specs e2e testing unittests testutil testutils testfixtures testkit testlib testhelper testhelpers testsupport testcommon testcase testcases testrig testbed testsuite testenv inttest qa")
	docDirs  = wordSet("doc docs documentation man manual examples example samples sample tutorial tutorials demo demos")
	// fixtureTypes and docTypes are extensions.
	fixtureTypes = wordSet(".golden .snap .vec .vectors .approved .received .expected .out .har .cassette .ambr")
	docTypes     = wordSet(".md .mdx .markdown .rst .adoc .asciidoc .ronn .pod .rdoc .tex .texi .1 .2 .3 .4 .5 .6 .7 .8 .ipynb")
)

// vectorFile matches the names of files of test vectors.
var vectorFile = compile(`(?:^|[._-])(?:test[._-]?)?vectors?(?:[._-]|$)`)

// dotnetTests matches a path in a project of tests as .NET and Xcode name it: App.Tests, App.UnitTests, App.Tests.Web,
// AppTests. In lower case, it could be a domain.
var dotnetTests = compile(`(?:^|/)\w[\w.]*(?:\.(?:Unit|Integration|Functional|Acceptance)?Tests?(?:\.\w+)*|[a-z\d](?:UI)?Tests)/`)

// The words of folders and files in lower case: test_resources, integration-tests, server-example.key. The parts of a
// domain are not such words.
var (
	testDir     = compile(`(?:^|[-_])tests?(?:[-_]|$)`)
	exampleFile = compile(`(?:^|[-_])(?:examples?|sample)(?:[-_]|$)`)
)

// placeOf returns what a file is for.
func placeOf(name string) placed {
	dotnet := dotnetTests().MatchString(name)
	name = strings.ToLower(name)
	dir, base := path.Split(name)
	ext := path.Ext(base)
	if fixtureTypes[ext] || vectorFile().MatchString(base) {
		return inFixture
	}
	result := inProduct
	for d := range strings.SplitSeq(dir, "/") {
		switch {
		case fixtureDirs[d]:
			return inFixture
		case testDirs[d], testDir().MatchString(d):
			result = inTests
		case docDirs[d]:
			result = max(result, inDocs)
		}
	}
	perl := strings.HasPrefix(name, "t/") || ext == ".t"
	if dotnet || perl || ext == ".test" || ext == ".testing" || isTestName(strings.TrimSuffix(base, ext)) {
		result = inTests
	}
	if result == inProduct && (docTypes[ext] || template().MatchString(base) || isDocName(base) ||
		exampleFile().MatchString(strings.TrimSuffix(base, ext))) {
		return inDocs
	}
	return result
}

// IsTest reports whether a file is of tests, by the habits of common languages.
func IsTest(path string) bool { return placeOf(path) == inTests }

// isTestName reports whether the name of a file, without its extension and in lower
// case, is that of tests: a_test, a.spec, test_a, a-tests, ATest, AIT.
func isTestName(base string) bool {
	for _, end := range []string{
		"_test", "_tests", ".test", ".tests", ".spec", "_spec", "-test", "-tests", "-spec",
		".e2e", "test", "tests", "testcase", "_mock", ".mock", ".fixture", "_fixtures", "conftest",
	} {
		if strings.HasSuffix(base, end) && !strings.HasSuffix(base, "latest") && !strings.HasSuffix(base, "contest") &&
			!strings.HasSuffix(base, "attest") {
			return true
		}
	}
	return slices.ContainsFunc([]string{"test_", "test-", "mock_", "mock-", "phpunit"}, func(start string) bool {
		return strings.HasPrefix(base, start)
	})
}

func isDocName(base string) bool {
	starts := []string{"readme", "changelog", "changes", "news."}
	if ext := path.Ext(base); ext == "" || ext == ".txt" { // else it can be code
		starts = append(starts, "contributing", "contributions", "contributors", "license", "licence", "copying", "authors")
	}
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(base, start) })
}
