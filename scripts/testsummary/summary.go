package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

type test struct{ pkg, name string }

func (t test) String() string { return strings.TrimPrefix(t.pkg, module) + " " + t.name }

// reason is why tests of a package were skipped.
type reason struct{ pkg, why string }

// timed is a test and how long it took.
type timed struct {
	test
	took time.Duration
}

// summary is what is known about the tests so far.
type summary struct {
	out     io.Writer
	now     func() time.Time
	began   time.Time
	last    time.Time // something was printed
	passed  int       // tests and subtests
	failed  []test
	printed map[test][]string
	running map[test]time.Time // since when; without subtests
	skipped map[reason][]string
	slowest []timed // top-level tests
}

func newSummary(out io.Writer, now func() time.Time) *summary {
	return &summary{
		out: out, now: now, began: now(), last: now(),
		printed: map[test][]string{}, running: map[test]time.Time{}, skipped: map[reason][]string{},
	}
}

func (s *summary) print(format string, args ...any) {
	s.last = s.now()
	fmt.Fprintf(s.out, format, args...)
}

// beat says what is running if nothing was printed for some time.
func (s *summary) beat() {
	now := s.now()
	if now.Sub(s.last) < silence {
		return
	}
	all := slices.SortedFunc(maps.Keys(s.running), func(a, b test) int { return s.running[a].Compare(s.running[b]) })
	said := ", no test yet"
	if len(all) > 0 {
		said = fmt.Sprintf(": %s, for %s", all[0], rounded(now.Sub(s.running[all[0]])))
	}
	if more := len(all) - 1; more > 0 {
		said += fmt.Sprintf(", and %d more", more)
	}
	s.print("… %s%s\n", rounded(now.Sub(s.began)), said)
}

func rounded(d time.Duration) time.Duration { return d.Round(time.Second) }

// take counts an event, and prints the output of a failure.
func (s *summary) take(e event) {
	t := test{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		s.print("%s", e.Output)
		return
	case "output":
		s.printed[t] = append(s.printed[t], e.Output)
		return
	case "run", "cont":
		if e.Test != "" && !strings.Contains(e.Test, "/") {
			s.running[t] = s.now()
		}
		return
	case "pause":
		delete(s.running, t)
		return
	case "pass", "fail", "skip":
	default:
		return
	}
	output := s.printed[t]
	delete(s.printed, t)
	delete(s.running, t)
	if e.Test != "" && !strings.Contains(e.Test, "/") {
		s.slowest = append(s.slowest, timed{t, time.Duration(e.Elapsed * float64(time.Second))})
	}
	switch {
	case e.Test == "":
		s.endPackage(e, output)
	case e.Action == "pass":
		s.passed++
	case e.Action == "fail":
		s.failed = append(s.failed, t)
		s.print("%s", strings.Join(output, ""))
	default:
		r := reason{e.Package, why(output)}
		s.skipped[r] = append(s.skipped[r], e.Test)
	}
}

// endPackage prints the line of a package, and all output if it failed, including
// that of unfinished tests.
func (s *summary) endPackage(e event, output []string) {
	for t := range s.running {
		if t.pkg == e.Package {
			delete(s.running, t)
		}
	}
	if e.Action == "fail" {
		for t, lines := range s.printed {
			if t.pkg == e.Package {
				s.print("%s", strings.Join(lines, ""))
				delete(s.printed, t)
			}
		}
	}
	for _, line := range output {
		if e.Action == "fail" || strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "?   \t") {
			s.print("%s", line)
		}
	}
}

// place matches the position before a test's message.
var place = regexp.MustCompile(`^\s+\S+\.go:\d+: `)

// why returns the message of a skipped test.
func why(output []string) string {
	said := ""
	for _, line := range output {
		if at := place.FindString(line); at != "" && !strings.HasPrefix(said, "needs ") { // a story's log comes after its reason
			said = strings.TrimSpace(line[len(at):])
		} else if text := strings.TrimSpace(line); said == "" && text != "" && !strings.HasPrefix(text, "===") && !strings.HasPrefix(text, "---") {
			said = text
		}
	}
	return cmp.Or(said, "no reason given")
}

// module is the prefix that is omitted from package names.
const module = "github.com/precedent-dev/precedent/"

// The ends of lists: skipped tests of one reason, and slow tests.
const (
	mostSkipped = 12
	mostSlow    = 10
)

// end prints the failed tests, the slowest, and what was skipped, missing requirements first, and the counts.
func (s *summary) end() {
	if len(s.failed) > 0 {
		s.print("\nfailed:\n")
	}
	for _, t := range s.failed {
		s.print("  %s\n", t)
	}
	slices.SortStableFunc(s.slowest, func(a, b timed) int { return cmp.Compare(b.took, a.took) })
	if len(s.slowest) > 0 && s.slowest[0].took >= time.Second {
		s.print("\nslowest:\n")
	}
	for _, t := range s.slowest[:min(len(s.slowest), mostSlow)] {
		if t.took >= time.Second {
			s.print("  %5.1f s  %s\n", t.took.Seconds(), t.test)
		}
	}
	reasons := slices.SortedFunc(maps.Keys(s.skipped), func(a, b reason) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.why, b.why))
	})
	skipped := 0
	if len(reasons) > 0 {
		s.print("\nskipped:\n")
	}
	for _, r := range reasons {
		names := s.skipped[r]
		skipped += len(names)
		s.print("  %s: %d, %s\n", strings.TrimPrefix(r.pkg, module), len(names), r.why)
		s.print("    %s\n", strings.Join(names[:min(len(names), mostSkipped)], " "))
		if more := len(names) - mostSkipped; more > 0 {
			s.print("    and %d more\n", more)
		}
	}
	s.print("\n%d passed, %d failed, %d skipped in %s\n", s.passed, len(s.failed), skipped, rounded(s.now().Sub(s.began)))
}

// rank sorts missing requirements before tests that do not apply.
func rank(r reason) int {
	if strings.HasPrefix(r.why, "needs ") {
		return 0
	}
	return 1
}
