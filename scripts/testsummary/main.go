// Command testsummary runs "go test" with its arguments. It prints one line per
// package and the output of failures, then lists what was skipped and why, and how
// many tests passed, failed and were skipped. It exits with go test's status.
//
// With -again and packages as its last arguments, it runs only the tests that do less with
// the race detector than without it.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strings"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, out, trouble io.Writer) int {
	if i := slices.Index(args, "-again"); i >= 0 {
		pattern, err := againPattern(args[i+1:])
		if err != nil {
			fmt.Fprintln(trouble, "testsummary:", err)
			return 2
		}
		args = slices.Concat(args[:i], []string{"-run", pattern}, args[i+1:])
	}
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...) //nolint:noctx,gosec // it ends when go test ends, and runs what the developer typed
	cmd.Stderr = trouble
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		signal.Ignore(os.Interrupt) // go test gets it too, and reports what it was doing
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(trouble, "testsummary:", err)
		return 2
	}
	s := &summary{out: out, printed: map[test][]string{}, skipped: map[reason][]string{}}
	readErr := s.read(pipe)
	_, _ = io.Copy(io.Discard, pipe)
	err = cmd.Wait()
	s.end()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return max(exit.ExitCode(), 1)
	case err != nil || readErr != nil:
		fmt.Fprintln(trouble, "testsummary:", errors.Join(err, readErr))
		return 2
	}
	return 0
}

// event is a line of go test -json; see go doc test2json.
type event struct {
	Action  string
	Package string
	Test    string // empty for the package
	Output  string
}

type test struct{ pkg, name string }

// reason is why tests of a package were skipped.
type reason struct{ pkg, why string }

// summary is what is known about the tests so far.
type summary struct {
	out            io.Writer
	passed, failed int // tests and subtests; skipped ones are in the map
	printed        map[test][]string
	skipped        map[reason][]string
}

// read reads go test's events until there are no more.
func (s *summary) read(from io.Reader) error {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		var e event
		switch {
		case line == "":
		case json.Unmarshal([]byte(line), &e) != nil: // not from a test
			fmt.Fprint(s.out, line)
		default:
			s.take(e)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// take counts an event, and prints the output of a failure.
func (s *summary) take(e event) {
	t := test{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(s.out, e.Output)
		return
	case "output":
		s.printed[t] = append(s.printed[t], e.Output)
		return
	case "pass", "fail", "skip":
	default:
		return
	}
	output := s.printed[t]
	delete(s.printed, t)
	switch {
	case e.Test == "":
		s.endPackage(e, output)
	case e.Action == "pass":
		s.passed++
	case e.Action == "fail":
		s.failed++
		fmt.Fprint(s.out, strings.Join(output, ""))
	default:
		r := reason{e.Package, why(output)}
		s.skipped[r] = append(s.skipped[r], e.Test)
	}
}

// endPackage prints the line of a package, and all output if it failed, including
// that of unfinished tests.
func (s *summary) endPackage(e event, output []string) {
	if e.Action == "fail" {
		for t, lines := range s.printed {
			if t.pkg == e.Package {
				fmt.Fprint(s.out, strings.Join(lines, ""))
				delete(s.printed, t)
			}
		}
	}
	for _, line := range output {
		if e.Action == "fail" || strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "?   \t") {
			fmt.Fprint(s.out, line)
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

// shown is how many tests are listed per reason.
const shown = 12

// end prints what was skipped, missing requirements first, and the counts.
func (s *summary) end() {
	reasons := slices.SortedFunc(maps.Keys(s.skipped), func(a, b reason) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.why, b.why))
	})
	skipped := 0
	if len(reasons) > 0 {
		fmt.Fprintln(s.out, "\nskipped:")
	}
	for _, r := range reasons {
		names := s.skipped[r]
		skipped += len(names)
		fmt.Fprintf(s.out, "  %s: %d, %s\n", strings.TrimPrefix(r.pkg, module), len(names), r.why)
		fmt.Fprintf(s.out, "    %s\n", strings.Join(names[:min(len(names), shown)], " "))
		if more := len(names) - shown; more > 0 {
			fmt.Fprintf(s.out, "    and %d more\n", more)
		}
	}
	fmt.Fprintf(s.out, "\n%d passed, %d failed, %d skipped\n", s.passed, s.failed, skipped)
}

// rank sorts missing requirements before tests that do not apply.
func rank(r reason) int {
	if strings.HasPrefix(r.why, "needs ") {
		return 0
	}
	return 1
}
