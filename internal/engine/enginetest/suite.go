package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/needs"
)

// Build makes the engine under test, whose far side plays the script: it calls Next for every request and
// does as the reply says. What a model wrote is Answer or Text; Stdout is not used by the suite. A far side
// that cannot tell role and name leaves them empty. What Build starts, t.Cleanup ends.
type Build func(t *testing.T, s Script) engine.Engine

const (
	mostRequests = 3                // a task
	planned      = 30 * time.Second // a task that is meant to be answered; a hundredth of it is the rule
	short        = 5 * time.Second  // a task that is meant to be late
	slack        = time.Minute      // from the end of its time, or of its context, to its return
	marker       = "zebra-raw-text" // stands in what must not get through
)

// answerSchema is much like a finder's.
const answerSchema = `{
  "type": "object",
  "required": ["findings"],
  "properties": {
    "summary": {"type": "string"},
    "findings": {
      "type": "array",
      "items": {
        "type": "object",
        "required": ["path", "severity", "confidence"],
        "properties": {
          "path": {"type": "string", "minLength": 1},
          "severity": {"enum": ["high", "low"]},
          "confidence": {"type": "integer", "minimum": 0, "maximum": 100}
        }
      }
    }
  }
}`

const (
	good  = `{"findings":[{"path":"a.go","severity":"high","confidence":80}],"summary":"one"}`
	usage = `{"input_tokens":100,"cached_tokens":40,"cache_write_tokens":7,"output_tokens":20}`
)

// scenario is one task against a script. Requests and usage are those of the
// far side; a usage of n is n times the constant usage.
type scenario struct {
	name     string
	replies  []Reply
	status   precedent.Status
	requests int // 0 for any number up to mostRequests
	usage    int
}

// anyUsage is of a reply that breaks off: an engine may have to estimate it.
const anyUsage = -1

func textReply(text string) Reply { return Reply{Text: text, Usage: json.RawMessage(usage)} }

var scenarios = []scenario{
	{"valid", []Reply{{Answer: json.RawMessage(good), Usage: json.RawMessage(usage)}}, precedent.StatusOK, 1, 1},
	{"valid as text", []Reply{textReply(good)}, precedent.StatusOK, 1, 1},
	{
		"prose around JSON",
		[]Reply{textReply("I looked at f() {} closely.\n\n" + good + "\n\nHope it helps {really}!")},
		precedent.StatusOK, 1, 1,
	},

	{"malformed, then valid", []Reply{textReply(marker), textReply(good)}, precedent.StatusOK, 2, 2},
	{
		"malformed twice, then valid",
		[]Reply{textReply(marker), textReply("{" + marker), textReply(good)},
		precedent.StatusOK, 3, 3,
	},
	{"breaks off, then valid", []Reply{textReply(good[:len(good)-20]), textReply(good)}, precedent.StatusOK, 2, 2},
	{
		"wrong schema, then valid",
		[]Reply{textReply(`{"findings":[{"path":"` + marker + `"}]}`), textReply(good)},
		precedent.StatusOK, 2, 2,
	},

	{"malformed always", []Reply{textReply("The code looks fine to me. " + marker)}, precedent.StatusMalformed, 3, 3},
	{
		"wrong schema always",
		[]Reply{textReply(`{"findings":[{"path":"a","severity":"` + marker + `","confidence":800}]}`)},
		precedent.StatusMalformed, 3, 3,
	},
	{"empty", []Reply{textReply(" \n")}, precedent.StatusMalformed, 3, 3},
	{
		"half a finding",
		[]Reply{textReply(`{"findings":[{"path":"a.go","severity":"high","confidence":80},{"path":"`)},
		precedent.StatusMalformed, 3, 3,
	},

	{"refusal", []Reply{{Refused: true, Usage: json.RawMessage(usage)}, textReply(good)}, precedent.StatusRefused, 1, 1},
	{
		"malformed, then refusal",
		[]Reply{textReply(marker), {Refused: true, Usage: json.RawMessage(usage)}},
		precedent.StatusRefused, 2, 2,
	},
	{"huge output", []Reply{{Flood: true}}, precedent.StatusTruncated, 1, anyUsage},
	{"crash", []Reply{{Stderr: "out of luck", Exit: 3}}, precedent.StatusError, 0, 0},
	{"malformed, then crash", []Reply{textReply(marker), {Exit: 3}}, precedent.StatusError, 0, 1},
}

