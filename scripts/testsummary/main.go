// Command testsummary runs "go test" with its arguments. It prints one line per package, the output of
// failures, and at least every 15 seconds what is running. At the end it lists the failed tests, what was
// skipped and why, the slowest tests, and how many passed, failed and were skipped. It exits with go test's status.
//
// With -resume DIR as its first arguments it tests one package after the other, and keeps in DIR which tests have
// passed on this state of the source: a run that was stopped, or had failures, goes on with the others.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"time"
)

func main() {
	signal.Ignore(os.Interrupt) // go test gets it too, and reports what it was doing
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// silence is how long nothing is printed before it is said what is running.
const silence = 15 * time.Second

func run(args []string, out, trouble io.Writer) int {
	s := newSummary(out, time.Now)
	var status int
	var err error
	if len(args) > 1 && args[0] == "-resume" {
		status, err = s.resume(args[1], args[2:], trouble)
	} else {
		status, err = s.goTest(args, trouble, nil)
	}
	s.end()
	if err != nil {
		fmt.Fprintln(trouble, "testsummary:", err)
		return max(status, 2)
	}
	return status
}

// goTest runs go test and returns its exit status. It copies the events to log, if that is not nil.
func (s *summary) goTest(args []string, trouble, log io.Writer) (int, error) {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...) //nolint:noctx,gosec // it ends when go test ends, and runs what the developer typed
	cmd.Stderr = trouble
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return 2, err
	}
	lines := make(chan string)
	go read(pipe, lines)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for open := true; open; {
		var line string
		select {
		case line, open = <-lines:
			if log != nil {
				_, _ = io.WriteString(log, line) // what is missing is tested again
			}
			s.line(line)
		case <-tick.C:
			s.beat()
		}
	}
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return max(exit.ExitCode(), 1), nil
	}
	return 0, err
}

// read sends the lines of a reader, and closes the channel at its end.
func read(from io.Reader, lines chan<- string) {
	defer close(lines)
	for b := bufio.NewReader(from); ; {
		line, err := b.ReadString('\n')
		if line != "" {
			lines <- line
		}
		if err != nil {
			return
		}
	}
}

// event is a line of go test -json; see go doc test2json.
type event struct {
	Action  string
	Package string
	Test    string // empty for the package
	Output  string
	Elapsed float64 // seconds
}

// line reads one line of go test's output.
func (s *summary) line(line string) {
	var e event
	switch {
	case line == "":
	case json.Unmarshal([]byte(line), &e) != nil: // not from a test
		s.print("%s", line)
	default:
		s.take(e)
	}
}
