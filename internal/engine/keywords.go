package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// schema is a JSON Schema with the keywords of draft 2020-12 that answer schemas use.
// Libraries for all of JSON Schema compile its metaschemas at program start, which
// took longer than the rest of the start.
type schema struct {
	Ref        string             `json:"$ref"` // "#/$defs/NAME"
	Defs       map[string]*schema `json:"$defs"`
	Type       oneOrMore          `json:"type"`
	Enum       []any              `json:"enum"`
	Required   []string           `json:"required"`
	Properties map[string]*schema `json:"properties"`
	Additional *bool              `json:"additionalProperties"`
	Items      *schema            `json:"items"`
	Pattern    *pattern           `json:"pattern"`
	Minimum    json.Number        `json:"minimum"`
	Maximum    json.Number        `json:"maximum"`
	MinLength  *int               `json:"minLength"`
	MaxLength  *int               `json:"maxLength"`
	MinItems   *int               `json:"minItems"`
	MaxItems   *int               `json:"maxItems"`

	// Keywords that check nothing.
	ID          string `json:"$id"`
	Dialect     string `json:"$schema"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

// oneOrMore is a string or a list of strings.
type oneOrMore []string

func (o *oneOrMore) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		return json.Unmarshal(data, (*[]string)(o))
	}
	*o = make(oneOrMore, 1)
	return json.Unmarshal(data, &(*o)[0])
}

type pattern struct{ *regexp.Regexp }

func (p *pattern) UnmarshalText(text []byte) (err error) {
	p.Regexp, err = regexp.Compile(string(text))
	return err
}

// Compile compiles a JSON Schema. Unknown keywords and references outside the schema
// are errors: nothing is fetched.
func Compile(text json.RawMessage) (*Validator, error) {
	var s schema
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	v := &Validator{schema: &s, names: map[string][]string{}}
	v.learn(&s)
	if err := s.resolve(s.Defs); err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	return v, nil
}

// parts returns the schemas within a schema.
func (s *schema) parts() []*schema {
	parts := slices.AppendSeq(slices.Collect(maps.Values(s.Defs)), maps.Values(s.Properties))
	if s.Items != nil {
		parts = append(parts, s.Items)
	}
	return parts
}

// resolve replaces references by the schemas that they refer to.
func (s *schema) resolve(defs map[string]*schema) error {
	if s.Ref != "" {
		name, ok := strings.CutPrefix(s.Ref, "#/$defs/")
		if !ok {
			return errors.New("a schema may only refer to itself")
		}
		to := defs[name]
		if to == nil || to.Ref != "" {
			return fmt.Errorf("unknown definition %s", s.Ref)
		}
		*s = *to // it is resolved where it is defined
		return nil
	}
	for _, sub := range s.parts() {
		if err := sub.resolve(defs); err != nil {
			return err
		}
	}
	return nil
}

// check adds the problems of the value at a place: first its own, in the order of the
// keywords' names, then those of its contents.
func (s *schema) check(value any, at []string, p *problems) {
	if s.Enum != nil && !slices.ContainsFunc(s.Enum, func(e any) bool { return reflect.DeepEqual(e, value) }) {
		p.add(at, "value must be one of %s", literals(s.Enum))
	}
	kind := ""
	switch v := value.(type) {
	case nil:
		kind = "null"
	case bool:
		kind = "boolean"
	case json.Number:
		kind = s.checkNumber(v, at, p)
	case string:
		kind = "string"
		s.checkText(v, at, p)
	case []any:
		kind = "array"
		s.checkSize(len(v), "elements", s.MinItems, s.MaxItems, at, p)
	case map[string]any:
		kind = "object"
		s.checkKeys(v, at, p)
	}
	if s.Type != nil && !slices.Contains(s.Type, kind) && (kind != "integer" || !slices.Contains(s.Type, "number")) {
		p.add(at, "got %s, want %s", strings.Replace(kind, "integer", "number", 1), strings.Join(s.Type, " or "))
	}
	s.descend(value, at, p)
}

// descend checks the contents of an array or object.
func (s *schema) descend(value any, at []string, p *problems) {
	switch v := value.(type) {
	case []any:
		for i := range v {
			if s.Items != nil {
				s.Items.check(v[i], append(at, strconv.Itoa(i)), p)
			}
		}
	case map[string]any:
		for _, key := range slices.SortedFunc(maps.Keys(s.Properties), compareSteps) {
			if held, ok := v[key]; ok {
				s.Properties[key].check(held, append(at, key), p)
			}
		}
	}
}

// checkNumber returns the number's type: a number without a fraction is an
// integer, however it is written.
func (s *schema) checkNumber(v json.Number, at []string, p *problems) string {
	n, ok := new(big.Rat).SetString(v.String())
	if !ok {
		p.add(at, "is not a number")
		return "number"
	}
	if limit, ok := new(big.Rat).SetString(s.Maximum.String()); ok && n.Cmp(limit) > 0 {
		p.add(at, "maximum: got %s, want %s", v, s.Maximum)
	}
	if limit, ok := new(big.Rat).SetString(s.Minimum.String()); ok && n.Cmp(limit) < 0 {
		p.add(at, "minimum: got %s, want %s", v, s.Minimum)
	}
	if n.IsInt() {
		return "integer"
	}
	return "number"
}

func (s *schema) checkText(v string, at []string, p *problems) {
	s.checkSize(utf8.RuneCountInString(v), "characters", s.MinLength, s.MaxLength, at, p)
	if s.Pattern != nil && !s.Pattern.MatchString(v) {
		p.add(at, "must match the pattern %s", s.Pattern)
	}
}

func (s *schema) checkSize(n int, of string, least, most *int, at []string, p *problems) {
	if most != nil && n > *most {
		p.add(at, "has %d %s, more than %d", n, of, *most)
	}
	if least != nil && n < *least {
		p.add(at, "has %d %s, fewer than %d", n, of, *least)
	}
}

// checkKeys checks for missing and forbidden keys.
func (s *schema) checkKeys(v map[string]any, at []string, p *problems) {
	if s.Additional != nil && !*s.Additional {
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if s.Properties[key] == nil {
				p.add(at, "the key %s is not allowed", shown(key))
				break
			}
		}
	}
	var missing []any
	for _, key := range s.Required {
		if _, ok := v[key]; !ok {
			missing = append(missing, key)
		}
	}
	switch len(missing) {
	case 0:
	case 1:
		p.add(at, "missing property %s", literals(missing))
	default:
		p.add(at, "missing properties %s", literals(missing))
	}
}

// literals formats the values of a schema for a message.
func literals(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case string:
			words[i] = "'" + v + "'"
		case nil:
			words[i] = "null"
		default:
			words[i] = fmt.Sprint(v)
		}
	}
	return strings.Join(words, ", ")
}
