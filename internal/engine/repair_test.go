package engine

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var repairable = []struct{ name, in, want string }{
	{"valid", `{"a": [1, 2.5e3, "x", null, true]}`, `{"a": [1, 2.5e3, "x", null, true]}`},
	{"valid braces in a string", `{"a":"}{\"]["}`, `{"a":"}{\"]["}`},
	{"byte order mark", "\uFEFF{\"a\":1}", `{"a":1}`},
	{"prose", `Here you are: {"a":1}. Enjoy {it}!`, `{"a":1}`},
	{"a thought", "<think>Is it {\"a\":0}?</think>\n{\"a\":1}", `{"a":1}`},
	{"prose with code", "In `if x { return }` and f() {} and map[string]int{\"a\", 1} all is well.\n{\"a\":1}", `{"a":1}`},
	{"prose with a footnote", `As [1] says: [{"a":1}] [2]`, `[{"a":1}]`},
	{"fence", "```json\n{\"a\":1}\n```", `{"a":1}`},
	{"fence of code first", "```go\nfunc f() {}\n```\n```json\n{\"a\":1}\n```", `{"a":1}`},
	{"fence inside a string", "```json\n{\"a\":\"```go\nx\n```\"}\n```", "{\"a\":\"```go\\nx\\n```\"}"},
	{"the same twice", "{\"a\":1}\n```json\n{\"a\":1}\n```", `{"a":1}`},
	{"the same twice, once indented", "{\"a\": [1]}\n```json\n{\n  \"a\": [\n    1,\n  ]\n}\n```", `{"a": [1]}`},
	{"two objects", `{"a":1}{"b":2}`, `{"a":1}`},
	{"indented fence", "See {\"x\":0}:\n \t```json\n{\"a\":1}\n", `{"a":1}`},
	{"empty objects alone", `Nothing: {} { }`, `{}`},
	{"white space around commas", "x {\"a\":[1\r\n\t,\r\n\t],\"b\":2\r\n\t,\r\n\t}", `{"a":[1],"b":2}`},
	{"trailing commas", `{"a":[1,2,],"b":{"c":3,},}`, `{"a":[1,2],"b":{"c":3}}`},
	{"line break in a string", "{\"a\":\"x\ny\tz\x01\"}", `{"a":"x\ny\tz\u0001"}`},
	{"invalid UTF-8", "{\"a\":\"\xff\"}", "{\"a\":\"\uFFFD\"}"},
	{"escapes", `x {"a":"\u00e9\n\"\\\/\b\f\r\t"}`, `{"a":"\u00e9\n\"\\\/\b\f\r\t"}`},
	{
		"as deep as may be", strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth),
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth),
	},
}

func TestRepair(t *testing.T) {
	for _, test := range repairable {
		t.Run(test.name, func(t *testing.T) {
			got, err := Repair([]byte(test.in))
			if err != nil {
				t.Fatalf("Repair: %v", err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("Repair (-want +got):\n%s", diff)
			}
		})
	}
}

var irreparable = []struct{ name, in, want string }{
	{"empty", "", "it is empty"},
	{"a draft and an answer", `{"a":[]} Wait: {"a":[{"a":1}]}`, "several answers"},
	{"an example and an answer", "```json\n{\"a\":[]}\n```\n{\"a\":[1]", "several answers"},
	{"prose", "I could not find anything.", "no JSON object"},
	{"breaks off in a string", `{"a":"b`, "incomplete"},
	{"breaks off in an escape", `{"a":"b\u00`, "incomplete"},
	{"no part for the whole", `{"findings":[{"a":1},{"a":x},{"a":3}]}`, "line 1, byte 28: invalid character"},
	{
		"no part for a fenced whole", "```json\n{\"findings\":[{\"a\":1}{\"a\":2}]}\n```",
		"invalid character '{' after array element",
	},
	{"NaN", `{"a":NaN}`, "invalid character"},
	{"comma alone", `{"a":[,]}`, "invalid character"},
	{"wrong escape", `{"a":"\d"}`, "in string escape code"},
	{"single quotes", `{'a':'b'}`, "no JSON object"},
	{"repeated key", `{"a":1,"a":2}`, `the key "a" occurs twice`},
	{"repeated key deep inside", "{\"a\":[{\"b\":{\"c\":1,\n\"c\":2}}]}", `line 2, byte 4: the key "c" occurs twice`},
	{
		"keys that differ in case", `{"suppress":false,"SUPPRESS":true}`,
		`the key "SUPPRESS" occurs twice in one object, or differs only in case`,
	},
	{"too large", strings.Repeat(" ", MaxReply+1), "larger than 16 MiB"},
	{"too deep", strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1), "nested deeper than 100"},
	{"too deep to repair", strings.Repeat(`{"a":[`, maxDepth), "nested deeper than 100"},
	{"too many values", "[" + strings.Repeat("1,", maxValues) + "1]", "more than 100000 values"},
	{"huge negative exponent", `{"a":1e-999999999999999999999}`, "an exponent beyond"},
	{"key that would act on a terminal", "{\"\\u001b[31m\":1,\"\\u001b[31m\":2}", `the key "\x1b[31m" occurs twice`},
}

func TestRepairRefuses(t *testing.T) {
	for _, test := range irreparable {
		t.Run(test.name, func(t *testing.T) {
			got, err := Repair([]byte(test.in))
			if err == nil {
				t.Fatalf("Repair = %s, want an error", got)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %q, want one with %q", err, test.want)
			}
		})
	}
}

// FuzzRepair wants valid JSON or an error from whatever there is, and the same again from the result.
func FuzzRepair(f *testing.F) {
	for _, test := range repairable {
		f.Add([]byte(test.in))
	}
	for _, test := range irreparable {
		if len(test.in) < 1000 {
			f.Add([]byte(test.in))
		}
	}
	for _, h := range hostile {
		f.Add([]byte(h.before + strings.Repeat(h.unit, 5) + h.after))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		out, err := Repair(raw)
		if !bytes.Equal(before, raw) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			if len(err.Error()) > 300 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		if !json.Valid(out) {
			t.Fatalf("the result is not valid: %q", out)
		}
		again, err := Repair(out)
		if err != nil || !bytes.Equal(again, out) {
			t.Fatalf("Repair of the result %q = %q, %v", out, again, err)
		}
	})
}
