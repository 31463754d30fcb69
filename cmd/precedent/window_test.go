package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
)

// TestSmallLocalModel: a server with a window of 8,192 tokens, without tools,
// without JSON mode. Told of the window, a review reads everything in small
// parts; not told, it ends with a status that says what to do.
func TestSmallLocalModel(t *testing.T) {
	t.Parallel()
	const window = 8192
	s := llmtest.OpenAI(t, func(r llmtest.Request) llmtest.Reply {
		switch asked := len(r.Body)/4 + r.MaxTokens; {
		case len(r.Tools) > 0:
			return llmtest.Reply{Status: http.StatusBadRequest, Message: "registry.example/small does not support tools"}
		case r.Format != "":
			return llmtest.Reply{Status: http.StatusBadRequest, Message: "response_format is not supported by this model"}
		case asked > window:
			return llmtest.Reply{Status: http.StatusBadRequest, Message: fmt.Sprintf(
				"This model's maximum context length is %d tokens. However, you requested %d tokens", window, asked)}
		case strings.Contains(r.System, "try to show that it is wrong"):
			return llmtest.Reply{Text: `{"verdicts":[]}`}
		}
		return llmtest.Reply{Text: "Sure!\n```json\n{\"findings\": [], \"summary\": \"nothing\",}\n```"}
	})
	home := t.TempDir()
	repo := syntheticRepository(t, home, 10, 120)
	review := func(status int, args ...string) precedent.Review {
		cmd := precedentCmd(home, repo, append([]string{"review", "--json", "--quiet"}, args...)...)
		cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+s.URL, "PRECEDENT_MODEL=small")
		return parseReview(t, cmd, status)
	}
	r := review(0, "--context", fmt.Sprint(window))
	if r.Verdict != precedent.Clean || r.Scope != precedent.FullScope || r.Coverage.HunksRead != r.Coverage.Hunks {
		t.Errorf("verdict %s, scope %s, %d of %d hunks read, finders %+v", r.Verdict, r.Scope, r.Coverage.HunksRead, r.Coverage.Hunks, r.Finders)
	}
	if run := generalRun(t, r); run.Requests < 3 {
		t.Errorf("%d requests: the change is not cut into parts", run.Requests)
	}
	r = review(3, "--again")
	if run := generalRun(t, r); r.Verdict != precedent.Failed || run.Status != precedent.StatusTruncated || !strings.Contains(run.Error, "--context 8192") {
		t.Errorf("verdict %s, run %+v", r.Verdict, run)
	}
}
