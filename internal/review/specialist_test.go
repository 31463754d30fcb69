package review

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/needs"
)

func TestTrouble(t *testing.T) {
	for _, test := range []struct {
		name   string
		engine engine.Engine
		want   precedent.Status
	}{
		{"refusal", scripted(func(engine.Task) engine.Reply {
			return engine.Reply{Status: precedent.StatusRefused, Message: "so it was"}
		}), precedent.StatusRefused},
		{"crash", scripted(func(engine.Task) engine.Reply { panic("boom") }), precedent.StatusError},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := input(t, shopBase, shopHead)
			in.Engine = test.engine
			r := run(t, in)
			if got := finderRun(t, r, "bugs"); got.Status != test.want || got.Error == "" {
				t.Errorf("run: %+v, want status %s", got, test.want)
			}
			needs.Equal(t, precedent.Failed, r.Verdict)
			needs.Equal(t, precedent.ExitIncomplete, r.ExitStatus(precedent.High))
			needs.Equal(t, 1, len(r.Live()))
			needs.Equal(t, 0, r.Coverage.HunksRead)
		})
	}
}

// manyFiles is a change of so many files that each fill a shard of their own.
func manyFiles(n int) files {
	head := files{}
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "package p%d\n\n", i)
		for l := range 800 {
			fmt.Fprintf(&b, "var value%d_%d = compute(%d, \"north by north-west\", %d)\n", i, l, l*7, i)
		}
		head[fmt.Sprintf("p%d/values.go", i)] = b.String()
	}
	return head
}

// TestFirstByteIsEnough: one request is sent alone until its answer begins, so that the others find what they share in
// the provider's cache, and no longer than that.
func TestFirstByteIsEnough(t *testing.T) {
	in := input(t, files{}, manyFiles(3))
	synctest.Test(t, func(t *testing.T) {
		second := make(chan struct{})
		var sent atomic.Int32
		in.Engine = scripted(func(task engine.Task) engine.Reply {
			switch sent.Add(1) {
			case 1:
				synctest.Wait()
				needs.Equal(t, 1, int(sent.Load()))
				task.FirstByte()
				<-second
			case 2:
				close(second)
			}
			return reply1()
		})
		if r := run(t, in); r.Verdict != precedent.Clean || r.Usage.Requests != 3 {
			t.Errorf("verdict %s after %d requests", r.Verdict, r.Usage.Requests)
		}
	})
}

// TestWave: with several prompted finders, the first of them asks about all shards before any other asks, and the
// review's limit on requests holds for all together.
func TestWave(t *testing.T) {
	const shards, limit = 3, 2
	in := input(t, files{}, manyFiles(shards))
	in.Concurrency = limit
	in.Policy.Finders = only("bugs", "security", "types", "guidelines")
	var mu sync.Mutex
	under, most := 0, 0
	led := map[string]bool{}
	var wrong []string
	in.Engine = scripted(func(task engine.Task) engine.Reply {
		mu.Lock()
		defer mu.Unlock()
		under++
		most = max(most, under)
		if task.Name != "bugs" && len(led) < shards {
			wrong = append(wrong, task.Name+" asked before the lead was answered about all shards")
		}
		mu.Unlock()
		runtime.Gosched()
		mu.Lock()
		under--
		led[task.Prefix] = led[task.Prefix] || task.Name == "bugs"
		return reply1()
	})
	r := run(t, in)
	if len(wrong) > 0 || most > limit || r.Usage.Requests != 3*shards || r.Verdict != precedent.Clean {
		t.Errorf("%d requests, %d at a time, verdict %s: %v", r.Usage.Requests, most, r.Verdict, wrong)
	}
	needs.Equal(t, precedent.StatusOff, finderRun(t, r, "style").Status)
}

// TestSameReview: the review is the same in whatever order the requests are answered.
func TestSameReview(t *testing.T) {
	var want *precedent.Review
	for i := range 5 {
		in := input(t, files{}, manyFiles(3))
		in.Concurrency, in.Policy.Finders = 8, only("bugs", "security", "types", "tests")
		in.Engine = &cast{judge: agrees("input is empty"), finder: func(task engine.Task) engine.Reply {
			time.Sleep(time.Duration(crc32.ChecksumIEEE([]byte(task.Name+task.Prefix))>>(4*i)%1000) * time.Millisecond)
			_, rest, _ := strings.Cut(task.Prefix, "var value")
			path, value := "p"+rest[:1]+"/values.go", "var value"+rest[:1]
			more := object{"category": task.Name, "body": "It fails if the input is empty."}
			return reply1(finding(path, 1, value+"_0 =", "The value is wrong when the input is empty", more),
				finding(path, 1, value+"_1 =", "An empty input makes the value of "+task.Name+" wrong", more))
		}}
		var r *precedent.Review
		synctest.Test(t, func(t *testing.T) { r = run(t, in) })
		if n := len(r.Live()); n < 3 || n == len(r.Findings) {
			t.Errorf("too little is decided: %d of %d findings are live", n, len(r.Findings))
		}
		if want == nil {
			want = r
		}
		needs.Equal(t, want, r)
	}
}

func TestGivesUp(t *testing.T) {
	in := input(t, files{}, manyFiles(9))
	in.Concurrency = 1
	sent := 0
	in.Engine = scripted(func(engine.Task) engine.Reply {
		sent++
		return engine.Reply{Status: precedent.StatusError, Message: "connection refused"}
	})
	if r := run(t, in); sent != leastTrial || r.Verdict != precedent.Failed {
		t.Errorf("%d requests, verdict %s", sent, r.Verdict)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in := input(t, files{}, manyFiles(2))
	in.Engine = scripted(func(engine.Task) engine.Reply {
		cancel()
		return engine.Reply{Status: precedent.StatusError}
	})
	if _, err := Run(ctx, in); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