// Run runs the suite: every scenario must end with its status after at most three requests, with the usage of
// all of them, and leave neither a goroutine nor a child process behind.
func Run(t *testing.T, build Build) {
	t.Helper()
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) { s.run(t, build) })
	}
	t.Run("late", func(t *testing.T) {
		checkLeaks(t)
		t.Run("hang", func(t *testing.T) { hang(t, build, []Reply{{Hang: true}}, 1) })
		t.Run("malformed, then hang", func(t *testing.T) { hang(t, build, []Reply{textReply(marker), {Hang: true}}, 2) })
	})
	t.Run("cancelled", func(t *testing.T) { cancelled(t, build) })
	t.Run("cancelled before", func(t *testing.T) { cancelledBefore(t, build) })
	t.Run("concurrent", func(t *testing.T) { concurrent(t, build) })
}

// start builds the engine for replies to whatever is asked, with leaks looked
// for once everything of the test has ended.
func start(t *testing.T, build Build, replies []Reply) (engine.Engine, Script) {
	t.Helper()
	checkLeaks(t)
	return begin(t, build, replies)
}

// begin is start for tests whose parent looks for leaks.
func begin(t *testing.T, build Build, replies []Reply) (engine.Engine, Script) {
	t.Helper()
	s := Script{Log: filepath.Join(t.TempDir(), "log.jsonl"), Plays: []Play{{Replies: replies}}}
	e := build(t, s)
	info := e.Info()
	if info.Name == "" || info.Line == "" || strings.Contains(info.Line, "\n") {
		t.Errorf("Info() = %+v, want a name and a line", info)
	}
	return e, s
}

func task(name string, timeout time.Duration) engine.Task {
	return engine.Task{
		Role: engine.Finder, Name: name, System: "You review code.", Prompt: "Find bugs in a.go.",
		Schema: json.RawMessage(answerSchema), Timeout: timeout,
	}
}

func (s scenario) run(t *testing.T, build Build) {
	t.Helper()
	e, script := start(t, build, s.replies)
	timeout := planned
	if s.status == precedent.StatusTruncated {
		timeout = time.Minute
	}
	a, err := e.Run(t.Context(), task("bugs", timeout))
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	if a.Status != s.status {
		t.Fatalf("status %s (%s), want %s", a.Status, shorten(a.Message), s.status)
	}
	checkAnswer(t, a)
	sent := requests(t, script)
	if s.requests != 0 && len(sent) != s.requests {
		t.Errorf("%d requests, want %d", len(sent), s.requests)
	}
	var one precedent.Usage
	needs.NoError(t, json.Unmarshal([]byte(usage), &one))
	want, got := multiply(one, s.usage), a.Usage
	if want.Requests = len(sent); got.Requests < want.Requests {
		t.Errorf("usage counts %d requests of %d", got.Requests, want.Requests)
	}
	if got.Requests = want.Requests; got != want && s.usage != anyUsage {
		t.Errorf("usage %+v, want %+v", got, want)
	}
}

// checkAnswer checks what holds for every answer that has come to its end.
func checkAnswer(t *testing.T, a engine.Answer) {
	t.Helper()
	if a.Status != precedent.StatusOK {
		if a.JSON != nil {
			t.Errorf("status %s with the answer %s", a.Status, a.JSON)
		}
		if a.Message == "" {
			t.Errorf("status %s without a message", a.Status)
		}
		if strings.Contains(a.Message, marker) {
			t.Errorf("the message has the model's raw text: %s", shorten(a.Message))
		}
		return
	}
	if a.Message != "" {
		t.Errorf("status ok with the message %q", a.Message)
	}
	var got struct {
		Findings []struct {
			Path       string
			Severity   string
			Confidence int
		}
	}
	if err := json.Unmarshal(a.JSON, &got); err != nil {
		t.Fatalf("answer %s: %v", a.JSON, err)
	}
	if len(got.Findings) != 1 || got.Findings[0].Path != "a.go" || got.Findings[0].Confidence != 80 {
		t.Errorf("answer %s, want what was planned", a.JSON)
	}
}

