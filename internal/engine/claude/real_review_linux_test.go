package claude

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/review"
)

const reviewedPatch = `diff --git a/shop.py b/shop.py
--- a/shop.py
+++ b/shop.py
@@ -1,2 +1,3 @@
 def total(items):
-    return sum(items)
+    rounded = [round(i) for i in items]
+    return sum(rounded)
`

const reviewedFile = "def total(items):\n    rounded = [round(i) for i in items]\n    return sum(rounded)\n"

// realReview: all finders and the verifier of a whole review, each a session of
// the real CLI: what one claims another confirms, with a file that it read itself.
func realReview(t *testing.T) {
	tree := t.TempDir()
	plant(t, tree, map[string]string{"shop.py": reviewedFile})
	claim := regexp.MustCompile(`id: ([0-9a-z]{10})`)
	m := serveBy(t, func(r llmtest.Request) llmtest.Reply {
		body := string(r.Body)
		switch {
		case strings.Contains(body, "Your assignment: the whole change"):
			return call(answerTool, map[string]any{"findings": []any{map[string]any{
				"path": "shop.py", "side": "RIGHT", "start": 2, "end": 2, "quote": "    rounded = [round(i) for i in items]",
				"category": "bugs", "severity": "high", "confidence": 80, "title": "Amounts are rounded before they are added",
				"body": "Each loses up to half a cent.",
			}}})
		case strings.Contains(body, "Your assignment: "):
			return call(answerTool, map[string]any{"findings": []any{}})
		case !strings.Contains(body, "tool_result"):
			return call("Read", map[string]any{"file_path": "shop.py"})
		}
		return call(answerTool, map[string]any{"verdicts": []any{map[string]any{
			"finding": claim.FindStringSubmatch(body)[1], "verdict": "confirmed", "confidence": 90,
			"reason":   "Nothing is kept of the cents.",
			"evidence": []any{map[string]any{"path": "shop.py", "line": 3, "quote": "    return sum(rounded)"}},
		}}})
	})
	e, _ := start(t, m, edits{})
	change := needs.Value(diff.ParsePatch(strings.NewReader(reviewedPatch), diff.DefaultLimits))(t)
	r, err := review.Run(t.Context(), review.Input{
		Repo: precedent.Repo{Host: "example.com", Owner: "a", Name: "b"}, Base: "base", Head: "head", Change: change,
		Engine: e,
		Read: func(side precedent.Side, path string) ([]byte, error) {
			if side == precedent.Right && path == "shop.py" {
				return []byte(reviewedFile), nil
			}
			return nil, errors.New("no such file")
		},
		Shown: func(context.Context) (string, error) { return tree, nil },
		Now:   now, NewID: func() string { return "id" },
	})
	needs.NoError(t, err)
	live := r.Live()
	if len(live) != 1 || live[0].Start != 2 || live[0].Verifier != precedent.Confirmed || live[0].Confidence != 89 { // odds of 80 %, twice
		found, _ := json.Marshal(r.Findings)
		t.Errorf("findings %s, finders %+v, failures %v", found, r.Finders, r.Failures)
	}
	if r.Verdict != precedent.Findings || r.Scope != precedent.FullScope || r.Coverage.HunksRead != 1 ||
		len(r.Failures) > 0 {
		t.Errorf("verdict %s, coverage %+v, failures %v", r.Verdict, r.Coverage, r.Failures)
	}
	asked := 0
	for _, f := range r.Finders {
		if f.Engine == "claude" && f.Status.Good() && f.Requests == 1 && f.CachedTokens > 0 {
			asked++
		}
	}
	if want := len(m.Requests()) - 2; asked != want || want < 1 { // the verifier took two: it read, and it answered
		t.Errorf("%d finders answered in %d requests", asked, want)
	}
	if !slices.ContainsFunc(bodies(m), func(body string) bool {
		return strings.Contains(body, "tool_result") && strings.Contains(body, "return sum(rounded)")
	}) {
		t.Error("the verifier read nothing")
	}
}
