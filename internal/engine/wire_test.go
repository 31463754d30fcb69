package engine

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestRequestOnTheWire holds what programs are written against.
func TestRequestOnTheWire(t *testing.T) {
	got, err := json.Marshal(NewRequest(Task{
		Role: Verifier, Name: "verify", System: "S", Prompt: "P",
		Schema: json.RawMessage(`{"type":"object"}`), Tree: "/tree", BaseTree: "/base",
	}, 1500*time.Millisecond))
	needs.NoError(t, err)
	want := `{"schema":"precedent.task/1","role":"verifier","name":"verify","system":"S","prompt":"P",` +
		`"answer_schema":{"type":"object"},"tree_dir":"/tree","base_dir":"/base","deadline_ms":1500}`
	if string(got) != want {
		t.Errorf("request %s, want %s", got, want)
	}
	if late := NewRequest(Task{}, -time.Second); late.DeadlineMS != 1 {
		t.Errorf("deadline_ms %d after the deadline, want 1", late.DeadlineMS)
	}
}

func TestReadResponse(t *testing.T) {
	ok := func(output string) Reply { return Reply{Status: precedent.StatusOK, Output: []byte(output)} }
	malformed := func(message string) Reply {
		return Reply{Status: precedent.StatusMalformed, Message: "the program's output " + message}
	}
	refused := Reply{Status: precedent.StatusRefused, Message: "the program says that the task was refused"}
	with := func(r Reply, u precedent.Usage, cost float64) Reply {
		r.Usage, r.CostUSD = u, cost
		return r
	}
	for _, test := range []struct {
		name, output string
		want         Reply
	}{
		{"answer", `{"answer":{"a":1}}`, ok(`{"a":1}`)},
		{"answer as text", `{"answer":"Sure: {\"a\":1}"}`, ok(`Sure: {"a":1}`)},
		{"log around it", "loading…\n{\"answer\":[]}\nbye", ok(`[]`)},
		{
			"usage", `{"answer":1,"usage":{"requests":4,"input_tokens":1e3,"cached_tokens":900,"cache_write_tokens":50,"output_tokens":7,"cost_usd":0.25}}`,
			with(ok(`1`), precedent.Usage{
				Requests: 4, InputTokens: 1000, CachedTokens: 900, CacheWriteTokens: 50, OutputTokens: 7,
			}, 0.25),
		},
		{
			"usage that cannot be",
			`{"answer":1,"usage":{"requests":-4,"input_tokens":1e300,"cached_tokens":5,"cache_write_tokens":"many","output_tokens":[],"cost_usd":-1}}`, ok(`1`),
		},
		{
			"more cached than sent", `{"answer":1,"usage":{"input_tokens":10,"cached_tokens":11}}`,
			with(ok(`1`), precedent.Usage{InputTokens: 10, CachedTokens: 10}, 0),
		},
		{"refused", `{"refused":true,"usage":{"output_tokens":7}}`, with(refused, precedent.Usage{OutputTokens: 7}, 0)},
		{"refused in spite of an answer", `{"answer":{"a":1},"refused":true}`, refused},

		{"nothing", ``, malformed("is not a valid response: it is empty")},
		{"not an object", `[{"answer":1}]`, malformed("is not a JSON object")},
		{"no answer", `{}`, malformed(`has no "answer"`)},
		{"null answer", `{"answer":null}`, malformed(`has no "answer"`)},
		{"answer bare", `{"findings":[]}`, malformed(`has no "answer"`)},
		{"answer in another case", `{"Answer":{"a":1}}`, malformed(`has no "answer"`)},
		{
			"answer twice", `{"answer":1,"ANSWER":2}`,
			malformed(`is not a valid response: line 1, byte 21: the key "ANSWER" occurs twice in one object, or differs only in case from another`),
		},
		{"refused in words", `{"answer":1,"refused":"yes"}`, Reply{
			Status: precedent.StatusMalformed, Message: `"refused" in the program's output is neither true nor false`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, ReadResponse([]byte(test.output))); diff != "" {
				t.Errorf("reply (-want +got):\n%s", diff)
			}
		})
	}
	var a Answer
	a.count(ReadResponse([]byte(`{"answer":1,"model":"opus-9 AKIA` + `QYLPMN5HHHFPZAM2"}`)))
	if a.Model != "opus-9 [REDACTED:aws-access-token]" {
		t.Errorf("model %q", a.Model)
	}
}
