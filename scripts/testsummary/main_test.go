package main

import (
	"strings"
	"testing"
	"time"

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
	needs.Equal(t, want, out.String())
}
