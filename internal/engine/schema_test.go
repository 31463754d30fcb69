package engine

import (
	"encoding/json"
	"strings"
	"testing"
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
	v := needs.Value(Compile(json.RawMessage(schema)))(t)
	return v
}

func TestValidate(t *testing.T) {
	v := compile(t, findingsSchema)
	finding := func(fields string) string {
		return `{"findings":[{"path":"a.go","severity":"low","title":"x"},{"path":"a.go","severity":"low","title":"x",` +
			fields + `}]}`
	}
	for _, test := range []struct{ name, answer, want string }{
		{"valid", finding(`"confidence":85`), ""},
		{"unknown field", finding(`"mood":"good"`), ""},
		{"whole number as a float", finding(`"confidence":85.0`), ""},
		{"missing", `{}`, `the answer: want required ["findings"]`},
		{"wrong type", finding(`"confidence":"high"`), `finding.confidence: want type "integer"`},
		{"out of range", finding(`"confidence":101`), "finding.confidence: want maximum 100"},
		{"pattern", `{"findings":[{"path":"SECRET","severity":"low","title":"x"}]}`, "finding.path: want pattern "},
		{"too long", `{"findings":[],"summary":"0123456789a"}`, "summary: want maxLength 10"},
		{"too many", `{"findings":[` + strings.Repeat(`{"path":"a","severity":"low","title":"x"},`, 20) +
			`{"path":"a","severity":"low","title":"x"}]}`, "findings: want maxItems 20"},
		{"not allowed", finding(`"span":{"b":1}`), `finding.span: want additionalProperties false`},
		{"wrong case", finding(`"Confidence":85`), `the key "Confidence" must be written "confidence"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 5 { // the order must not be that of a map
				_, err := v.Validate([]byte(test.answer))
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
	for _, answer := range []string{
		`{"findings":{"a":"` + strings.Repeat("é", 5000) + `"}}`, `{"findings":[` + strings.Repeat("{},", (maxValues-10)/2) +
			`{}]}`,
	} {
		_, err := v.Validate([]byte(answer))
		if err == nil {
			t.Fatal("no error")
		}
		if n := utf8.RuneCountInString(err.Error()); n > 400 || strings.Contains(err.Error(), "\n") {
			t.Errorf("an error of %d characters: %s", n, err)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for schema, want := range map[string]string{
		"": "read schema", `{"type":7}`: "schema", `{"$ref":"https://example.com/x.json"}`: "cannot resolve remote schemas",
	} {
		if _, err := Compile(json.RawMessage(schema)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", schema, err, want)
		}
	}
}
