package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestSummary reads what go test -json says of packages of each kind.
func TestSummary(t *testing.T) {
	const events = `{"Action":"start","Package":"a.test/one"}
{"Action":"run","Package":"a.test/one","Test":"TestGood"}
{"Action":"output","Package":"a.test/one","Test":"TestGood","Output":"    x_test.go:1: quiet\n"}
{"Action":"pass","Package":"a.test/one","Test":"TestGood","Elapsed":2.5}
{"Action":"output","Package":"a.test/one","Test":"TestTool","Output":"=== RUN   TestTool\n"}
{"Action":"output","Package":"a.test/one","Test":"TestTool","Output":"    x_test.go:12: needs a tool (make deps fetches it)\n"}
{"Action":"output","Package":"a.test/one","Test":"TestTool","Output":"    testscript.go:5: WORK=$WORK\n"}
{"Action":"output","Package":"a.test/one","Test":"TestTool","Output":"--- SKIP: TestTool (0.00s)\n"}
{"Action":"skip","Package":"a.test/one","Test":"TestTool","Elapsed":0}
{"Action":"output","Package":"a.test/one","Test":"TestOther","Output":"    x_test.go:14: does not apply\n"}
{"Action":"skip","Package":"a.test/one","Test":"TestOther","Elapsed":0}
{"Action":"output","Package":"a.test/one","Output":"PASS\n"}
{"Action":"output","Package":"a.test/one","Output":"ok  \ta.test/one\t0.2s\n"}
{"Action":"pass","Package":"a.test/one","Elapsed":0.2}
{"Action":"output","Package":"a.test/two","Test":"TestBad/sub","Output":"    y_test.go:3: wrong\n"}
{"Action":"fail","Package":"a.test/two","Test":"TestBad/sub","Elapsed":0}
{"Action":"fail","Package":"a.test/two","Test":"TestBad","Elapsed":0}
{"Action":"output","Package":"a.test/two","Test":"TestHangs","Output":"panic: test timed out\n"}
{"Action":"output","Package":"a.test/two","Output":"FAIL\ta.test/two\t9s\n"}
{"Action":"fail","Package":"a.test/two","Elapsed":9}
{"ImportPath":"a.test/three","Action":"build-output","Output":"z.go:1: syntax error\n"}
{"ImportPath":"a.test/three","Action":"build-fail"}
{"Action":"output","Package":"a.test/three","Output":"FAIL\ta.test/three [build failed]\n"}
{"Action":"fail","Package":"a.test/three","Elapsed":0,"FailedBuild":"a.test/three"}
no event`
	const want = `ok  	a.test/one	0.2s
    y_test.go:3: wrong
panic: test timed out
FAIL	a.test/two	9s
z.go:1: syntax error
FAIL	a.test/three [build failed]
no event
failed:
  a.test/two TestBad/sub
  a.test/two TestBad

slowest:
    2.5 s  a.test/one TestGood

skipped:
  a.test/one: 1, needs a tool (make deps fetches it)
    TestTool
  a.test/one: 1, does not apply
    TestOther

1 passed, 2 failed, 2 skipped in 0s
`
	var out strings.Builder
	s := newSummary(&out, time.Now)
	for line := range strings.Lines(events) {
		s.line(line)
	}
	s.end()
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestStatus: a failure and trouble are no success.
func TestStatus(t *testing.T) {
	for args, want := range map[string]int{"-run=^$ .": 0, "-run=^$ ./no/such/package": 1} {
		var out strings.Builder
		if got := run(strings.Fields(args), &out, &out); got != want {
			t.Errorf("go test %s: status %d, want %d\n%s", args, got, want, out.String())
		}
	}
}

// TestBeat: after some silence it is said what is running.
func TestBeat(t *testing.T) {
	var out strings.Builder
	now := time.Now()
	s := newSummary(&out, func() time.Time { return now })
	s.take(event{Action: "run", Package: "a.test/one", Test: "TestSlow"})
	now = now.Add(silence - time.Second)
	s.beat()
	if out.Len() > 0 {
		t.Errorf("too early: %s", out.String())
	}
	now = now.Add(time.Second)
	s.take(event{Action: "run", Package: "a.test/one", Test: "TestOther"})
	s.beat()
	s.beat()
	if want := "… 15s: a.test/one TestSlow, for 15s, and 1 more\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// TestResume: a test that has passed does not run again, and a package that has passed is not tested again.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module a.test/one\n",
		"a_test.go": `package one
import ("os"; "testing")
func TestGood(t *testing.T) { f, _ := os.OpenFile("ran", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); f.WriteString("x"); f.Close() }
func TestBad(t *testing.T) { if _, err := os.Stat(".results/mended"); err != nil { t.Fatal(err) } }
`,
		".gitignore": "ran\n.results\n",
	} {
		needs.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	t.Chdir(dir)
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@a.test", "commit", "-q", "--allow-empty", "-m", "a"}} {
		if _, err := output("git", args...); err != nil {
			t.Fatal(err)
		}
	}
	resume := func(want int, part string) {
		t.Helper()
		var out strings.Builder
		if got := run([]string{"-resume", ".results", "-count=1", "./..."}, &out, &out); got != want || !strings.Contains(out.String(), part) {
			t.Errorf("status %d, want %d, and %q in\n%s", got, want, part, out.String())
		}
	}
	resume(1, "1 passed, 1 failed")
	needs.NoError(t, os.WriteFile(filepath.Join(dir, ".results", "mended"), nil, 0o600))
	resume(0, "1 tests have passed before")
	resume(0, "2 passed, 0 failed")
	if ran, err := os.ReadFile("ran"); string(ran) != "x" {
		t.Errorf("TestGood ran %d times, %v", len(ran), err)
	}
}