// requests returns what the far side was sent, and checks that a request that
// repeats one keeps its prompt and adds what was wrong.
func requests(t *testing.T, script Script) []engine.Request {
	t.Helper()
	sent := needs.Value(script.Sent())(t)
	if len(sent) > mostRequests {
		t.Errorf("%d requests for one task, want at most %d", len(sent), mostRequests)
	}
	for i, r := range sent {
		first := sent[0].Prompt
		switch {
		case !strings.Contains(r.Prompt, "Find bugs in a.go."):
			t.Errorf("request %d lacks the task's prompt: %q", i+1, r.Prompt)
		case i > 0 && (!strings.HasPrefix(r.Prompt, first) || len(r.Prompt) == len(first)):
			t.Errorf("request %d does not say what was wrong with the answer to the one before: %q", i+1, r.Prompt)
		case strings.Contains(r.Prompt, marker):
			t.Errorf("request %d has the model's raw text: %q", i+1, r.Prompt)
		}
	}
	return sent
}

// hang: a far side that does not answer costs the task's time and no more.
func hang(t *testing.T, build Build, replies []Reply, want int) {
	t.Parallel()
	e, script := begin(t, build, replies)
	began := time.Now()
	a, err := e.Run(t.Context(), task("bugs", short))
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	if took := time.Since(began); took > short+slack {
		t.Errorf("took %v, want little more than %v", took, short)
	}
	if a.Status != precedent.StatusTimeout {
		t.Errorf("status %s (%s), want timeout", a.Status, a.Message)
	}
	checkAnswer(t, a)
	if sent := requests(t, script); len(sent) != want {
		t.Errorf("%d requests, want %d", len(sent), want)
	}
	if wantTokens := 100 * (want - 1); a.Usage.InputTokens != wantTokens {
		t.Errorf("%d input tokens, want the %d of the requests that were answered", a.Usage.InputTokens, wantTokens)
	}
}

// cancelled: a cancelled context ends the task at once and with its error.
func cancelled(t *testing.T, build Build) {
	t.Helper()
	e, script := start(t, build, []Reply{{Hang: true}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := e.Run(ctx, task("bugs", time.Minute))
		done <- err
	}()
	needs.WaitUntil(t, "a request came", func() bool {
		sent, err := script.Sent()
		if err != nil {
			t.Error(err)
		}
		return err != nil || len(sent) > 0
	})
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	case <-time.After(slack):
		t.Fatal("Run goes on after its context was cancelled")
	}
}

func cancelledBefore(t *testing.T, build Build) {
	t.Helper()
	e, script := start(t, build, []Reply{textReply(good)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Run(ctx, task("bugs", planned)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if sent := requests(t, script); len(sent) > 0 {
		t.Errorf("%d requests in spite of it", len(sent))
	}
}

// concurrent: tasks at once do not disturb each other.
func concurrent(t *testing.T, build Build) {
	t.Helper()
	const tasks = 8
	e, script := start(t, build, []Reply{textReply(good)})
	answers := make([]engine.Answer, tasks)
	errs := make([]error, tasks)
	var group sync.WaitGroup
	for i := range tasks {
		group.Go(func() {
			answers[i], errs[i] = e.Run(t.Context(), task(fmt.Sprintf("finder-%d", i), time.Minute))
		})
	}
	group.Wait()
	for i := range tasks {
		if errs[i] != nil {
			t.Errorf("task %d: %v", i, errs[i])
			continue
		}
		if answers[i].Status != precedent.StatusOK {
			t.Errorf("task %d: status %s (%s)", i, answers[i].Status, answers[i].Message)
			continue
		}
		checkAnswer(t, answers[i])
		if answers[i].Usage.Requests != 1 || answers[i].Usage.InputTokens != 100 {
			t.Errorf("task %d: usage %+v, want that of its own request", i, answers[i].Usage)
		}
	}
	sent := needs.Value(script.Sent())(t)
	if len(sent) != tasks {
		t.Errorf("%d requests, want %d", len(sent), tasks)
	}
}

func multiply(u precedent.Usage, n int) precedent.Usage {
	var sum precedent.Usage
	for range n {
		sum.Add(u)
	}
	return sum
}

func shorten(s string) string {
	const most = 300
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
