package engine

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent/internal/prompt"
)

// TestSchemasMeanWhatTheyMean asks a library for all of JSON Schema about the
// same answers.
func TestSchemasMeanWhatTheyMean(t *testing.T) {
	for name, text := range map[string]json.RawMessage{
		"findings": json.RawMessage(findingsSchema), "finder": prompt.Schema(string(Finder)), "judge": prompt.Schema(string(Judge)),
		"verifier": prompt.Schema(string(Verifier)), "threads": prompt.Schema(string(Threads)),
	} {
		t.Run(name, func(t *testing.T) {
			ours, err := Compile(text)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			c := jsonschema.NewCompiler()
			if err := c.AddResource("answer.json", doc); err != nil {
				t.Fatal(err)
			}
			theirs := c.MustCompile("answer.json")
			rapid.Check(t, func(rt *rapid.T) {
				raw, err := json.Marshal(answerTo(rt, ours.schema, 0))
				if err != nil {
					rt.Fatal(err)
				}
				value, err := decode(raw)
				if err != nil {
					rt.Fatal(err)
				}
				if got, want := ours.Validate(raw), theirs.Validate(value); (got == nil) != (want == nil) {
					rt.Errorf("%s: %v, the library says %v", raw, got, want)
				}
			})
		})
	}
}

// answerTo draws an answer to the schema, and now and then something else.
func answerTo(t *rapid.T, s *schema, depth int) any {
	kinds := slices.Clone(s.Type)
	if s.Enum != nil && rapid.IntRange(0, 9).Draw(t, "of the enum") > 0 {
		return rapid.SampledFrom(s.Enum).Draw(t, "enum")
	}
	if len(kinds) == 0 || rapid.IntRange(0, 19).Draw(t, "of its type") == 0 {
		kinds = []string{"null", "boolean", "integer", "number", "string", "array", "object"}
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "null":
		return nil
	case "boolean":
		return rapid.Bool().Draw(t, "boolean")
	case "integer":
		return rapid.SampledFrom([]json.Number{"0", "-0", "-1", "1", "7.0", "1e2", "101", "100000001", "12345678901234567890"}).Draw(t, "integer")
	case "number":
		return rapid.SampledFrom([]json.Number{"0.5", "-1.5", "100.5", "2e-1"}).Draw(t, "number")
	case "string":
		return rapid.StringN(0, 12, -1).Draw(t, "text")
	case "array":
		list := []any{}
		if s.Items != nil && depth < 6 {
			for range rapid.IntRange(0, 3).Draw(t, "elements") {
				list = append(list, answerTo(t, s.Items, depth+1))
			}
		}
		return list
	}
	object := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		if rapid.IntRange(0, 9).Draw(t, "present") > 0 {
			object[key] = answerTo(t, s.Properties[key], depth+1)
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "unknown") == 0 {
		object["mood"] = 1
	}
	return object
}
