package llm

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
)

func embeddingsAt(t *testing.T, url string, dimensions int, clock *fakeTime) *Embeddings {
	t.Helper()
	e, err := NewEmbeddings(EmbeddingsConfig{
		Key: canary, BaseURL: url + "/", Model: "vectors", Dimensions: dimensions, Waiting: clock.waiting(),
	})
	needs.NoError(t, err)
	return e
}

// direction is a vector of the length 1 as the server's Words has it.
func direction(text string, size int) []float32 {
	v := llmtest.Words(text, size)
	sum := 0.0
	for _, f := range v {
		sum += float64(f) * float64(f)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

func TestEmbeddings(t *testing.T) {
	for name, test := range map[string]struct {
		reply      llmtest.VectorReply
		dimensions int
	}{
		"in order":    {llmtest.VectorReply{Tokens: 7}, 0},
		"shuffled":    {llmtest.VectorReply{Tokens: 7, Shuffled: true}, 0},
		"no numbers":  {llmtest.VectorReply{Tokens: 7, Unindexed: true}, 0},
		"a size":      {llmtest.VectorReply{Tokens: 7}, 4},
		"not counted": {llmtest.VectorReply{Uncount: true}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.Embeddings(t, llmtest.VectorScript(test.reply))
			texts := []string{"close the file", "an é < 1", "check the error"}
			got, err := embeddingsAt(t, s.URL+"/embeddings", test.dimensions, &fakeTime{}).Embed(t.Context(), texts)
			needs.NoError(t, err)
			for i, text := range texts {
				if v := got.Vectors[i]; math.Abs(cosine(v, v)-1) > 1e-6 ||
					cosine(v, direction(text, cmp.Or(test.dimensions, 8))) < 0.999 {
					t.Errorf("%s has %v", text, v)
				}
			}
			usage := precedent.Usage{Requests: 1, InputTokens: 7}
			if test.reply.Uncount {
				usage.InputTokens = ExpectTokens(texts)
			}
			if got.Usage != usage {
				t.Errorf("%+v", got)
			}
			r := s.Requests()[0]
			if r.Model != "vectors" || r.Dimensions != test.dimensions || r.Header.Get("Authorization") != "Bearer "+canary {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestEmbeddingsFail: each way to fail is an *Error of its kind, says in words what is
// wrong, and does not hold the key.
func TestEmbeddingsFail(t *testing.T) {
	other := llmtest.Embeddings(t, llmtest.VectorScript(llmtest.VectorReply{})) // sees neither the key nor a text
	elsewhere := http.Header{"Location": {other.URL + "/embeddings"}}
	vectors := func(v ...[]float32) llmtest.VectorReply { return llmtest.VectorReply{Vectors: v} }
	const row, unnumbered = `{"index":%d,"embedding":%s}`, `{"data":[{"index":1,"embedding":[1]},{"embedding":[1]}]}`
	data := func(rows ...any) llmtest.VectorReply {
		return llmtest.VectorReply{Body: fmt.Sprintf(`{"data":[`+row+`,`+row+`]}`, rows...)}
	}
	for _, test := range []struct {
		reply    llmtest.VectorReply
		kind     Kind
		says     string
		requests int
	}{
		{llmtest.VectorReply{Status: 401, Message: "Wrong key: " + canary}, KindAuth, "answered 401: Wrong key: [key]", 1},
		{llmtest.VectorReply{Status: 429, Header: retryAfterHeader("7")}, KindRate, "answered 429", maxTries},
		{llmtest.VectorReply{Status: 307, Header: elsewhere}, KindRequest, "was not followed", 1},
		{vectors([]float32{1, 2}, []float32{2, 1, 3}), KindVector, "3 dimensions, and others of the same model have 2", 1},
		{vectors([]float32{1}), KindVector, "1 vectors were returned for 2 texts", 1},
		{vectors([]float32{}, []float32{}), KindVector, "a vector has 0 dimensions", 1},
		{data(1, "[1]", 1, "[1]"), KindVector, "not numbered like the texts", 1},
		{llmtest.VectorReply{Body: unnumbered}, KindVector, "not numbered like the texts", 1},
		{data(0, "[NaN]", 1, "[1]"), KindVector, "not a finite number", 3},
		{data(0, "null", 1, "[[1]]"), KindVector, "not a finite number", 3},
		{data(0, "[1e39]", 1, "[1]"), KindVector, "not a finite number", 3}, // beyond 32 bits
		{vectors([]float32{0, 0}, []float32{0, 0}), KindVector, "has no direction", 3},
		{llmtest.VectorReply{Status: 500, Message: "json: unsupported value: NaN"}, KindVector, "NaN", 3}, // of Ollama
		{llmtest.VectorReply{Cut: 60}, KindServer, "cut short", maxTries},
		{llmtest.VectorReply{Body: `{"error":{"message":"no such model"}}`}, KindServer, "no such model", maxTries},
		{llmtest.VectorReply{Flood: true}, KindTooLarge, "larger than 8 MiB", 2},
	} {
		t.Run(test.says, func(t *testing.T) {
			texts := []string{"a", "b"}
			s := llmtest.Embeddings(t, func(r llmtest.TextRequest) llmtest.VectorReply {
				reply := test.reply
				if reply.Vectors != nil && len(r.Texts) < len(texts) {
					reply.Vectors = reply.Vectors[:1]
				}
				if reply.Body != "" && len(r.Texts) < len(texts) {
					reply.Body = strings.ReplaceAll(reply.Body[:strings.Index(reply.Body+"},{", "},{")]+"}]}", `"index":1`,
						`"index":0`)
				}
				return reply
			})
			_, err := embeddingsAt(t, s.URL, 0, &fakeTime{}).Embed(t.Context(), texts)
			var e *Error
			if !errors.As(err, &e) || e.Kind != test.kind || !strings.Contains(err.Error(), test.says) ||
				strings.Contains(fmt.Sprintf("%v %+v", err, e), canary) {
				t.Errorf("%#v: %v", e, err)
			}
			if n := len(s.Requests()); n != test.requests {
				t.Errorf("%d requests, want %d", n, test.requests)
			}
		})
	}
}

// TestEmbeddingsOfAnotherSize: a server whose vectors change their size between two calls is not believed.
func TestEmbeddingsOfAnotherSize(t *testing.T) {
	s := llmtest.Embeddings(t, llmtest.VectorScript(llmtest.VectorReply{Size: 8}, llmtest.VectorReply{Size: 16}))
	e := embeddingsAt(t, s.URL, 0, &fakeTime{})
	if _, err := e.Embed(t.Context(), []string{"a"}); err != nil {
		t.Fatal(err)
	}
	_, err := e.Embed(t.Context(), []string{"b"})
	if err == nil || !strings.Contains(err.Error(), "a vector has 16 dimensions, and others of the same model have 8") {
		t.Error(err)
	}
}

// TestEmbeddingsBatches: requests are bounded in texts and bytes, and smaller for a server
// that takes less, from then on.
func TestEmbeddingsBatches(t *testing.T) {
	const most = 10
	s := llmtest.Embeddings(t, func(r llmtest.TextRequest) llmtest.VectorReply {
		if len(r.Texts) > most { // as DashScope says it
			return llmtest.VectorReply{
				Status:  400,
				Message: "batch size is invalid, it should not be larger than 10.: input.contents",
			}
		}
		return llmtest.VectorReply{Tokens: 1}
	})
	var texts []string
	for i := range 3*mostTexts + 1 {
		texts = append(texts, fmt.Sprintf("text %d", i))
	}
	got, err := embeddingsAt(t, s.URL, 0, &fakeTime{}).Embed(t.Context(), texts)
	needs.NoError(t, err)
	for i, text := range texts {
		if cosine(got.Vectors[i], direction(text, 8)) < 0.999 {
			t.Errorf("%s has another's vector", text)
		}
	}
	if n := len(s.Requests()); n != 7+9 { // 32, 16, 8, 8, 16, 8, 8, and then by eights
		t.Errorf("%d requests", n)
	}
	s = llmtest.Embeddings(t, llmtest.VectorScript(llmtest.VectorReply{}))
	long := strings.Repeat("word ", mostTextBytes/10)
	if _, err := embeddingsAt(t, s.URL, 0, &fakeTime{}).Embed(t.Context(), []string{long, long, long}); err != nil ||
		len(s.Requests()) != 2 {
		t.Errorf("%v after %d requests", err, len(s.Requests()))
	}
}

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// TestEmbeddingsOddTexts: a text that is too long is shortened until the model takes it, and
// one that the model fails for has no vector. Neither harms the others.
func TestEmbeddingsOddTexts(t *testing.T) {
	long := strings.Repeat("a word ", 600)
	s := llmtest.Embeddings(t, func(r llmtest.TextRequest) llmtest.VectorReply {
		for _, text := range r.Texts {
			if len(text) > 1200 { // as llama.cpp says it
				return llmtest.VectorReply{
					Status:  500,
					Message: "input (992 tokens) is too large to process. increase the physical batch size (current batch size: 512)",
				}
			}
			if text == "importance" {
				return llmtest.VectorReply{Status: 500, Message: "failed to encode response: json: unsupported value: NaN"}
			}
		}
		return llmtest.VectorReply{}
	})
	e := embeddingsAt(t, s.URL, 0, &fakeTime{})
	got, err := e.Embed(t.Context(), []string{"importance", "one", "two", long, "three", "four", "five", "six"})
	needs.NoError(t, err)
	for i, v := range got.Vectors {
		if (v == nil) != (i == 0) {
			t.Errorf("vector %d: %v", i, v)
		}
	}
	if e.most != mostTexts {
		t.Errorf("at most %d texts", e.most)
	}
	// A model that fails for one text after the other is out of order.
	before := len(s.Requests())
	var same []string
	for range 300 {
		same = append(same, "importance")
	}
	if _, err := e.Embed(t.Context(), same); kindOf(err) != KindVector || len(s.Requests())-before > 2*mostTexts {
		t.Errorf("%v after %d requests", err, len(s.Requests())-before)
	}
}

// TestEmbeddingsOfAnything: whatever is answered, the vectors are those of the texts or there is an error.
func TestEmbeddingsOfAnything(t *testing.T) {
	words := rapid.SampledFrom([]string{
		`{"data":[`, `]}`, `{"index":0,"embedding":[`, `{"embedding":[`, `{"index":1,"embedding":[`, `]}`, `,`, "1", "-2.5e3",
		"null", "NaN", "[", "]", `""`, " ",
		`"usage":{"prompt_tokens":-5}`, "1e400", "0x1p-3", "1_0", "}", "{",
	})
	var answer string
	s := llmtest.Embeddings(t, func(llmtest.TextRequest) llmtest.VectorReply {
		return llmtest.VectorReply{Body: answer + " "}
	})
	rapid.Check(t, func(rt *rapid.T) {
		answer = strings.Join(rapid.SliceOfN(words, 0, 16).Draw(rt, "words"), "")
		e := embeddingsAt(t, s.URL, 0, &fakeTime{})
		got, err := e.Embed(t.Context(), []string{"a"})
		if err == nil && (len(got.Vectors) != 1 || math.Abs(cosine(got.Vectors[0], got.Vectors[0])-1) > 1e-6 ||
			got.Usage.InputTokens < 0) {
			rt.Fatalf("%q: %+v", answer, got)
		}
	})
}
