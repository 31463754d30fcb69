package lint

import (
	"context"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
)

const defective = `
-- go.mod --
module example.com/m

go 1.22
-- a.go --
package m

import (
	"errors"
	"fmt"
	"regexp"
	"time"
)

var re = regexp.MustCompile("a(b")

func f(p *int, d time.Duration) (int, error) {
	err := errors.New("a")
	err = errors.New("b")
	if p == nil {
		fmt.Println("nil")
	}
	fmt.Printf("%d\n", "x")
	time.Sleep(5)
	return *p, err
}

func g(x int) {
	if x < 0 {
	}
	x = x
}
`

// both runs the two finders of Go as a review does.
func bothGo(t *testing.T, in *Input) (vet, static Result) {
	t.Helper()
	for _, a := range All() {
		switch a.Name {
		case "govet":
			vet = a.Run(t.Context(), in)
		case "staticcheck":
			static = a.Run(t.Context(), in)
		}
	}
	for _, f := range static.Findings {
		checkFinding(t, "staticcheck", in.Change, f)
	}
	return vet, static
}

func TestStaticcheck(t *testing.T) {
	in := goInput(t, raceEnv(t), defective)
	trees := 0
	tree := in.Tree
	in.Tree = func(ctx context.Context) (string, error) { trees++; return tree(ctx) }
	vet, static := bothGo(t, in)
	same(t, vet, "a.go:18 printf medium", "a.go:26 assign medium")
	same(t, static, "a.go:10 SA1000 high", "a.go:13 SA4006 medium", "a.go:19 SA1004 medium")
	if trees != 1 {
		t.Errorf("the packages were loaded %d times for both", trees)
	}
	if f := static.Findings[0]; f.Category != precedent.Crash || !strings.Contains(f.Body, "https://staticcheck.dev/docs/checks/#SA1000") {
		t.Errorf("%+v", f)
	}
}

// TestStaticcheckOff: one that is not asked does not run, and the other does.
func TestStaticcheckOff(t *testing.T) {
	in := goInput(t, raceEnv(t), defective)
	in.Enabled = func(name string) bool { return name != "staticcheck" }
	if vet, static := bothGo(t, in); len(vet.Findings) != 2 || len(static.Findings) != 0 {
		t.Errorf("%+v, %+v", vet, static)
	}
	in.Enabled = func(name string) bool { return name != "govet" }
	if vet, static := bothGo(t, in); len(vet.Findings) != 0 || len(static.Findings) != 3 {
		t.Errorf("%+v, %+v", vet, static)
	}
}

func TestStaticcheckSkips(t *testing.T) {
	vet, static := bothGo(t, &Input{Change: added("a.txt", "x\n")})
	if vet.Status != precedent.StatusSkipped || static.Status != precedent.StatusSkipped || static.Error == "" {
		t.Errorf("%+v, %+v", vet, static)
	}
}

// TestStaticChecks: what is chosen are checks for correctness that exist, and
// those that go vet says as well are among staticcheck's own.
func TestStaticChecks(t *testing.T) {
	all := staticChecks()
	if len(all) < 80 {
		t.Errorf("%d checks", len(all))
	}
	for name := range all {
		if !strings.HasPrefix(name, "SA") {
			t.Errorf("%s is not a check for correctness", name)
		}
		c := change("a.go", "+x")
		f := staticFinding(&c.Files[0], c.Files[0].Hunks[0].Lines[0], vetDiagnostic{Suite: staticSuite, Analyzer: name, Message: "it is wrong"})
		f.Finder = "staticcheck"
		checkFinding(t, "staticcheck", c, f)
	}
	if all["SA2000"] != nil || all["SA9003"] != nil {
		t.Error("a check that vet has, or that staticcheck leaves off, is on")
	}
	for _, name := range panicChecks {
		if all[name] == nil {
			t.Errorf("%s is not a check", name)
		}
	}
}

// TestGoConfidence: what go vet says on the same line is not shown twice, and code that
// supports tests counts as tests.
func TestGoConfidence(t *testing.T) {
	for _, test := range []struct {
		rule, message, path, line string
		shown                     bool
	}{
		{"SA5008", "unexported struct field cannot have non-ignored `json:\"a\"` tag", "a.go", "+x", false},
		{"SA5008", "unknown JSON option \"omitemtpy\"", "a.go", "+x", true},
		{"SA1006", "printf-style function with dynamic format string", "a.go", "+x", false},
		{"SA4006", "this value of i is never used", "a.go", "+x", true},
		{"SA4006", "this value of rest is never used", "a.go", "+\tlast, rest := rest[:9], rest[9:]", false},
		{"SA4006", "this value of err is never used", "a.go", "+\tn, err := f()", true},
		{"SA4009", "argument err is overwritten before first use", "a.go", "+func f(err error) {", false},
		{"SA4006", "this value of i is never used", "a_test.go", "+x", false},
		{"SA4006", "this value of i is never used", "internal/testutil/a.go", "+x", false},
		{"SA4006", "this value of i is never used", "latest/a.go", "+x", true},
	} {
		c := change(test.path, test.line)
		f := staticFinding(&c.Files[0], c.Files[0].Hunks[0].Lines[0], vetDiagnostic{Analyzer: test.rule, Message: test.message})
		if (f.Confidence >= shownFrom) != test.shown {
			t.Errorf("%s %q in %s has confidence %d", test.rule, test.message, test.path, f.Confidence)
		}
	}
}
