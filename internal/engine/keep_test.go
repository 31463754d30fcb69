package engine

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// counting answers with how often it was asked.
type counting struct {
	n      int
	status precedent.Status
	silent bool // about its usage
}

func (c *counting) Info() Info { return Info{Name: "counting", Who: "test"} }
func (c *counting) Run(context.Context, Task) (Answer, error) {
	c.n++
	a := Answer{Status: c.status, JSON: json.RawMessage(`{"n":1}`), Usage: precedent.Usage{Requests: 1}}
	if !c.silent {
		a.Usage.InputTokens, a.CostUSD = 10, 0.5
	}
	return a, nil
}

func TestKeeper(t *testing.T) {
	kept := map[string][]byte{}
	keeper := func(e Engine, of string, resume bool) *Keeper {
		return &Keeper{
			Engine: e, Of: of, Resume: resume,
			Load: func(_ context.Context, task string) ([]byte, bool, error) { a, ok := kept[task]; return a, ok, nil },
			Save: func(_ context.Context, task string, answer []byte) error { kept[task] = answer; return nil },
		}
	}
	e := &counting{status: precedent.StatusOK}
	task := Task{Role: Finder, Name: "bugs", Prompt: "p"}
	first, err := keeper(e, "a..b", true).Run(t.Context(), task)
	if err != nil || e.n != 1 || len(kept) != 1 {
		t.Fatalf("%v, asked %d times, %d kept", err, e.n, len(kept))
	}
	resumed := keeper(e, "a..b", true)
	calls := 0
	task.FirstByte = func() { calls++ }
	again, err := resumed.Run(t.Context(), task)
	if d := cmp.Diff(first, again); err != nil || d != "" || e.n != 1 || calls != 1 {
		t.Errorf("%v, asked %d times, first byte %d times: %s", err, e.n, calls, d)
	}
	if tasks, failures := resumed.Done(); len(tasks) != 1 || failures != nil {
		t.Errorf("done: %v, %v", tasks, failures)
	}
	needs.NoError(t, resumed.Settle(t.Context()))
	settled := needs.Value(keeper(e, "a..b", true).Run(t.Context(), task))(t)
	if settled.CostUSD != 0 || settled.Usage != (precedent.Usage{}) || string(settled.JSON) != string(first.JSON) || e.n != 1 {
		t.Errorf("settled: %+v", settled)
	}
	for _, other := range []struct {
		of     string
		resume bool
		task   Task
	}{
		{"a..c", true, task},
		{"a..b", false, task},
		{"a..b", true, Task{Role: Finder, Name: "bugs", Prompt: "q"}},
		{"a..b", true, Task{Role: Finder, Name: "tests", Prompt: "p"}},
	} {
		before := e.n
		if _, err := keeper(e, other.of, other.resume).Run(t.Context(), other.task); err != nil || e.n != before+1 {
			t.Errorf("%+v was answered from what was kept", other)
		}
	}
}

func TestKeeperFailsOpen(t *testing.T) {
	trouble := errors.New("disk full")
	k := &Keeper{
		Engine: &counting{status: precedent.StatusOK}, Resume: true,
		Load: func(context.Context, string) ([]byte, bool, error) { return nil, false, trouble },
		Save: func(context.Context, string, []byte) error { return trouble },
	}
	for range 2 {
		if a, err := k.Run(t.Context(), Task{}); err != nil || a.Status != precedent.StatusOK {
			t.Errorf("%s, %v", a.Status, err)
		}
	}
	if _, failures := k.Done(); len(failures) != 2 {
		t.Errorf("failures %v", failures)
	}
	k.Engine, k.Resume = &counting{status: precedent.StatusRefused}, false
	k.Save = func(context.Context, string, []byte) error { t.Error("a refusal was kept"); return nil }
	if a := needs.Value(k.Run(t.Context(), Task{}))(t); a.Status != precedent.StatusRefused {
		t.Errorf("status %s", a.Status)
	}
}
