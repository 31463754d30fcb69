package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
)

// loopback is an engine without a far side: it plays the script itself, and
// may have a defect for the suite to find.
type loopback struct {
	script Script
	defect string
}

func (loopback) Info() engine.Info {
	return engine.Info{Name: "loopback", Line: "nothing leaves the test"}
}

func (l loopback) Run(ctx context.Context, t engine.Task) (engine.Answer, error) {
	switch l.defect {
	case "asks too often":
		for range 3 {
			if _, err := l.once(ctx, t); err != nil {
				return engine.Answer{}, err
			}
		}
	case "asks nothing":
		return engine.Answer{Status: precedent.StatusOK, JSON: []byte(good)}, nil
	case "checks nothing":
		r, err := l.once(ctx, t)
		return engine.Answer{Status: r.Status, Message: r.Message, JSON: r.Output, Usage: r.Usage}, err
	case "leaves a goroutine":
		go func() { <-time.After(time.Minute) }()
	case "leaves a process":
		program, err := os.Executable()
		if err != nil {
			return engine.Answer{}, err
		}
		child := exec.Command(program, "-test.run=^TestChild$")
		child.Env = append(os.Environ(), childVariable+"=1")
		if err := child.Start(); err != nil {
			return engine.Answer{}, err
		}
	}
	a, err := engine.Ask(ctx, t, l.once)
	switch {
	case l.defect == "swallows the cancellation":
		return a, nil
	case l.defect == "loses usage":
		a.Usage.OutputTokens = 0
	case l.defect == "shows raw text" && a.Status == precedent.StatusMalformed:
		a.Message += ": " + marker
	case l.defect == "says nothing" && a.Status != precedent.StatusOK:
		a.Message = ""
	case l.defect == "answers in spite of it" && a.Status != precedent.StatusOK:
		a.JSON = []byte(good)
	case l.defect == "takes refusals for trouble" && a.Status == precedent.StatusRefused:
		a.Status = precedent.StatusError
	}
	return a, err
}

func (l loopback) once(ctx context.Context, t engine.Task) (engine.Reply, error) {
	planned, err := l.script.Next(engine.NewRequest(t, time.Minute))
	if err != nil {
		return engine.Reply{}, err
	}
	switch {
	case planned.Hang:
		<-ctx.Done()
		return engine.Reply{}, ctx.Err()
	case planned.Flood:
		return engine.Reply{Status: precedent.StatusTruncated, Message: "too much"}, nil
	case planned.Exit != 0:
		return engine.Reply{Status: precedent.StatusError, Message: "crashed"}, nil
	}
	response, err := json.Marshal(planned.response())
	if err != nil {
		return engine.Reply{}, err
	}
	return engine.ReadResponse(response), nil
}

const (
	defectVariable = "PRECEDENT_TEST_DEFECT"
	childVariable  = "PRECEDENT_TEST_CHILD"
)

// TestLoopback is the suite against an engine that does little but Ask; with a
// defect it is what TestSuiteCatches runs.
func TestLoopback(t *testing.T) {
	defect := os.Getenv(defectVariable)
	Run(t, func(_ *testing.T, s Script) engine.Engine { return loopback{s, defect} })
}

// TestChild is the process that stays.
func TestChild(t *testing.T) {
	if os.Getenv(childVariable) == "" {
		t.Skip("only for a process that TestSuiteCatches leaves behind")
	}
	<-time.After(30 * time.Second)
}

// TestSuiteCatches runs the suite against defects and wants it to fail.
func TestSuiteCatches(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ defect, scenario, complaint string }{
		{"asks too often", "valid", "4 requests for one task, want at most 3"},
		{"asks nothing", "valid", "0 requests, want 1"},
		{"checks nothing", "prose_around_JSON", "invalid character"},
		{"swallows the cancellation", "cancelled", "want context canceled"},
		{"loses usage", "valid", "usage {Requests:1"},
		{"shows raw text", "malformed_always", "the message has the model's raw text"},
		{"says nothing", "crash", "without a message"},
		{"answers in spite of it", "refusal", "with the answer"},
		{"takes refusals for trouble", "refusal", "want refused"},
		{"leaves a goroutine", "valid", "found unexpected goroutines"},
		{"leaves a process", "valid", "is still there"},
	} {
		t.Run(test.defect, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestLoopback$/^"+test.scenario+"$")
			cmd.Env = append(os.Environ(), defectVariable+"="+test.defect)
			cmd.WaitDelay = time.Second
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
				t.Fatalf("error %v, want a failed test:\n%s", err, out)
			}
			if !strings.Contains(string(out), test.complaint) ||
				!strings.Contains(string(out), "--- FAIL: TestLoopback/"+test.scenario) {
				t.Errorf("the suite did not complain with %q:\n%s", test.complaint, out)
			}
		})
	}
}
