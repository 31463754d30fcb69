//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
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
		line, err := json.Marshal(map[string]any{
			"id": 101 + i, "pull_request_url": fmt.Sprintf("https://example.org/api/v3/repos/team/app/pulls/%d", 11+i),
			"html_url": fmt.Sprintf("https://example.org/team/app/pull/%d#discussion_r%d", 11+i, 101+i), "body": body,
			"user": map[string]any{"login": "mona", "id": 5, "type": "User"}, "author_association": "MEMBER", "path": "other/file.ts", "side": "RIGHT", "line": 3,
			"diff_hunk": "@@ -1,2 +1,3 @@\n+    run()", "commit_id": "0123456789012345678901234567890123456789",
			"created_at": "2025-03-04T05:06:07Z", "updated_at": "2025-03-04T05:06:07Z",
		})
		needs.NoError(t, err)
		b.Write(append(line, '\n'))
	}
	path := filepath.Join(home, "comments.jsonl")
	writeFile(t, path, b.String(), 0o600)
	return path
}

// embeddedReview is a repository with a corpus, a change that repeats a remark, a model that sees it, and a server of
// vectors for which remarked and paraphrased are near.
type embeddedReview struct {
	t                 *testing.T
	home, repo, model string
	vectors           *llmtest.EmbeddingServer
	reply             atomic.Pointer[llmtest.VectorReply] // in place of vectors
}

func newEmbeddedReview(t *testing.T) *embeddedReview {
	t.Helper()
	e := &embeddedReview{t: t, home: t.TempDir()}
	e.vectors = llmtest.Embeddings(t, func(r llmtest.TextRequest) (reply llmtest.VectorReply) {
		if instead := e.reply.Load(); instead != nil {
			return *instead
		}
		for _, text := range r.Texts {
			v := llmtest.Words(text, 64)
			if strings.Contains(text, "Redundant") || strings.Contains(text, "repeated") || strings.Contains(text, "hoisting") {
				v[0] += 40
			}
			reply.Vectors = append(reply.Vectors, v)
		}
		return reply
	})
	e.repo = syntheticRepository(t, e.home, 1, 20)
	e.model = serveAnswers(t, func(q question) string {
		const line = `func after0_3(in []byte) error { return process(in, 3, \"after\") }`
		switch {
		case len(q.claims) > 0:
			return q.confirm()
		case len(q.pairs) > 0:
			return q.same(paraphrased)
		case strings.Contains(strings.ToLower(q.finder), "bug"):
			return `{"findings":[{"path":"pkg00/file000.ts","quote":"` + line + `","category":"bugs","severity":"medium","confidence":95,"title":"Processing is repeated for every element","body":"The loop calls the function once more each time."}]}`
		}
		return nothing
	}).URL
	return e
}

// withVectors gives a command the embedding model.
func withVectors(cmd *exec.Cmd, url string) *exec.Cmd {
	cmd.Env = append(cmd.Env, "PRECEDENT_EMBEDDINGS_URL="+url, "PRECEDENT_EMBEDDINGS_MODEL=vectors", "PRECEDENT_EMBEDDINGS_KEY="+embeddingsCanary)
	return cmd
}

// run runs a command with the corpus, and returns what it prints.
func (e *embeddedReview) run(args ...string) string {
	e.t.Helper()
	args = append(args, "--repo", "example.org/team/app", "--memory-db", filepath.Join(e.home, "m.db"))
	out, said := ends(e.t, 0, withVectors(precedentCmd(e.home, e.repo, args...), e.vectors.URL))
	if strings.Contains(out+said, "canary") {
		e.t.Errorf("the key shows:\n%s%s", out, said)
	}
	return out + said
}

// review reviews the change again.
func (e *embeddedReview) review(env ...string) precedent.Review {
	e.t.Helper()
	cmd := reviewWith(e.model, e.home, e.repo, "--json", "--again", "--threshold", "1", "--repo", "example.org/team/app")
	withVectors(cmd, e.vectors.URL)
	cmd.Env = append(cmd.Env, env...)
	return parseReview(e.t, cmd, 0)
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
// the review says so. What is sent is in the tests of internal/corpus.
func TestReviewWithEmbeddings(t *testing.T) {
	t.Parallel()
	e := newEmbeddedReview(t)
	bodies := []string{remarked, paraphrased}
	for i := range 7 {
		bodies = append(bodies, fmt.Sprintf("Unrelated remark number %d about spelling, dates and the changelog entry.", i))
	}
	comments := commentsFile(t, e.home, bodies...)
	for _, step := range []struct {
		reply    *llmtest.VectorReply
		says     string
		requests int // until then
	}{
		{&llmtest.VectorReply{Status: 401}, "the next sync or import goes on", 1},
		{nil, "9 already there", 3}, // the size, and one batch
		{nil, "9 already there", 4}, // all have a vector
	} {
		e.reply.Store(step.reply)
		if out := e.run("corpus", "import", comments); !strings.Contains(strings.Join(strings.Fields(out), " "), step.says) {
			t.Error(out)
		}
		if n := len(e.vectors.Requests()); n != step.requests {
			t.Errorf("%d requests, want %d", n, step.requests)
		}
	}
	r := e.review()
	if got := citedComments(r); !slices.Equal(got, []string{"inline:101", "inline:102"}) || len(r.Memory.PrecedentUse.Failures) > 0 {
		t.Errorf("cited %v, %+v", got, r.Memory.PrecedentUse)
	}
	for _, test := range []struct {
		reply     *llmtest.VectorReply
		env, says string
	}{
		{&llmtest.VectorReply{Status: 401, Message: "no such key: " + embeddingsCanary}, "", "no such key: [key]"},
		{nil, "PRECEDENT_EMBEDDINGS_MODEL=other", "no comment has a vector of other"},
	} {
		e.reply.Store(test.reply)
		r = e.review(test.env)
		failures := strings.Join(r.Memory.PrecedentUse.Failures, "\n")
		if got := citedComments(r); !slices.Equal(got, []string{"inline:101"}) || r.Verdict != precedent.Findings ||
			!strings.Contains(failures, test.says) || !strings.Contains(failures, "compared by their words alone") {
			t.Errorf("verdict %s, cited %v, failures %q", r.Verdict, got, failures)
		}
		if !slices.ContainsFunc(r.Failures, func(f precedent.Failure) bool { return strings.Contains(f.Error, test.says) }) {
			t.Errorf("failures %+v", r.Failures)
		}
	}
}
