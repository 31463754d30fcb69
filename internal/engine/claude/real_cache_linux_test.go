package claude

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// request is one for the model, in the order in which the provider caches it.
type request struct {
	Tools    json.RawMessage
	System   json.RawMessage
	Messages []struct{ Content json.RawMessage }
}

// cached returns the part of a request up to the prompt's cache mark.
func cached(t *testing.T, body string) string {
	t.Helper()
	var r request
	var pieces []json.RawMessage
	err := json.Unmarshal([]byte(body), &r)
	if err == nil {
		err = json.Unmarshal(r.Messages[0].Content, &pieces)
	}
	needs.NoError(t, err)
	all := string(r.Tools) + string(r.System)
	for _, piece := range pieces {
		all += string(piece)
		if strings.Contains(string(piece), "the end of the prefix") {
			if !strings.Contains(string(piece), `"cache_control":{"type":"ephemeral"}`) {
				t.Errorf("no mark behind the prefix: %s", piece)
			}
			return all
		}
	}
	t.Fatalf("the prefix has no block of its own: %s", body)
	return ""
}

// realCache: what two tasks share reaches the model byte by byte alike, up to a mark, in all turns; and the API would
// take the marks, also of a CLI that would set more of them, and others.
func realCache(t *testing.T) {
	tree := t.TempDir()
	plant(t, tree, map[string]string{"a.go": "package zebra\n"})
	read := call("Read", map[string]any{"file_path": "a.go"})
	m := serve(t, read, read, answer(`{"n":5}`))
	e, home := start(t, m, "ENABLE_PROMPT_CACHING_1H=1") // as a person's plan has it
	plant(t, home, map[string]string{".claude.json": `{"cachedGrowthBookFeatures":{"tengu_basalt_spur":true}}`})
	for _, name := range []string{"bugs", "security"} {
		task := realTask(tree)
		task.Name, task.Common, task.Prefix, task.Prompt = name, "What all share. ",
			"The change, to the end of the prefix. ", "Find "+name+"."
		if a, err := e.Run(t.Context(), task); err != nil || a.Status != precedent.StatusOK {
			t.Errorf("%+v, %v", a, err)
		}
	}
	all := bodies(m)
	for _, body := range all {
		if strings.Count(body, `"cache_control"`) > 4 || strings.Contains(body, `"ttl"`) {
			t.Errorf("the API would not take the marks of %s", body)
		}
		if diff := cmp.Diff(cached(t, all[0]), cached(t, body)); diff != "" {
			t.Errorf("another start (-first +this):\n%s", diff)
		}
	}
}

// realCacheRefused: should the API refuse the marks, the review goes on without that of the prompt.
func realCacheRefused(t *testing.T) {
	m := serve(t, llmtest.Reply{
		Status: 400, Message: "A maximum of 4 blocks with cache_control may be provided. Found 5.",
	},
		answer(`{"n":5}`))
	e, _ := start(t, m)
	for range 2 {
		if a, err := e.Run(t.Context(), realTask("")); err != nil || a.Status != precedent.StatusOK {
			t.Errorf("%+v, %v", a, err)
		}
	}
	var marks []int
	for _, body := range bodies(m) {
		marks = append(marks, strings.Count(body, `"cache_control"`))
	}
	if want := []int{4, 3, 3}; !slices.Equal(marks, want) {
		t.Errorf("marks in the requests: %v, want %v", marks, want)
	}
}
