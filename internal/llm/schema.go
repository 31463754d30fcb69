package llm

import (
	"encoding/json"
	"maps"
	"slices"
)

// unsupportedKeywords are those of JSON Schema that structured outputs refuse (Anthropic's and OpenAI's
// documentation of structured outputs). The answer is checked against the whole schema afterwards.
var unsupportedKeywords = []string{
	"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern",
	"$schema", "$id", "title", "examples", "default",
}

// closedSchema is the schema of a request as structured outputs accept it.
func closedSchema(schema json.RawMessage) map[string]any {
	var v map[string]any
	_ = json.Unmarshal(schema, &v) // the engine has compiled it
	return closed(v)
}

// closed makes a schema acceptable to structured outputs: every object refuses
// further properties and requires all of its own, and unsupported keywords go.
func closed(v map[string]any) map[string]any {
	out := make(map[string]any, len(v))
	for k, x := range v {
		out[k] = closedValue(k, x)
	}
	for _, k := range unsupportedKeywords {
		if _, isSchema := out[k].(map[string]any); !isSchema {
			delete(out, k)
		}
	}
	if props, ok := out["properties"].(map[string]any); ok {
		out["additionalProperties"] = false
		out["required"] = slices.Sorted(maps.Keys(props))
	}
	return out
}

func closedValue(key string, x any) any {
	switch x := x.(type) {
	case map[string]any:
		if key == "properties" || key == "$defs" {
			named := make(map[string]any, len(x))
			for k, s := range x {
				named[k] = s
				if schema, ok := s.(map[string]any); ok {
					named[k] = closed(schema)
				}
			}
			return named
		}
		return closed(x)
	case []any:
		list := make([]any, len(x))
		for i := range x {
			list[i] = closedValue("", x[i])
		}
		return list
	}
	return x
}
