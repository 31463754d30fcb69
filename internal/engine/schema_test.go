package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/precedent-dev/precedent/internal/needs"
)

const findingsSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "required": ["findings"],
  "properties": {
    "findings": {"type": "array", "maxItems": 20, "items": {"$ref": "#/$defs/finding"}},
    "summary": {"type": "string", "maxLength": 10}
  },
  "$defs": {
    "finding": {
      "type": "object",
      "required": ["path", "severity", "title"],
      "properties": {
        "path": {"type": "string", "pattern": "^[a-z./]+$"},
        "severity": {"enum": ["critical", "high", "medium", "low", "nit"]},
        "confidence": {"type": "integer", "minimum": 0, "maximum": 100},
        "title": {"type": "string", "minLength": 1},
        "span": {"type": "object", "additionalProperties": false, "properties": {"start": {"type": "integer"}}}
      }
    }
  }
}`

func compile(t *testing.T, schema string) *Validator {
	t.Helper()
	v, err := Compile(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestValidate(t *testing.T) {
	v := compile(t, findingsSchema)
	finding := func(fields string) string {
		return `{"findings":[{"path":"a.go","severity":"low","title":"x"},{"path":"a.go","severity":"low","title":"x",` + fields + `}]}`
	}
	for _, test := range []struct{ name, answer, want string }{
		{"valid", finding(`"confidence":85`), ""},
		{"none", `{"findings":[]}`, ""},
		{"unknown field", finding(`"mood":"good"`), ""},
		{"whole number as a float", finding(`"confidence":85.0`), ""},
		{"not an object", `[]`, "the answer: got array, want object"},
		{"missing", `{}`, "the answer: missing property 'findings'"},
		{"missing below", `{"findings":[{"path":"a"}]}`, "findings[0]: missing properties 'severity', 'title'"},
		{"wrong type", finding(`"confidence":"high"`), "findings[1].confidence: got string, want integer"},
		{"fraction", finding(`"confidence":1.5`), "findings[1].confidence: got number, want integer"},
		{"out of range", finding(`"confidence":101`), "findings[1].confidence: maximum: got 101, want 100"},
		{"enum", `{"findings":[{"path":"a","severity":"urgent","title":"x"}]}`, "findings[0].severity: value must be one of 'critical', 'high', 'medium', 'low', 'nit'"},
		{"pattern", `{"findings":[{"path":"SECRET","severity":"low","title":"x"}]}`, "findings[0].path: must match the pattern ^[a-z./]+$"},
		{"too short", `{"findings":[{"path":"a","severity":"low","title":""}]}`, "findings[0].title: has 0 characters, fewer than 1"},
		{"too long", `{"findings":[],"summary":"0123456789a"}`, "summary: has 11 characters, more than 10"},
		{"too many", `{"findings":[` + strings.Repeat("{},", 20) + `{}]}`, "findings: has 21 elements, more than 20; findings[0]: missing"},
		{"not allowed", finding(`"span":{"b":1,"a\u001b":2}`), `findings[1].span: the key "a\x1b" is not allowed`},
		{
			"several, in order", `{"summary":1,"findings":[{"path":"a","severity":"low","title":"x","confidence":-1},{"path":1,"severity":"low","title":"x"}]}`,
			"findings[0].confidence: minimum: got -1, want 0; findings[1].path: got number, want string; summary: got number, want string",
		},
		{"wrong case", finding(`"Confidence":85`), `the key "Confidence" must be written "confidence"`},
		{"wrong case at the top", `{"FINDINGS":[]}`, `the key "FINDINGS" must be written "findings"`},
		{"long s", `{"finding` + "\u017F" + `":[]}`, `the key "finding\u017f" must be written "findings"`},
		{"odd key below", `{"findings":[{"path":"a","severity":"low","title":"x","span":{"start":"1"}}]}`, "findings[0].span.start: got string, want integer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 5 { // the order must not be that of a map
				err := v.Validate([]byte(test.answer))
				switch {
				case test.want == "" && err != nil:
					t.Fatalf("error %q", err)
				case test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)):
					t.Fatalf("error %v, want %q", err, test.want)
				}
			}
		})
	}
}

func TestValidateBoundsItsError(t *testing.T) {
	v := compile(t, findingsSchema)
	long := strings.Repeat("a\u00e9", 500)
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf(`{"path":"%s%d","span":{"%s":1}}`, strings.ToUpper(long[:20]), i, long))
	}
	err := v.Validate([]byte(`{"findings":[` + strings.Join(many, ",") + `]}`))
	if err == nil {
		t.Fatal("no error")
	}
	if n := utf8.RuneCountInString(err.Error()); n > 1000 {
		t.Errorf("an error of %d characters", n)
	}
	if !strings.Contains(err.Error(), "; and ") || !strings.HasSuffix(err.Error(), " more") {
		t.Errorf("the error does not count the rest: %s", err)
	}
}

// TestValidateWorstAnswer is the answer with the most problems that Repair lets pass.
func TestValidateWorstAnswer(t *testing.T) {
	v := compile(t, findingsSchema)
	raw, err := Repair([]byte(`{"findings":[` + strings.Repeat("{},", (maxValues-10)/2) + `{}]}`))
	if err != nil {
		t.Fatal(err)
	}
	took := needs.Busy(func() { err = v.Validate(raw) })
	if err == nil {
		t.Fatal("no error")
	}
	if took > 30*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, test := range []struct{ name, schema, want string }{
		{"nothing", "", "read schema"},
		{"broken", `{"type":`, "read schema"},
		{"no schema", `{"type":7}`, "schema"},
		{"remote reference", `{"$ref":"https://example.com/x.json"}`, "a schema may only refer to itself"},
		{"file reference", `{"$ref":"file:///etc/passwd"}`, "a schema may only refer to itself"},
		{"relative reference", `{"properties":{"a":{"$ref":"other.json"}}}`, "a schema may only refer to itself"},
		{"identified elsewhere", `{"$id":"https://example.com/a.json","$ref":"b.json"}`, "a schema may only refer to itself"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Compile(json.RawMessage(test.schema))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestCompiledOnce(t *testing.T) {
	first, err := validator(json.RawMessage(findingsSchema))
	if err != nil {
		t.Fatal(err)
	}
	again, err := validator(json.RawMessage([]byte(findingsSchema)))
	if err != nil {
		t.Fatal(err)
	}
	if first != again {
		t.Error("compiled twice")
	}
	for i := range 200 { // more than are kept
		if _, err := validator(json.RawMessage(fmt.Sprintf(`{"maximum":%d}`, i))); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(compiledSchemas.m); n > 64 {
		t.Errorf("%d schemas are kept", n)
	}
}
