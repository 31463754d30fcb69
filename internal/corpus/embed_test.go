package corpus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/store"
)

var embedDay = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// meaning is an embedding model of tests: texts that share a word with a topic are near, and it notes what it was sent.
type meaning struct {
	size   int
	topics [][]string
	sent   []string
	calls  int
	fail   func(texts []string) ([][]float32, error) // in place of vectors; nil for none
}

func (m *meaning) embed(_ context.Context, texts []string) ([][]float32, error) {
	m.calls++
	m.sent = append(m.sent, texts...)
	if m.fail != nil {
		return m.fail(texts)
	}
	var all [][]float32
	for _, t := range texts {
		v := llmtest.Words(t, m.size)
		for i := range v {
			v[i] *= 0.02 // little beside the topic
		}
		for i, topic := range m.topics {
			if slices.ContainsFunc(topic, func(w string) bool { return strings.Contains(strings.ToLower(t), w) }) {
				v[i]++
			}
		}
		all = append(all, unitOf(v))
	}
	return all, nil
}

func unitOf(v []float32) []float32 {
	sum := 0.0
	for _, f := range v {
		sum += float64(f) * float64(f)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

func (m *meaning) embedding() *Embedding {
	return &Embedding{Embed: m.embed, Model: "meaning", Host: "vectors.example", Within: time.Minute}
}

func newMeaning() *meaning {
	return &meaning{size: 32, topics: [][]string{
		{"leak", "descriptor", "closed"},
		{"slow", "latency"},
		{"typo", "spelling"},
	}}
}

// embedCorpus is a corpus with one comment for each body, of pull requests 1, 2, ….
func embedCorpus(t *testing.T, e *Embedding, bodies ...string) *Corpus {
	t.Helper()
	c := openCorpus(t, "", func() time.Time { return embedDay })
	c.Embedding = e
	for i, body := range bodies {
		say(t, c, i+1, body, embedDay)
	}
	return c
}

func say(t *testing.T, c *Corpus, n int, body string, updated time.Time) {
	t.Helper()
	page := pageOf(n, body)
	page.Comments[0].UpdatedAt, page.Pulls[0].UpdatedAt = updated, updated
	needs.Value(c.Save(t.Context(), page))(t)
}

// pageOf is a page with one comment of a maintainer on another's pull request.
func pageOf(n int, body string) Page {
	id := precedent.ForgeID(fmt.Sprint(n))
	return Page{
		Pulls: []store.CorpusPull{{CorpusPull: precedent.CorpusPull{Number: n, AuthorID: "9", Author: "eve", UpdatedAt: embedDay}}},
		Comments: []Comment{{CorpusComment: precedent.CorpusComment{
			Kind: "inline", ID: id, Root: id, Pull: n, AuthorID: "7", Author: "dana", MayWrite: true,
			Body: precedent.Untrusted(body), At: embedDay, UpdatedAt: embedDay, URL: "https://example.org/c/" + string(id),
		}}},
	}
}

var embedBodies = []string{
	"Every descriptor has to be closed on all paths, including the error path.",
	"Please keep the latency of this handler in mind and cache the answer.",
	"There is a spelling mistake in the name of this function.",
	"Use the helper for parsing dates instead of splitting by hand.",
}

// TestEmbedFindsParaphrase: a text that shares no word with a comment finds it by its vector,
// in a search and for a finding, and the reason is in the ranks.
func TestEmbedFindsParaphrase(t *testing.T) {
	const query = "Leak of a file handle"
	plain := embedCorpus(t, nil, embedBodies...)
	x := needs.Value(plain.Open(t.Context()))(t)
	if r := found(t, x, Query{Text: query}); len(r.Failures) > 0 || len(r.Hits) > 0 && r.Hits[0].ID == "1" {
		t.Fatalf("found by words: %+v", r)
	}
	m := newMeaning()
	c := embedCorpus(t, m.embedding(), embedBodies...)
	needs.Result(t, "Embed", (Swept{Dimensions: 32, Chunks: 4}))(c.Embed(t.Context()))
	x = needs.Value(c.Open(t.Context()))(t)
	r := found(t, x, Query{Text: query})
	if len(r.Failures) > 0 || len(r.Hits) == 0 || r.Hits[0].ID != "1" || !slices.ContainsFunc(r.Hits[0].Ranks, func(r Rank) bool { return r.List == textVector && r.Rank == 1 }) {
		t.Fatalf("%+v", r)
	}
	f := &precedent.Finding{Title: query, Body: "It may run out of them."}
	if h, err := x.Matches(t.Context(), f, Query{}); err != nil || len(h) > 0 && h[0].ID == "1" {
		t.Errorf("a finding whose vector was not asked for: %+v, %v", h, err)
	}
	if why := x.EmbedFindings(t.Context(), []*precedent.Finding{f}, Query{}); why != "" {
		t.Fatal(why)
	}
	h, err := x.Matches(t.Context(), f, Query{})
	if err != nil || len(h) == 0 || h[0].ID != "1" || h[0].Strength() != Candidate {
		t.Errorf("%+v", h)
	}
	before := m.calls
	x.EmbedFindings(t.Context(), []*precedent.Finding{f, f}, Query{})
	needs.Equal(t, before, m.calls)
}

// TestEmbedResumes: a sweep that fails keeps what it has, the next one asks for the rest, and a
// comment that was edited gets another vector.
func TestEmbedResumes(t *testing.T) {
	m := newMeaning()
	var bodies []string
	for i := range sweepBatch + 10 {
		bodies = append(bodies, fmt.Sprintf("Please check the error of call number %d in this place.", i))
	}
	c := embedCorpus(t, m.embedding(), bodies...)
	down := errors.New("down")
	calls := 0
	whole := &meaning{size: 32}
	m.fail = func(texts []string) ([][]float32, error) {
		if calls++; calls > 2 {
			return nil, down
		}
		return whole.embed(t.Context(), texts)
	}
	swept, err := c.Embed(t.Context())
	if !errors.Is(err, down) || swept.Chunks != sweepBatch {
		t.Fatalf("%+v, %v", swept, err)
	}
	m.fail, m.sent = nil, nil
	if swept, err = c.Embed(t.Context()); err != nil || swept.Chunks != 10 || len(m.sent) != 11 {
		t.Fatalf("%+v, %v, %d sent", swept, err, len(m.sent))
	}
	say(t, c, 3, "Now it is about latency and something else entirely.", embedDay.Add(time.Hour))
	m.sent = nil
	if swept, err = c.Embed(t.Context()); err != nil || swept.Chunks != 1 || len(m.sent) != 2 ||
		!strings.Contains(m.sent[1], "latency") {
		t.Fatalf("%+v, %v, sent %q", swept, err, m.sent)
	}
}

// TestEmbedFails: whatever the model does at the time of a search, the words are compared, one
// sentence says so, and the model is not asked twice.
func TestEmbedFails(t *testing.T) {
	vectors := func(all [][]float32, err error) Embedder {
		return func(context.Context, []string) ([][]float32, error) { return all, err }
	}
	for name, test := range map[string]struct {
		fail Embedder
		says string
	}{
		"down": {vectors(nil, errors.New("connection refused")), "connection refused"},
		"slow": {func(ctx context.Context, _ []string) ([][]float32, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, "no answer within 20ms"},
		"another size": {
			vectors([][]float32{{1, 0}}, nil), "a vector has 2 dimensions, and those of the comments have 32",
		},
		"too few":            {vectors(nil, nil), "0 vectors were returned for 1 texts"},
		"nothing for a text": {vectors([][]float32{nil}, nil), "has no vector for a text"},
		"another model":      {nil, "no comment has a vector of other"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMeaning()
			e := m.embedding()
			e.Within = 20 * time.Millisecond
			c := embedCorpus(t, e, embedBodies...)
			needs.Value(c.Embed(t.Context()))(t)
			want := 1
			if test.fail == nil { // has vectors of its own
				e.Model, want = "other", 0
			}
			x := needs.Value(c.Open(t.Context()))(t)
			asked := 0
			e.Embed = func(ctx context.Context, texts []string) ([][]float32, error) {
				asked++
				return test.fail(ctx, texts)
			}
			for range 3 {
				r := found(t, x, Query{Text: "use the helper for parsing dates"})
				if len(r.Hits) == 0 || r.Hits[0].ID != "4" || len(r.Failures) != 1 || !strings.Contains(r.Failures[0], test.says) ||
					!strings.Contains(r.Failures[0], "by their words alone") &&
						!strings.Contains(r.Failures[0], "by its words alone") {
					t.Fatalf("%+v", r)
				}
			}
			needs.Equal(t, want, asked)
		})
	}
}

// TestEmbedSends: no secret, neither of the repository nor of the program, and no long text. A comment for which there is
// no vector then does not stop the others, and is not asked for without end.
func TestEmbedSends(t *testing.T) {
	const token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	const own = "vJ9s-Qk2xLm47TzR0pWd"
	m := newMeaning()
	e := m.embedding()
	e.Own = secret.NewOwn(own)
	long := strings.Repeat("very long words here ", 2000)
	c := embedCorpus(t, e, "Do not commit the token "+token+" to the repository, please.",
		"Why is "+own+" in this file at all, please remove it.", long)
	swept, err := c.Embed(t.Context())
	if err != nil || swept.Chunks < 2 || swept.Without == 0 {
		t.Fatalf("%+v, %v", swept, err)
	}
	x := needs.Value(c.Open(t.Context()))(t)
	found(t, x, Query{Text: "what about " + token})
	x.EmbedFindings(t.Context(), []*precedent.Finding{
		{Title: "A leak of " + own, Body: "x"},
		{Title: "A secret " + token, Body: long},
	}, Query{})
	for _, s := range m.sent {
		if strings.Contains(s, token[:12]) || strings.Contains(s, own[:8]) || len(s) > maxSent+8 {
			t.Errorf("sent %d bytes: %.200s", len(s), s)
		}
	}
	if !strings.Contains(strings.Join(m.sent, "\n"), "[REDACTED:") {
		t.Errorf("sent %q", m.sent)
	}
}
