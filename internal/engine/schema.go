package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/precedent-dev/precedent/internal/strict"
	"github.com/precedent-dev/precedent/internal/text"
)

// Validator checks answers against one schema. It is safe for concurrent use.
type Validator struct {
	schema *jsonschema.Resolved
	text   any // of the schema, decoded
	// names has the properties that the schema knows, by their folded form.
	names map[string][]string
	list  string // the only property that the schema requires, if that is a list
}

// Compile compiles a JSON Schema. References outside the schema are errors: nothing is fetched.
func Compile(text json.RawMessage) (*Validator, error) {
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	v := &Validator{schema: resolved, names: map[string][]string{}}
	if err := json.Unmarshal(text, &v.text); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	v.learn(s)
	if s.Type == "object" && len(s.Required) == 1 {
		if p := s.Properties[s.Required[0]]; p != nil && p.Type == "array" {
			v.list = s.Required[0]
		}
	}
	return v, nil
}

// learn collects the names of all properties in the schema.
func (v *Validator) learn(s *jsonschema.Schema) {
	for name := range s.Properties {
		v.names[strict.Fold(name)] = append(v.names[strict.Fold(name)], name)
	}
	parts := slices.AppendSeq(slices.Collect(maps.Values(s.Properties)), maps.Values(s.Defs))
	if s.Items != nil {
		parts = append(parts, s.Items)
	}
	for _, sub := range parts {
		v.learn(sub)
	}
}

// Validate checks an answer as Repair returns it, and writes it anew: a schema accepts 85.0 and 1e2 as integers,
// encoding/json does not. The error is for the author of the answer, a model or a person: one problem with its
// place, in one short line that quotes nothing of the answer but a key.
func (v *Validator) Validate(answer []byte) (json.RawMessage, error) {
	var value any
	if err := json.Unmarshal(answer, &value); err != nil { // Repair has checked its keys
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	if err := v.exactCase(value); err != nil {
		return nil, err
	}
	if err := v.problem(v.schema.Validate(value)); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// problem says what the schema wants at the place of an error of the library, such as "validating root: validating
// /properties/findings/items/properties/severity: enum: X does not equal …", which quotes the answer.
func (v *Validator) problem(err error) error {
	const mostRunes = 300
	if err == nil {
		return nil
	}
	place, message := "", err.Error()
	for {
		rest, ok := strings.CutPrefix(message, "validating ")
		if !ok {
			break
		}
		place, message, _ = strings.Cut(rest, ": ")
	}
	keyword, _, _ := strings.Cut(message, ":")
	if strings.HasPrefix(keyword, "unexpected additional properties") {
		keyword = "additionalProperties"
	}
	at, node := "", v.text
	for step := range strings.SplitSeq(strings.Trim(place, "/"), "/") {
		switch {
		case step == "items":
			at += "[]"
		case step != "properties" && step != "$defs" && step != "root":
			at = strings.TrimPrefix(at+"."+step, ".")
		}
		if inner, ok := node.(map[string]any); ok && step != "root" {
			node = inner[step]
		}
	}
	at = cmp.Or(at, "the answer")
	rules, _ := node.(map[string]any)
	want, err := json.Marshal(rules[keyword])
	if err != nil || rules[keyword] == nil {
		return errors.New(at + ": it does not satisfy the schema")
	}
	return errors.New(text.Cut(fmt.Sprintf("%s: want %s %s", at, keyword, want), mostRunes))
}

// exactCase refuses a key that differs from a known property only in case: the schema
// ignores it as unknown, but encoding/json reads it as the property.
func (v *Validator) exactCase(value any) error {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if known := v.names[strict.Fold(key)]; len(known) > 0 && !slices.Contains(known, key) {
				return fmt.Errorf("the key %s must be written %q", strconv.QuoteToASCII(text.Cut(key, 40)), known[0])
			}
			if err := v.exactCase(value[key]); err != nil {
				return err
			}
		}
	case []any:
		for _, element := range value {
			if err := v.exactCase(element); err != nil {
				return err
			}
		}
	}
	return nil
}

// wrap puts a list into the object that the schema requires: models often omit an
// object that has only one list. Any other answer is returned unchanged.
func (v *Validator) wrap(answer []byte) []byte {
	if v.list == "" || len(answer) == 0 || answer[0] != '[' {
		return answer
	}
	wrapped, _ := json.Marshal(map[string]json.RawMessage{v.list: answer}) // Repair has made it valid
	return wrapped
}
