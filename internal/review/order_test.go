package review

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestSameReview: the review is the same in whatever order the requests are answered.
func TestSameReview(t *testing.T) {
	const parts = 3
	in := input(t, files{}, manyFiles(parts))
	in.Concurrency, in.Policy.Finders = 8, only("bugs", "security", "types", "tests")
	rulings := map[string]object{}
	for n := range parts {
		no := object{"verdict": "refuted", "reason": "It cannot.", "evidence": []any{}}
		rulings[fmt.Sprintf("Value %d overflows", n)] = no
	}
	var want string
	for i := range needs.Rounds(20, 5) {
		c := &cast{finder: talkative, verifier: ruled(rulings), judge: agrees("input is empty")}
		in.Engine = &shuffled{Engine: c, rand: rand.New(rand.NewPCG(uint64(i), 0))}
		var r *precedent.Review
		synctest.Test(t, func(t *testing.T) { r = run(t, in) })
		got := needs.Value(json.Marshal(r))(t)
		if want == "" {
			want = string(got)
			reasons := map[precedent.Dropped]int{}
			for _, f := range r.Findings {
				reasons[f.Dropped]++
			}
			if len(c.asked(engine.Judge)) == 0 || reasons[""] < parts || reasons[precedent.Duplicate] < parts ||
				reasons[precedent.Refuted] < parts {
				t.Errorf("too little is decided in this review: %v, %d requests to the judge", reasons, len(c.asked(engine.Judge)))
			}
		}
		if string(got) != want {
			t.Fatalf("run %d differs:\n%s\n%s", i, want, got)
		}
	}
}

// talkative is a finder that has something to say about three lines of each part, in words like those of the others.
func talkative(task engine.Task) engine.Reply {
	var said []object
	for line := range strings.Lines(task.Prefix) {
		code := strings.TrimLeft(strings.TrimSpace(line), "0123456789 +")
		var part, n int
		if _, err := fmt.Sscanf(code, "var value%d_%d", &part, &n); err != nil || n > 2 {
			continue
		}
		title := []string{
			fmt.Sprintf("Value %d overflows", part), "The value is wrong when the input is empty",
			"An empty input makes the value of " + task.Name + " wrong",
		}[n]
		said = append(said, finding(fmt.Sprintf("p%d/values.go", part), 1, code, title,
			object{
				"category": []string{"style", task.Name, task.Name}[n], "severity": []string{"medium", "high"}[n%2],
				"body": "It fails if the input is empty.",
			}))
	}
	return reply1(said...)
}

// shuffled is an engine that is asked, and answers, after times drawn at random.
type shuffled struct {
	engine.Engine

	mu   sync.Mutex
	rand *rand.Rand
}

func (s *shuffled) wait() {
	s.mu.Lock()
	d := time.Duration(s.rand.IntN(1000)) * time.Millisecond
	s.mu.Unlock()
	time.Sleep(d)
}

func (s *shuffled) Run(ctx context.Context, t engine.Task) (engine.Answer, error) {
	s.wait()
	defer s.wait()
	return s.Engine.Run(ctx, t)
}
