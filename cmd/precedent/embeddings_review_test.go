//go:build unix

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
)

// TestReviewWithEmbeddings: a review asks the embedding model of the settings. If that does not answer, the change is
// reviewed with what words alone find, and the review says so, without the key. What is found and sent is in the tests
// of internal/corpus.
func TestReviewWithEmbeddings(t *testing.T) {
	t.Parallel()
	const canary = "vec-canary-5501"
	home := t.TempDir()
	var fails atomic.Bool
	vectors := llmtest.Embeddings(t, func(llmtest.TextRequest) llmtest.VectorReply {
		if fails.Load() {
			return llmtest.VectorReply{Status: 401, Message: "no such key: " + canary}
		}
		return llmtest.VectorReply{}
	})
	repo := syntheticRepository(t, home, 1, 20)
	model := serveAnswers(t, func(q question) string {
		switch {
		case len(q.claims) > 0:
			return q.confirm()
		case len(q.pairs) > 0:
			return `{"pairs":[{"pair":"p1","same":false,"quote":""}]}`
		case strings.Contains(strings.ToLower(q.finder), "bug"):
			return `{"findings":[{"path":"pkg00/file000.ts",` +
				`"quote":"func after0_3(in []byte) error { return process(in, 3, \"after\") }","category":"bugs",` +
				`"severity":"medium","confidence":95,"title":"Processing is repeated for every element",` +
				`"body":"The loop calls the function once more each time."}]}`
		}
		return nothing
	})
	with := func(cmd *exec.Cmd) *exec.Cmd {
		cmd.Args = append(cmd.Args, "--repo", "example.org/team/app", "--memory-db", filepath.Join(home, "m.db"))
		cmd.Env = append(cmd.Env, "PRECEDENT_EMBEDDINGS_URL="+vectors.URL, "PRECEDENT_EMBEDDINGS_MODEL=vectors",
			"PRECEDENT_EMBEDDINGS_KEY="+canary)
		return cmd
	}
	var comments strings.Builder
	for i, body := range []string{
		"Processing is repeated for every element: the loop calls the function once more each time.",
		"An unrelated remark about spelling, dates and the changelog entry.",
	} {
		fmt.Fprintf(&comments, `{"id":%d,"pull_request_url":"https://example.org/api/v3/repos/team/app/pulls/%d",`+
			`"html_url":"https://example.org/team/app/pull/%[2]d#discussion_r%[1]d","body":%[3]q,`+
			`"user":{"login":"mona","id":5,"type":"User"},"author_association":"MEMBER","path":"other/file.ts","side":"RIGHT",`+
			`"line":3,"diff_hunk":"@@ -1,2 +1,3 @@\n+    run()","created_at":"2025-03-04T05:06:07Z",`+
			`"updated_at":"2025-03-04T05:06:07Z"}`+"\n", 101+i, 11+i, body)
	}
	file := filepath.Join(home, "comments.jsonl")
	writeFile(t, file, comments.String(), 0o600)
	ends(t, 0, with(precedentCmd(home, repo, "corpus", "import", file)))
	for _, failed := range []bool{false, true} {
		fails.Store(failed)
		r := parseReview(t, with(reviewWith(model.URL, home, repo, "--json", "--again", "--threshold", "1")), 0)
		var cited []string
		for _, f := range r.Findings {
			for _, c := range f.Cites {
				cited = append(cited, c.ID)
			}
		}
		failures := strings.Join(r.Memory.PrecedentUse.Failures, "\n")
		says := strings.Contains(failures, "no such key: [key]") &&
			strings.Contains(failures, "compared by their words alone")
		if !slices.Equal(cited, []string{"inline:101"}) || r.Verdict != precedent.Findings ||
			(failures != "") != failed || says != failed {
			t.Errorf("verdict %s, cited %v, failures %q", r.Verdict, cited, failures)
		}
		if failed != slices.ContainsFunc(r.Failures, func(f precedent.Failure) bool { return f.Error == failures }) {
			t.Errorf("failures %+v", r.Failures)
		}
	}
}
