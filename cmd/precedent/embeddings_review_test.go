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

const (
	embeddingsCanary = "vec-canary-5501"
	// remarked is a comment with the words of the finding, and paraphrased one that makes the same point in
	// others.
	remarked    = "Processing is repeated for every element: the loop calls the function once more each time."
	paraphrased = "Redundant processing again, please hoist invariant computations outside."
)

// commentsFile writes comments of a maintainer, each on a pull request of its own.
func commentsFile(t *testing.T, home string, bodies ...string) string {
	t.Helper()
	var b strings.Builder
	for i, body := range bodies {
		fmt.Fprintf(&b, `{"id":%d,"pull_request_url":"https://example.org/api/v3/repos/team/app/pulls/%d",`+
			`"html_url":"https://example.org/team/app/pull/%[2]d#discussion_r%[1]d","body":%[3]q,`+
			`"user":{"login":"mona","id":5,"type":"User"},"author_association":"MEMBER","path":"other/file.ts","side":"RIGHT",`+
			`"line":3,"diff_hunk":"@@ -1,2 +1,3 @@\n+    run()","created_at":"2025-03-04T05:06:07Z",`+
			`"updated_at":"2025-03-04T05:06:07Z"}`+"\n", 101+i, 11+i, body)
	}
	path := filepath.Join(home, "comments.jsonl")
	writeFile(t, path, b.String(), 0o600)
	return path
}

func citedComments(r precedent.Review) (ids []string) {
	for _, f := range r.Findings {
		for _, c := range f.Cites {
			if c.Kind == "precedent" {
				ids = append(ids, c.ID)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// TestReviewWithEmbeddings: with an embedding model, a comment is found that makes the same point
// in other words. If the model does not answer, the change is reviewed with what words alone find, and
// the review says so, without the key. What is sent is in the tests of internal/corpus.
func TestReviewWithEmbeddings(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	var instead atomic.Pointer[llmtest.VectorReply]
	vectors := llmtest.Embeddings(t, func(r llmtest.TextRequest) (reply llmtest.VectorReply) {
		if instead := instead.Load(); instead != nil {
			return *instead
		}
		for _, text := range r.Texts { // for which remarked and paraphrased are near
			v := llmtest.Words(text, 64)
			if strings.Contains(text, "Redundant") || strings.Contains(text, "repeated") || strings.Contains(text, "hoisting") {
				v[0] += 40
			}
			reply.Vectors = append(reply.Vectors, v)
		}
		return reply
	})
	repo := syntheticRepository(t, home, 1, 20)
	model := serveAnswers(t, func(q question) string {
		const line = `func after0_3(in []byte) error { return process(in, 3, \"after\") }`
		switch {
		case len(q.claims) > 0:
			return q.confirm()
		case len(q.pairs) > 0:
			return q.same(paraphrased)
		case strings.Contains(strings.ToLower(q.finder), "bug"):
			return `{"findings":[{"path":"pkg00/file000.ts","quote":"` + line + `","category":"bugs","severity":"medium",` +
				`"confidence":95,"title":"Processing is repeated for every element",` +
				`"body":"The loop calls the function once more each time."}]}`
		}
		return nothing
	})
	with := func(cmd *exec.Cmd) *exec.Cmd {
		cmd.Args = append(cmd.Args, "--repo", "example.org/team/app", "--memory-db", filepath.Join(home, "m.db"))
		cmd.Env = append(cmd.Env, "PRECEDENT_EMBEDDINGS_URL="+vectors.URL, "PRECEDENT_EMBEDDINGS_MODEL=vectors",
			"PRECEDENT_EMBEDDINGS_KEY="+embeddingsCanary)
		return cmd
	}
	review := func() precedent.Review {
		return parseReview(t, with(reviewWith(model.URL, home, repo, "--json", "--again", "--threshold", "1")), 0)
	}
	bodies := []string{remarked, paraphrased}
	for i := range 7 {
		bodies = append(bodies, fmt.Sprintf("Unrelated remark number %d about spelling, dates and the changelog entry.", i))
	}
	ends(t, 0, with(precedentCmd(home, repo, "corpus", "import", commentsFile(t, home, bodies...))))
	r := review()
	if got := citedComments(r); !slices.Equal(got, []string{"inline:101", "inline:102"}) || len(r.Memory.PrecedentUse.Failures) > 0 {
		t.Errorf("cited %v, %+v", got, r.Memory.PrecedentUse)
	}
	instead.Store(&llmtest.VectorReply{Status: 401, Message: "no such key: " + embeddingsCanary})
	r = review()
	failures := strings.Join(r.Memory.PrecedentUse.Failures, "\n")
	if got := citedComments(r); !slices.Equal(got, []string{"inline:101"}) || r.Verdict != precedent.Findings ||
		!strings.Contains(failures, "no such key: [key]") || !strings.Contains(failures, "compared by their words alone") {
		t.Errorf("verdict %s, cited %v, failures %q", r.Verdict, got, failures)
	}
	if !slices.ContainsFunc(r.Failures, func(f precedent.Failure) bool { return f.Error == failures }) {
		t.Errorf("failures %+v", r.Failures)
	}
}
