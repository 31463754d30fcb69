package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

const oneWhole = `{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}`

func oneTask(timeout time.Duration) Task {
	return Task{Role: Finder, Name: "bugs", Prompt: "Find bugs.", Schema: json.RawMessage(oneWhole), Timeout: timeout}
}

// far is a far side that gives the replies in order and keeps the prompts.
type far struct {
	replies []Reply
	prompts []string
}

func (f *far) once(_ context.Context, t Task) (Reply, error) {
	f.prompts = append(f.prompts, t.Prompt)
	return f.replies[min(len(f.prompts), len(f.replies))-1], nil
}

func wrote(text string) Reply {
	return Reply{
		Status: precedent.StatusOK, Output: []byte(text), Model: "m-1", CostUSD: 0.5,
		Usage: precedent.Usage{Requests: 2, InputTokens: 10, OutputTokens: 3},
	}
}

// tried is what an agent has to show that tried so many answers, and took seven turns for it.
func tried(attempts int) Reply {
	return Reply{
		Status: precedent.StatusMalformed, Message: "it was prose", Attempts: attempts,
		Usage: precedent.Usage{Requests: 7},
	}
}

func TestAsk(t *testing.T) {
	failed := Reply{Status: precedent.StatusError, Message: "exit status 1"}
	unread := Reply{Status: precedent.StatusMalformed, Message: "no response"}
	for _, test := range []struct {
		name    string
		replies []Reply
		want    Answer
		prompts []string // what each must contain
	}{
		{"ok", []Reply{wrote("Well: {\"a\":1.0,}")}, Answer{
			Status: precedent.StatusOK, JSON: json.RawMessage(`{"a":1}`), Model: "m-1", CostUSD: 0.5,
			Usage: precedent.Usage{Requests: 2, InputTokens: 10, OutputTokens: 3},
		}, []string{"Find bugs."}},
		{"asked again", []Reply{unread, wrote(`{"a":"x"}`), wrote(`{"a":2}`)}, Answer{
			Status: precedent.StatusOK, JSON: json.RawMessage(`{"a":2}`), Model: "m-1", CostUSD: 1,
			Usage: precedent.Usage{Requests: 5, InputTokens: 20, OutputTokens: 6},
		}, []string{"Find bugs.", "could not be used: no response.", "could not be used: a: want type"}},
		{"malformed", []Reply{wrote(`{"b":1}`)}, Answer{
			Status: precedent.StatusMalformed, Message: "no usable answer in 3 requests: the answer: want required [\"a\"]",
			Model: "m-1", CostUSD: 1.5,
			Usage: precedent.Usage{Requests: 6, InputTokens: 30, OutputTokens: 9},
		}, []string{"Find bugs.", "want required [\"a\"]", "want required [\"a\"]"}},
		{"tried by the far side as well", []Reply{tried(2), tried(1)}, Answer{
			Status: precedent.StatusMalformed, Message: "no usable answer in 3 requests: it was prose",
			Usage: precedent.Usage{Requests: 14},
		}, []string{"Find bugs.", "could not be used: it was prose."}},
		{"error", []Reply{failed}, Answer{
			Status: precedent.StatusError, Message: "exit status 1", Usage: precedent.Usage{Requests: 1},
		}, []string{"Find bugs."}},
		{"over budget", []Reply{{Status: precedent.StatusOverBudget, Message: "$2 are spent"}}, Answer{
			Status: precedent.StatusOverBudget, Message: "$2 are spent", // nothing was sent
		}, []string{""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := far{replies: test.replies}
			got := needs.Value(Ask(t.Context(), oneTask(time.Minute), f.once))(t)
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if len(f.prompts) != len(test.prompts) {
				t.Fatalf("%d requests, want %d", len(f.prompts), len(test.prompts))
			}
			for i, part := range test.prompts {
				if !strings.HasPrefix(f.prompts[i], "Find bugs.") || !strings.Contains(f.prompts[i], part) {
					t.Errorf("prompt %d is %q, want the task's with %q", i+1, f.prompts[i], part)
				}
				if n := strings.Count(f.prompts[i], "could not be used"); n > 1 {
					t.Errorf("prompt %d carries %d complaints", i+1, n)
				}
			}
		})
	}
}

// TestAskTimeout: the time of a task is that of all its requests. An answer that comes in time is taken, and one that
// cannot be used is not asked again when no time is left.
func TestAskTimeout(t *testing.T) {
	for _, test := range []struct {
		name    string
		timeout time.Duration
		replies []Reply // all but the last at once, and the last when the time is over
		status  precedent.Status
		message string
	}{
		{"of the task", 3 * time.Second, []Reply{{Status: "error"}}, "timeout", "no answer within 3s"},
		{"by default", 0, []Reply{{Status: "error"}}, "timeout", "no answer within 10m0s"},
		{
			"over all requests", 3 * time.Second,
			[]Reply{wrote("nonsense"), {Status: "error"}},
			"timeout",
			"no usable answer within 3s: it has no JSON object",
		},
		{"in time", time.Second, []Reply{wrote(`{"a":1}`)}, "ok", ""},
		{
			"of no use", time.Second,
			[]Reply{wrote("nonsense")},
			"timeout",
			"no usable answer within 1s: it has no JSON object",
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, f := time.Now(), far{replies: test.replies}
			a, err := Ask(t.Context(), oneTask(test.timeout), func(ctx context.Context, task Task) (Reply, error) {
				if len(f.prompts) == len(f.replies)-1 {
					<-ctx.Done()
				}
				return f.once(ctx, task)
			})
			if err != nil || a.Status != test.status || a.Message != test.message || len(f.prompts) != len(f.replies) {
				t.Errorf("%s: %s (%s) after %d requests, %v", test.name, a.Status, a.Message, len(f.prompts), err)
			}
			if took, want := time.Since(began), cmp.Or(test.timeout, DefaultTimeout); took != want {
				t.Errorf("%s: took %v, want %v", test.name, took, want)
			}
		})
	}
}

func TestAskErrors(t *testing.T) {
	f := far{replies: []Reply{wrote("nonsense")}}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Ask(cancelled, oneTask(0), f.once); !errors.Is(err, context.Canceled) || len(f.prompts) > 0 {
		t.Errorf("cancelled before: error %v after %d requests", err, len(f.prompts))
	}

	ctx, cancel := context.WithCancel(t.Context())
	a, err := Ask(ctx, oneTask(0), func(context.Context, Task) (Reply, error) {
		cancel()
		return wrote(`{"a":1}`), nil
	})
	if !errors.Is(err, context.Canceled) || a.JSON != nil || a.Usage.InputTokens != 10 {
		t.Errorf("cancelled: error %v with %+v, want the usage alone", err, a)
	}

	broken := errors.New("broken")
	if _, err := Ask(t.Context(), oneTask(0), func(context.Context, Task) (Reply, error) {
		return Reply{},
			broken
	}); !errors.Is(err, broken) {
		t.Errorf("error %v, want once's", err)
	}

	task := oneTask(0)
	task.Schema = nil
	if _, err := Ask(t.Context(), task, f.once); err == nil || !strings.Contains(err.Error(), "ask bugs: read schema") {
		t.Errorf("error %v for a task without a schema", err)
	}
}
