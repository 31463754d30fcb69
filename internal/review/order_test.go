package review

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestSameReview: the review is the same in whatever order the requests are answered.
func TestSameReview(t *testing.T) {
	base, head := pullRequest(5, 1_600, teamGuide())
	in, _ := changed(t, base, head)
	in.Concurrency = 8
	var want string
	for i := range needs.Rounds(20, 5) {
		server := served(t, &in, head, talkative, nil)
		in.Engine = &shuffled{Engine: in.Engine, rand: rand.New(rand.NewPCG(uint64(i), 0))}
		r := run(t, in)
		got := needs.Value(json.Marshal(r))(t)
		if want == "" {
			want = string(got)
			checkTalk(t, r, server)
		}
		if string(got) != want {
			t.Fatalf("run %d differs:\n%s\n%s", i, want, got)
		}
	}
}

func checkTalk(t *testing.T, r *precedent.Review, s *llmtest.Server) {
	t.Helper()
	reasons := map[precedent.Dropped]int{}
	for _, f := range r.Findings {
		reasons[f.Dropped]++
	}
	judged := slices.ContainsFunc(s.Requests(), func(r llmtest.Request) bool {
		return strings.Contains(r.System, "You compare remarks")
	})
	t.Logf("findings by why they are not shown: %v; judged %t", reasons, judged)
	if !judged || reasons[""] < 3 || reasons[precedent.Duplicate] < 2 || reasons[precedent.Refuted] < 2 ||
		len(r.Failures) > 0 {
		t.Errorf("too little is decided in this review: %v, failures %v", reasons, r.Failures)
	}
}

// talkative is a model that has something to say about the first added lines of each part, in words that are alike,
// and about what others say. It is said to use the same tokens for everything: what is cached depends on the order.
func talkative(r llmtest.Request) llmtest.Reply {
	answer := object{"summary": "Read it.", "findings": []object{}}
	var findings, verdicts, pairs []object
	name := finderOf(r)
	second := name == "tests" // it speaks of a line nearby
	added := map[string]int{}
	for _, line := range shownIn(prefixOf(r)) {
		path, text, ok := strings.Cut(line, "\x00+")
		if !ok || name == "" || len(strings.TrimSpace(text)) < 20 || len(findings) == 4 {
			continue
		}
		if added[path]++; added[path] > 2 || (added[path] == 2) != second {
			continue
		}
		findings = append(findings, object{
			"path": path, "side": "RIGHT", "start": 1, "end": 1, "quote": text, "category": name,
			"severity": []string{"high", "medium"}[len(text)%2], "confidence": 80,
			"title": "The value is wrong when the input is empty",
			"body":  "An empty input fails." + strings.Repeat(" Then "+name+" of the "+name+" has no "+name+".", len(findings)),
		})
	}
	own := r.User[len(r.User)-1].Text
	for i, part := range strings.Split(own, "\nid: ")[1:] {
		id, _, _ := strings.Cut(part, "\n")
		verdicts = append(verdicts, object{
			"finding": id, "verdict": []string{"confirmed", "refuted"}[len(part)%2],
			"confidence": 90, "reason": "Read it.", "evidence": []any{},
		})
		pairs = append(pairs, object{"pair": id, "same": i%2 == 0, "quote": "empty input fails"})
	}
	for key, list := range map[string][]object{"findings": findings, "verdicts": verdicts, "pairs": pairs} {
		if list == nil {
			list = []object{}
		}
		answer[key] = list
	}
	out, err := json.Marshal(answer)
	if err != nil {
		panic(fmt.Sprint(err))
	}
	return llmtest.Reply{Text: string(out), Usage: &precedent.Usage{InputTokens: 100, OutputTokens: 10}}
}
